"""The part of the Markdown report about runs: one small table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.catalogue.forms import time
from npulint.report.markup import code, prose
from npulint.report.runs import words
from npulint.run_summary import RunSummary, RunTimes
from npulint.texts import say

_TYPES = 5
_EACH = 4  # of every sort
_FILES = 3


def rows(runs: Sequence[RunSummary], lang: str) -> Iterator[tuple[str, str]]:
    """The cells of the rows: what is told of, and what there is to tell."""
    run = words.united(runs)
    for told in words.told_files(run.files, lang, _FILES):
        yield _cell(told.label), _cell(told.text)
    for times in run.times[:_EACH]:
        yield _cell(say(lang, f"runs.{times.what}")), f"{_times(times, lang)} {code(times.path, cell=True)}"
    for curve in run.curves[:_EACH]:
        place = code(f"{curve.path}:{curve.line}", cell=True)
        yield _cell(words.title(curve, lang)), f"{_cell(words.course(curve, lang))} {place}"
    for stall in run.stalls[:_EACH]:
        place = code(f"{stall.path}:{stall.line}", cell=True)
        yield _cell(say(lang, "runs.stalls")), f"{_cell(words.stall(stall, lang))} {place}"
    for graph in run.graphs[:_EACH]:
        place = code(f"{graph.path}:{graph.line}", cell=True)
        yield code(graph.graph, cell=True), f"{_cell(words.graph(graph, lang))} {place}"


def _times(times: RunTimes, lang: str) -> str:
    parts = [
        f"{_name(times, one.name, lang)} {words.percent(one.share, lang)}{say(lang, 'aside', text=time(one.us))}"
        for one in times.parts[:_TYPES]
    ]
    return f"{_cell(words.whole(times, lang))}{say(lang, 'list.clause')}{say(lang, 'list.and').join(parts)}"


def _name(times: RunTimes, name: str, lang: str) -> str:
    return code(name, cell=True) if times.what == "operators" else _cell(say(lang, f"runs.part.{name}"))


def _cell(text: str) -> str:
    return prose(text, cell=True)

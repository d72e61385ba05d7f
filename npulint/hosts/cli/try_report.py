"""The report of ``npulint try``: the findings of the run and of the source check, joined, and the recorded step."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial

import msgspec

from npulint.core.texts import count, say
from npulint.facts.graph import Graph
from npulint.fakes.orders import Ended
from npulint.fakes.torch.synthetic.absent import says_absent
from npulint.fakes.trial import Outcome
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.reporting import report
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding, RunResult
from npulint.judge.postprocess.merge_graph_findings import merge_graph_findings, of_graph
from npulint.judge.settings import Settings
from npulint.live.joining import Run, joined_step
from npulint.live.judge import judged
from npulint.live.result import LiveResult
from npulint.report.terminal import escape_control_chars

# Findings of programs with several ranks: those that not all ranks have say so.

Judge = Callable[[Graph], Sequence[Finding]]
_Key = tuple[str, str, int, str]


def with_ranks(
    findings: Iterable[Finding], ranks: Sequence[tuple[tuple[int, ...], Graph]], judge: Judge, lang: str
) -> list[Finding]:
    """The findings, with the ranks of those that only some have. `ranks` are the graphs of ranks that differ, `judge`
    finds what is wrong with one."""
    kept = list(findings)
    if not ranks or not kept:
        return kept
    having: dict[_Key, list[int]] = {}
    for numbers, graph in ranks:
        for key in set(map(_key, judge(graph))):
            having.setdefault(key, []).extend(numbers)
    every = {number for numbers, _ in ranks for number in numbers}
    return [_said(finding, sorted(having.get(_key(finding), ())), every, lang) for finding in kept]


def _key(finding: Finding) -> _Key:
    return finding.code, finding.path, finding.span.line, finding.subject


def _said(finding: Finding, having: Sequence[int], every: set[int], lang: str) -> Finding:
    if not having or set(having) == every:
        return finding
    text = say(lang, "try.rank", text=finding.message, ranks=", ".join(map(str, having)))
    return msgspec.structs.replace(finding, message=text)


# What a trial has to say beside its findings: what was made up, and what is missing.


def try_notes(ended: Ended, lang: str) -> list[str]:
    """The notes, as sentences."""
    notes = []
    if ended.made_up:
        listed = say(lang, "list.clause").join(map(escape_control_chars, ended.made_up))
        notes.append(say(lang, "try.made-up", list=listed))
    elif ended.how == "error" and not ended.about_npu and says_absent(ended.text):
        notes.append(say(lang, "try.missing"))
    return notes


CANNOT = 2
_TELLING = ("text", "github", "markdown")
"""Formats for people that say how the run ended; with others, standard error does."""


def reported(outcome: Outcome, settings: Settings, host: Host, near: str, program: str, explained: bool = False) -> int:
    """Print the reports of a trial and return the exit code: 2 if nothing was seen. `near` is the path whose project
    is checked. `explained`: with the differences between run and source check."""
    lang, ended = settings.language(), outcome.ended
    if "torch" not in settings.target:
        settings = msgspec.structs.replace(settings, target={**settings.target, "torch": ended.torch})
    if not any(node.frames for node in outcome.graph.bodies[0].nodes):
        for line in (ended_text(ended, lang), *try_notes(ended, lang)):
            host.warn(line)
        host.warn(say(lang, "error", text=say(lang, "try.nothing")))
        return CANNOT
    name = f"npulint try {program}"
    live = judged(
        outcome.graph, name=name, lang=lang, root="", steps=ended.steps, settings=settings, course=outcome.course
    )
    static = source_check(near, settings, host)
    if settings.torch_port == "transfer":  # the run redirects CUDA, which the code does not say
        left = [finding for finding in static.findings if finding.topic != "device_cuda"]
        static = msgspec.structs.replace(static, findings=left)
    result = joined(live, static, ended, settings, explained)
    result = msgspec.structs.replace(
        result, findings=with_ranks(result.findings, outcome.ranks, partial(_findings, name, settings), lang)
    )
    code = report(result, settings, host)
    return concluded(code, (*live.notes, *try_notes(ended, lang)), ended, settings, host)


def _findings(name: str, settings: Settings, graph: Graph) -> Sequence[Finding]:
    """The findings of the graph of some ranks."""
    return judged(graph, name=name, lang=settings.language(), root="", settings=settings).findings


def source_check(near: str, settings: Settings, host: Host) -> RunResult:
    """The result of the source check of the program's folder."""
    folder = near if os.path.isdir(near) else os.path.dirname(near) or "."
    return host.watched(host.run, msgspec.structs.replace(settings, paths=(folder,)), settings.language())


def concluded(code: int, notes: Iterable[str], ended: Ended, settings: Settings, host: Host) -> int:
    """Tell how the program ended where the report does not, and return the exit code: `code` is that of the report."""
    if settings.format not in _TELLING:
        for line in (*notes, ended_text(ended, settings.language())):
            host.warn(line)
    unfinished = ended.how in ("error", "exit") and not ended.about_npu and not ended.steps
    return code or (CANNOT if unfinished else 0)


def joined(live: LiveResult, static: RunResult, ended: Ended, settings: Settings, explained: bool) -> RunResult:
    """The findings of the run; where the source check reports the same, its finding, confirmed."""
    lang, result = settings.language(), live.report
    catalogue = load_catalogue(settings.checks, whole=False)
    static_ids = {id(finding) for finding in static.findings}
    merged, _ = merge_graph_findings([*static.findings, *result.findings], (), catalogue, lang)
    kept = [finding for finding in merged if of_graph(finding) or id(finding) not in static_ids]
    lines = {os.path.realpath(path): frozenset(numbers) for path, numbers in ended.lines.items()}
    run = Run(live.step, lines, ended.place if ended.how == "error" else "", result.findings)
    step = joined_step(run, static, kept, catalogue, explained, lang)
    step = msgspec.structs.replace(step, ended=_sentences((*try_notes(ended, lang), _how(ended, lang)), lang))
    ordered = sorted(kept, key=lambda finding: (finding.path, finding.span, finding.code))
    return msgspec.structs.replace(result, findings=ordered, step=step, verdict=None)


def _how(ended: Ended, lang: str) -> str:
    key = "other" if ended.how == "error" and not ended.about_npu else ended.how
    key = "unjudged" if ended.unjudged else key
    text, place = escape_control_chars(ended.text), escape_control_chars(ended.place)
    return count(lang, f"try.ended.{key}", ended.steps, text=text, place=place)


def ended_text(ended: Ended, lang: str) -> str:
    """How the program ended, as a sentence."""
    return _sentences((_how(ended, lang),), lang)


def _sentences(texts: Sequence[str], lang: str) -> str:
    return "".join(f"{text}。" for text in texts) if lang == "zh" else " ".join(f"{text}." for text in texts)

"""Training runs as tables of a report document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.catalogue.forms import number, time
from npulint.judge.summaries.run_summary import RunChange, RunFile, RunGraph, RunPart, RunStall, RunSummary, RunTimes
from npulint.report.document.model import Cell, CodeCell, Label, Note, PlaceCell, Prose, StackedBar, Table
from npulint.report.runs import words

_TYPES = 5
_EACH = 4  # rows of each kind
_FILES = 3


def figures(runs: Sequence[RunSummary], lang: str) -> Table:
    """The most important figures, one per row."""
    return Table(
        say(lang, "runs.title"), _heads("figure value", lang), list(_figures(words.merged_runs(runs), lang)), more=""
    )


def _figures(run: RunSummary, lang: str) -> Iterator[Sequence[Cell]]:
    yield from words.file_notes(run.files, lang, _FILES)
    for times in run.times[:_EACH]:
        yield say(lang, f"runs.{times.what}"), (Prose(_times(times, lang)), CodeCell(times.path))
    for change in run.changes[:_EACH]:
        name = f"{say(lang, 'runs.changes')}: {words.change_name(change, lang)}"
        told = say(lang, "runs.before", before=time(change.before_us), us=time(change.us))
        yield name, (f"{told}, {words.changed(change, lang)}", CodeCell(f"{change.path}:{change.line}"))
    for curve in run.curves[:_EACH]:
        yield words.title(curve, lang), (words.course(curve, lang), CodeCell(f"{curve.path}:{curve.line}"))
    for stall in run.stalls[:_EACH]:
        yield say(lang, "runs.stalls"), (words.stall(stall, lang), CodeCell(f"{stall.path}:{stall.line}"))
    for graph in run.graphs[:_EACH]:
        yield CodeCell(graph.graph), (words.graph(graph, lang), CodeCell(f"{graph.path}:{graph.line}"))


def _times(times: RunTimes, lang: str) -> str:
    parts = []
    for part in times.parts[:_TYPES]:
        name = f"`{part.name}`" if times.what == "operators" else words.part(times, part, lang)
        parts.append(f"{name} {words.percent(part.share, lang)}{say(lang, 'aside', text=time(part.us))}")
    return f"{words.whole(times, lang)}{say(lang, 'list.clause')}{say(lang, 'list.and').join(parts)}"


def files(run_files: Sequence[RunFile], lang: str) -> Table:
    """What was read of each artifact and what could not be."""
    rows = [
        (
            PlaceCell(run_file.path),
            words.form(run_file.form, lang),
            words.size(run_file, lang),
            words.remark(run_file, lang),
        )
        for run_file in run_files
    ]
    title = count(lang, "runs.all-files", len(run_files))
    return Table(title, _heads("file form size remark", lang), rows, more="runs.more")


def operators(times: RunTimes, lang: str) -> Table:
    """Operator types with bars; the longest bar is the full width."""
    most = max((part.share for part in times.parts), default=0.0)
    rows = [_operator(CodeCell(part.name), "computing", part, most, lang) for part in times.parts]
    if times.more:
        name = count(lang, "runs.others", times.more)
        rows.append(_operator(name, "free", RunPart(name, times.rest_us, times.rest_share), most, lang))
    title, note = say(lang, "runs.operators"), words.whole(times, lang)
    heads = _heads("operator - share time count", lang)
    return Table(title, heads, rows, "chart", titled=True, note=note, wide=True)


def _operator(name: Cell, style: str, run_part: RunPart, most: float, lang: str) -> Sequence[Cell]:
    bar = StackedBar([(style, run_part.share)], most, f"{run_part.name}: {words.percent(run_part.share, lang)}")
    return (
        name,
        bar,
        _percent(run_part.share, lang),
        time(run_part.us),
        number(run_part.count) if run_part.count else "",
    )


def parts(run_timeses: Sequence[RunTimes], what: str, lang: str) -> Table:
    """The parts of a step or iteration, one row per table."""
    names = dict.fromkeys(part.name for run_times in run_timeses for part in run_times.parts)
    file, bar, total = _heads("file - whole", lang)
    keys = [Label(say(lang, f"runs.part.{name}"), f"key {name}") for name in names]
    rows: list[Sequence[Cell]] = []
    for run_times in run_timeses:
        shares = {part.name: _share(part.share, part.us, lang) for part in run_times.parts}
        text = say(lang, "list.and").join(
            f"{words.part(run_times, part, lang)} {words.percent(part.share, lang)}" for part in run_times.parts
        )
        drawn = StackedBar([(part.name, part.share) for part in run_times.parts], 100.0, text)
        mean = words.whole(run_times, lang).removeprefix(time(run_times.us)).lstrip(", ，")
        rows.append(
            [
                PlaceCell(run_times.path),
                drawn,
                *(shares.get(name, "") for name in names),
                (time(run_times.us), Note(mean)),
            ]
        )
    return Table(say(lang, f"runs.{what}"), [file, bar, *keys, total], rows, "chart parts", titled=True, wide=True)


def stalls(run_stalls: Sequence[RunStall], lang: str) -> Table:
    """Periodic slow steps."""
    rows = [
        (
            f"{run_stall.period:,}",
            StackedBar([("exposed", run_stall.lost_share)], 100.0, words.stall(run_stall, lang)),
            _share(run_stall.lost_share, run_stall.lost_seconds * 1e6, lang)
            if run_stall.lost_seconds
            else _percent(run_stall.lost_share, lang),
            f"{run_stall.count:,}",
            say(lang, "runs.median-times", n=number(run_stall.worst)) if run_stall.worst else "",
            PlaceCell(run_stall.path, Span(run_stall.line)),
        )
        for run_stall in run_stalls
    ]
    heads = _heads("period - lost times worst file", lang)
    return Table(say(lang, "runs.stalls"), heads, rows, "chart stalls", titled=True, wide=True)


def changes(run_changes: Sequence[RunChange], lang: str) -> Table:
    """Times beside those of another profile."""
    rows: list[Sequence[Cell]] = [
        (
            CodeCell(run_change.name)
            if run_change.what == "operator" and run_change.name != "computing"
            else words.change_name(run_change, lang),
            time(run_change.before_us),
            time(run_change.us),
            words.changed(run_change, lang).replace(" ", "\u202f"),
            " → ".join(dict.fromkeys(filter(None, (run_change.before_core, run_change.core)))),
        )
        for run_change in run_changes
    ]
    note = say(lang, f"runs.changes.{run_changes[-1].per}")
    heads = _heads("operator before now change core", lang)
    return Table(say(lang, "runs.changes"), heads, rows, "figured", titled=True, note=note, wide=True)


def graphs(run_graphs: Sequence[RunGraph], lang: str) -> Table:
    """Execution times of each graph."""
    rows: list[Sequence[Cell]] = [
        (
            CodeCell(run_graph.graph),
            time(run_graph.first_ms * 1000),
            f"{run_graph.count:,}",
            *((time(ms * 1000) if run_graph.count > 1 else "-") for ms in (run_graph.median_ms, run_graph.max_ms)),
        )
        for run_graph in run_graphs
    ]
    heads = _heads("graph first times median longest", lang)
    return Table(say(lang, "runs.graphs"), heads, rows, "figured", titled=True, wide=True)


def _heads(keys: str, lang: str) -> list[Cell]:
    """Column heads by key; ``-`` is a column of bars."""
    bar = Label(say(lang, "html.bar"), "unseen")
    return [bar if word == "-" else say(lang, f"runs.head.{word}") for word in keys.split()]


def _share(share: float, us: float, lang: str) -> Cell:
    return _percent(share, lang), Note(time(us))


def _percent(share: float, lang: str) -> str:
    """A percentage with a non-breaking space."""
    return words.percent(share, lang).replace(" ", "\u202f")

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
    for one in times.parts[:_TYPES]:
        name = f"`{one.name}`" if times.what == "operators" else words.part(times, one, lang)
        parts.append(f"{name} {words.percent(one.share, lang)}{say(lang, 'aside', text=time(one.us))}")
    return f"{words.whole(times, lang)}{say(lang, 'list.clause')}{say(lang, 'list.and').join(parts)}"


def files(found: Sequence[RunFile], lang: str) -> Table:
    """What was read of each artifact and what could not be."""
    rows = [
        (PlaceCell(one.path), words.form(one.form, lang), words.size(one, lang), words.remark(one, lang))
        for one in found
    ]
    title = count(lang, "runs.all-files", len(found))
    return Table(title, _heads("file form size remark", lang), rows, more="runs.more")


def operators(times: RunTimes, lang: str) -> Table:
    """Operator types with bars; the longest bar is the full width."""
    most = max((one.share for one in times.parts), default=0.0)
    rows = [_operator(CodeCell(one.name), "computing", one, most, lang) for one in times.parts]
    if times.more:
        name = count(lang, "runs.others", times.more)
        rows.append(_operator(name, "free", RunPart(name, times.rest_us, times.rest_share), most, lang))
    title, note = say(lang, "runs.operators"), words.whole(times, lang)
    heads = _heads("operator - share time count", lang)
    return Table(title, heads, rows, "chart", titled=True, note=note, wide=True)


def _operator(name: Cell, style: str, one: RunPart, most: float, lang: str) -> Sequence[Cell]:
    bar = StackedBar([(style, one.share)], most, f"{one.name}: {words.percent(one.share, lang)}")
    return name, bar, _percent(one.share, lang), time(one.us), number(one.count) if one.count else ""


def parts(found: Sequence[RunTimes], what: str, lang: str) -> Table:
    """The parts of a step or iteration, one row per table."""
    names = dict.fromkeys(part.name for one in found for part in one.parts)
    file, bar, whole = _heads("file - whole", lang)
    keys = [Label(say(lang, f"runs.part.{name}"), f"key {name}") for name in names]
    rows: list[Sequence[Cell]] = []
    for one in found:
        shares = {part.name: _share(part.share, part.us, lang) for part in one.parts}
        text = say(lang, "list.and").join(
            f"{words.part(one, part, lang)} {words.percent(part.share, lang)}" for part in one.parts
        )
        drawn = StackedBar([(part.name, part.share) for part in one.parts], 100.0, text)
        mean = words.whole(one, lang).removeprefix(time(one.us)).lstrip(", ，")
        rows.append([PlaceCell(one.path), drawn, *(shares.get(name, "") for name in names), (time(one.us), Note(mean))])
    return Table(say(lang, f"runs.{what}"), [file, bar, *keys, whole], rows, "chart parts", titled=True, wide=True)


def stalls(found: Sequence[RunStall], lang: str) -> Table:
    """Periodic slow steps."""
    rows = [
        (
            f"{one.period:,}",
            StackedBar([("exposed", one.lost_share)], 100.0, words.stall(one, lang)),
            _share(one.lost_share, one.lost_seconds * 1e6, lang)
            if one.lost_seconds
            else _percent(one.lost_share, lang),
            f"{one.count:,}",
            say(lang, "runs.median-times", n=number(one.worst)) if one.worst else "",
            PlaceCell(one.path, Span(one.line)),
        )
        for one in found
    ]
    heads = _heads("period - lost times worst file", lang)
    return Table(say(lang, "runs.stalls"), heads, rows, "chart stalls", titled=True, wide=True)


def changes(found: Sequence[RunChange], lang: str) -> Table:
    """Times beside those of another profile."""
    rows: list[Sequence[Cell]] = [
        (
            CodeCell(one.name) if one.what == "operator" and one.name != "computing" else words.change_name(one, lang),
            time(one.before_us),
            time(one.us),
            words.changed(one, lang).replace(" ", "\u202f"),
            " → ".join(dict.fromkeys(filter(None, (one.before_core, one.core)))),
        )
        for one in found
    ]
    note = say(lang, f"runs.changes.{found[-1].per}")
    heads = _heads("operator before now change core", lang)
    return Table(say(lang, "runs.changes"), heads, rows, "figured", titled=True, note=note, wide=True)


def graphs(found: Sequence[RunGraph], lang: str) -> Table:
    """Execution times of each graph."""
    rows: list[Sequence[Cell]] = [
        (
            CodeCell(one.graph),
            time(one.first_ms * 1000),
            f"{one.count:,}",
            *((time(ms * 1000) if one.count > 1 else "-") for ms in (one.median_ms, one.max_ms)),
        )
        for one in found
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

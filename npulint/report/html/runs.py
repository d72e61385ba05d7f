"""Training runs: what was read of them, where their time went, and the courses of their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.catalogue.forms import number, time
from npulint.report.html.markup import attribute, escape_html, section, table
from npulint.report.html.page import Page
from npulint.report.html.plots import plot
from npulint.report.runs import words as told
from npulint.run_summary import RunFile, RunGraph, RunStall, RunSummary, RunTimes
from npulint.texts import count, say

_TABLES, _PLOTS, _ROWS = 6, 12, 500


def runs(page: Page) -> str:
    """The section about runs; empty where there are none."""
    run = told.united(page.result.runs)
    return section("runs", say(page.lang, "runs.title"), _run(page, run)) if run.files else ""


def _run(page: Page, run: RunSummary) -> str:
    lang, panels = page.lang, []
    for what in ("step", "iteration"):
        parts = [one for one in run.times if one.what == what]
        panels += [_parts(page, parts[:_ROWS], what)] if parts else []
    tables = [one for one in run.times if one.what == "operators"]
    panels += [_operators(page, one) for one in tables[:_TABLES]]
    for index, curve in enumerate(run.curves[:_PLOTS], 1):
        panels.append(plot(curve, f"curve-{index}", _place(page, curve.path, curve.line), lang))
    panels += [_stalls(page, run.stalls)] if run.stalls else []
    panels += [_graphs(page, run.graphs)] if run.graphs else []
    left = run.left_out + max(len(tables) - _TABLES, 0) + max(len(run.curves) - _PLOTS, 0)
    cut = f'<p class="cut">{count(lang, "runs.left-out", left)}</p>' if left else ""
    drawn = "".join(f'<div class="panel">{panel}</div>' for panel in panels)
    pictures = f'<div class="panels pictures">{drawn}</div>' if drawn else ""
    return f"{_notes(page, run.files)}{pictures}{cut}{_files(page, run.files)}"


def _notes(page: Page, files: Sequence[RunFile]) -> str:
    """What was read, in a few lines."""
    lines = [f"<dt>{escape_html(one.label)}</dt><dd>{escape_html(one.text)}</dd>" for one in _short(page, files)]
    return f'<dl class="panel notes">{"".join(lines)}</dl>\n'


def _short(page: Page, files: Sequence[RunFile]) -> Iterator[told.ToldFile]:
    shown = {one.path: page.paths(one.path) for one in files}
    for one in told.told_files(files, page.lang, 5):
        text = next(
            (one.text.replace(path, name, 1) for path, name in shown.items() if one.text.startswith(path)), one.text
        )
        yield told.ToldFile(one.label, text)


def _files(page: Page, files: Sequence[RunFile]) -> str:
    lang = page.lang
    heads = [say(lang, f"runs.head.{word}") for word in ("file", "form", "size", "remark")]
    rows = [
        [
            f'<span class="path">{_path(page, one.path)}</span>',
            escape_html(told.form(one.form, lang)),
            told.size(one, lang),
            escape_html(told.remark(one, lang)),
        ]
        for one in files[:_ROWS]
    ]
    said = count(lang, "runs.all-files", len(files))
    more = f'<p class="cut">{count(lang, "runs.more", len(files) - _ROWS)}</p>' if len(files) > _ROWS else ""
    return f"<details><summary>{said}</summary>{table(_unseen(said), heads, rows, 'list')}{more}</details>"


def _operators(page: Page, times: RunTimes) -> str:
    """Operator types with bars, the longest of which is as wide as the room there is."""
    lang = page.lang
    most = max((one.share for one in times.parts), default=0.0)
    heads = [say(lang, "runs.head.operator"), _unseen(say(lang, "html.bar"))]
    heads += [say(lang, f"runs.head.{word}") for word in ("share", "time", "count")]
    rows = [
        [
            f"<code>{escape_html(one.name)}</code>",
            _bar([("computing", one.share)], most, f"{one.name}: {told.percent(one.share, lang)}"),
            _percent(one.share, lang),
            time(one.us),
            number(one.count) if one.count else "",
        ]
        for one in times.parts
    ]
    if times.more:
        named = told.rest(times, lang)
        drawn = _bar(
            [("free", times.rest_share)],
            max(most, times.rest_share),
            f"{named}: {told.percent(times.rest_share, lang)}",
        )
        rows.append([named, drawn, _percent(times.rest_share, lang), time(times.rest_us), ""])
    title = say(lang, "runs.operators")
    caption = f'{title} <span class="muted">{told.whole(times, lang)}</span>'
    return (
        _across(title, table(caption, heads, rows, "chart"))
        + f'<p class="at">{_place(page, times.path, times.line)}</p>'
    )


def _parts(page: Page, found: Sequence[RunTimes], what: str) -> str:
    """The parts of a step, a row for each table."""
    lang = page.lang
    names = list(dict.fromkeys(part.name for one in found for part in one.parts))
    heads = [say(lang, "runs.head.file"), _unseen(say(lang, "html.bar"))]
    heads += [f'<span class="key {name}">{say(lang, f"runs.part.{name}")}</span>' for name in names]
    heads.append(say(lang, "runs.head.whole"))
    rows = []
    for one in found:
        shares = {part.name: part for part in one.parts}
        spoken = say(lang, "list.and").join(
            f"{told.part(one, part, lang)} {told.percent(part.share, lang)}" for part in one.parts
        )
        rows.append(
            [
                f'<span class="path">{_path(page, one.path)}</span>',
                _bar([(part.name, part.share) for part in one.parts], 100.0, spoken),
                *(
                    _share_and_time(shares[name].share, shares[name].us, lang) if name in shares else ""
                    for name in names
                ),
                f'{time(one.us)}<br><span class="muted">{_number_of(one, lang)}</span>',
            ]
        )
    title = say(lang, f"runs.{what}")
    return _across(title, table(title, heads, rows, "chart parts"))


def _share_and_time(share: float, us: float, lang: str) -> str:
    return f'{_percent(share, lang)}<br><span class="muted">{time(us)}</span>'


def _number_of(one: RunTimes, lang: str) -> str:
    """What the whole is the mean of."""
    return told.whole(one, lang).removeprefix(time(one.us)).lstrip(", ，")


def _stalls(page: Page, stalls: Sequence[RunStall]) -> str:
    lang = page.lang
    heads = [say(lang, "runs.head.period"), _unseen(say(lang, "html.bar"))]
    heads += [say(lang, f"runs.head.{word}") for word in ("lost", "times", "worst", "file")]
    rows = [
        [
            f"{one.period:,}",
            _bar([("exposed", one.lost_share)], 100.0, told.stall(one, lang)),
            _lost(one, lang),
            f"{one.count:,}",
            say(lang, "runs.median-times", n=number(one.worst)) if one.worst else "",
            f'<span class="path">{_path(page, one.path)}:{one.line}</span>',
        ]
        for one in stalls
    ]
    title = say(lang, "runs.stalls")
    return _across(title, table(title, heads, rows, "chart stalls"))


def _lost(one: RunStall, lang: str) -> str:
    if not one.lost_seconds:
        return _percent(one.lost_share, lang)
    return _share_and_time(one.lost_share, one.lost_seconds * 1e6, lang)


def _graphs(page: Page, graphs: Sequence[RunGraph]) -> str:
    lang = page.lang
    heads = [say(lang, f"runs.head.{word}") for word in ("graph", "first", "times", "median", "longest")]
    rows = [
        [
            f"<code>{escape_html(one.graph)}</code>",
            time(one.first_ms * 1000),
            f"{one.count:,}",
            *((time(ms * 1000) if one.count > 1 else "-") for ms in (one.median_ms, one.max_ms)),
        ]
        for one in graphs
    ]
    places = dict.fromkeys(one.path for one in graphs)
    below = "<br>".join(f'<span class="path">{_path(page, path)}</span>' for path in places)
    title = say(lang, "runs.graphs")
    return _across(title, table(title, heads, rows, "figured")) + f'<p class="at">{below}</p>'


def _bar(parts: Sequence[tuple[str, float]], longest: float, label: str) -> str:
    """A stacked bar; a share of `longest` is as wide as the room there is."""
    rects, begin = [], 0.0
    whole = max(longest, sum(share for _, share in parts)) or 1.0
    for name, share in parts:
        if share > 0:
            x, width = (f"{round(100 * one / whole, 2):g}%" for one in (begin, share))
            rects.append(f'<rect class="{name}" x="{x}" width="{width}"/>')
        begin += share
    return f'<svg class="bar" role="img" aria-label="{attribute(label)}">{"".join(rects)}</svg>'


def _percent(share: float, lang: str) -> str:
    return told.percent(share, lang).replace(" ", "\u202f")


def _across(title: str, body: str) -> str:
    """A table that may be wider than the screen, within reach of the keyboard."""
    return f'<div class="across" tabindex="0" role="region" aria-label="{attribute(title)}">{body}</div>'


def _place(page: Page, path: str, line: int) -> str:
    return f'<span class="path">{page.place(path, line)}</span>'


def _path(page: Page, path: str) -> str:
    return escape_html(page.paths(path)).replace("/", "/<wbr>")


def _unseen(text: str) -> str:
    return f'<span class="unseen">{text}</span>'

"""The view of a report: everything a format needs besides the result."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from npulint.judge.findings import Finding, RunResult, SuppressedFinding
from npulint.judge.settings import MACHINE_FORMATS, RANK
from npulint.judge.source_lines import LineProvider

if TYPE_CHECKING:
    from npulint.judge.fix_results import FixResult
    from npulint.report.history import PastReport

_AT_ONCE = 500  # parts of a report that are written together


class RulePage(msgspec.Struct, frozen=True):
    """Documentation of a check: title, rationale and advice in a sentence or two each, and the whole page as
    Markdown."""

    title: str
    why: str
    fix: str
    markdown: str


class ProjectStamp(msgspec.Struct, frozen=True):
    """What a report is about: the name of the project, its commit (empty: unknown), and when it was checked."""

    name: str
    commit: str
    date: str


def no_lines(path: str) -> Sequence[str]:
    """A `LineProvider` for reports without source."""
    return ()


def no_page(code: str) -> RulePage | None:
    """A page function for reports without documentation."""
    return None


class ReportView(msgspec.Struct, frozen=True):
    """The options of a report. `lang` is ``en`` or ``zh``. `shown_from` is the lowest severity to show, `fail_on` the
    lowest that fails the run (or ``never``). `width` is that of the terminal in cells, 0 for no wrapping. `links`
    prints terminal hyperlinks, `plain` avoids block characters. `verbose` lists every related location, `ungrouped`
    shows each finding with its source even if a check has many. `lines` returns the source of a path, `page` the
    documentation of a code. `folder` is the working directory relative to the repository root. `limit` is the maximum
    size in bytes, 0 for that of the format. `quiet` prints the findings alone. `change` says that the run checks a
    change, not a project. `fixes` shows the edits of each finding; `unsafe` says that --fix includes unsafe fixes.
    `applied` are the fixes applied before this result, None without --fix; `dry` says that they were not written.
    `comparing` says that the run only compares two projects. `sources` is the URL of the working directory in the
    repository, if known; `request` is what the CI server calls a change that is proposed (change, pull or merge).
    `all_operators` lists those of a recorded step that run on the NPU as well, `all_differences` those with little
    effect on the loss. `project` is what an HTML report tells of the project, `source_url` the URL of a source line
    with ``{path}`` and ``{line}`` (empty: none), `history` are earlier reports, oldest first. `announced` are unread
    paths that standard error names, so that the closing lines need not."""

    lang: str = "en"
    shown_from: str = "note"
    fail_on: str = "error"
    color: bool = False
    links: bool = False
    plain: bool = False
    width: int = 0
    verbose: bool = False
    quiet: bool = False
    ungrouped: bool = False
    statistics: bool = False
    lines: LineProvider = no_lines
    page: Callable[[str], RulePage | None] = no_page
    folder: str = ""
    limit: int = 0
    change: bool = False
    fixes: bool = False
    unsafe: bool = False
    applied: FixResult | None = None
    dry: bool = False
    comparing: bool = False
    sources: str = ""
    request: str = "change"
    all_operators: bool = False
    all_differences: bool = False
    project: ProjectStamp | None = None
    source_url: str = ""
    history: tuple[PastReport, ...] = ()
    announced: frozenset[str] = frozenset()


def render(format_name: str, result: RunResult, view: ReportView) -> str:
    """The report in one of `npulint.judge.settings.FORMATS`, ending in a newline if not empty."""
    return "".join(render_parts(format_name, result, view))


def render_parts(format_name: str, result: RunResult, view: ReportView) -> Iterator[str]:
    """The report in parts, so that a large one is never in memory as a whole, where the format allows that."""
    module = import_module(f"npulint.report.{format_name}")
    texts = module.parts(result, view) if hasattr(module, "parts") else [module.render(result, view)]
    if format_name not in MACHINE_FORMATS:
        yield from texts
        return
    from npulint.report.ci_escape import ci_escape

    for some in _joined(texts):
        yield ci_escape(some, format_name)


def _joined(texts: Iterable[str]) -> Iterator[str]:
    """The texts in fewer parts."""
    held: list[str] = []
    for number, text in enumerate(texts, 1):
        held.append(text)
        if number % _AT_ONCE == 0:
            yield "".join(held)
            held.clear()
    yield "".join(held)


def fields_of(record: msgspec.Struct, names: str) -> dict[str, Any]:
    """Some fields of a record, by name: a report lists them, so that a new field changes no contract."""
    return {name: getattr(record, name) for name in names.split()}


def in_repository(path: str, folder: str) -> str:
    """A path of a run in `folder`, relative to the root of the repository that CI checked out."""
    absolute = path.startswith(("/", "\\\\")) or path[1:3] in (":/", ":\\")
    if not path or absolute:
        return path
    return posixpath.normpath(posixpath.join(folder, path))


def visible(result: RunResult, view: ReportView) -> list[Finding]:
    """The findings that the view shows."""
    lowest = RANK[view.shown_from]
    return [finding for finding in result.findings if RANK[finding.severity] >= lowest]


def visible_suppressed(result: RunResult, view: ReportView) -> list[SuppressedFinding]:
    """The suppressed findings that the view would otherwise show."""
    lowest = RANK[view.shown_from]
    return [
        suppressed_finding
        for suppressed_finding in result.suppressed
        if RANK[suppressed_finding.finding.severity] >= lowest
    ]

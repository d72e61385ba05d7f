"""How a report shall look: everything a format needs besides the result."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

import msgspec

from npulint.findings import Finding, RunResult, Silenced
from npulint.settings import MACHINE_FORMATS, RANK
from npulint.source_lines import LineProvider

if TYPE_CHECKING:
    from npulint.fix.model import FixResult


class RulePage(msgspec.Struct, frozen=True):
    """What can be read about a check: its title, why it matters and what to do in a sentence or two each, and its
    whole page as Markdown."""

    title: str
    why: str
    fix: str
    markdown: str


def no_lines(path: str) -> Sequence[str]:
    """For reports that show no source."""
    return ()


def no_page(code: str) -> RulePage | None:
    """For reports that tell nothing about checks."""
    return None


class ReportView(msgspec.Struct, frozen=True):
    """`lang` is ``en`` or ``zh``. `shown_from` is the lowest severity to show, `fail_on` the lowest that makes the run
    fail (``never``: none does). `width` is that of the terminal in cells, 0 when nobody counts them: then no text is
    wrapped. `links` makes addresses links of the terminal, which is
    `plain` when it cannot show blocks. `verbose` lists every related place. `lines` gives the
    source for frames, `page` what can be read about the check with a code. `folder` is where paths begin, below the
    root of the repository that is checked by CI; empty when they begin there. `limit` is the number of bytes that the
    report may take, 0 for as many as its format allows. `change` tells that the run judges a change, not a project.
    `fixes` shows the edits that mend each finding; `unsafe` counts those that may change results among what --fix
    mends. `mended` is what was fixed before this state was judged, None where nothing was to be; `dry` tells that it
    was not written. `comparing` tells that the run was there to compare two projects, not to judge one. `sources` is
    the address below which a repository shows the folder of the run, empty where nothing tells it."""

    lang: str = "en"
    shown_from: str = "note"
    fail_on: str = "error"
    color: bool = False
    links: bool = False
    plain: bool = False
    width: int = 0
    verbose: bool = False
    statistics: bool = False
    lines: LineProvider = no_lines
    page: Callable[[str], RulePage | None] = no_page
    folder: str = ""
    limit: int = 0
    change: bool = False
    fixes: bool = False
    unsafe: bool = False
    mended: FixResult | None = None
    dry: bool = False
    comparing: bool = False
    sources: str = ""


class _Format(Protocol):
    def render(self, result: RunResult, view: ReportView) -> str: ...


def render(format_name: str, result: RunResult, view: ReportView) -> str:
    """The report in one of the formats of `npulint.settings.FORMATS`, ending in a newline if not empty."""
    module = cast(_Format, import_module(f"npulint.report.{format_name}"))
    text = module.render(result, view)
    if format_name not in MACHINE_FORMATS:
        return text
    from npulint.report.ci_escape import ci_escape

    return ci_escape(text, format_name)


def in_repository(path: str, folder: str) -> str:
    """A path of a run in `folder` as it is spelled from the root of the repository that CI has checked out."""
    absolute = path.startswith(("/", "\\\\")) or path[1:3] in (":/", ":\\")
    if not path or absolute:
        return path
    return posixpath.normpath(posixpath.join(folder, path))


def visible(result: RunResult, view: ReportView) -> list[Finding]:
    """The findings that the view shows."""
    lowest = RANK[view.shown_from]
    return [finding for finding in result.findings if RANK[finding.severity] >= lowest]


def visible_silenced(result: RunResult, view: ReportView) -> list[Silenced]:
    """What comments or the baseline silenced and the view would show otherwise."""
    lowest = RANK[view.shown_from]
    return [one for one in result.suppressed if RANK[one.finding.severity] >= lowest]

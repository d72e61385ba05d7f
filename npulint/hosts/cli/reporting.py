"""Prints the reports of a run and computes its exit code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from npulint.core.texts import say
from npulint.discover.paths import local, shown
from npulint.facts.model import Problem
from npulint.hosts.cli.catalogue import built_in
from npulint.hosts.cli.host import Host
from npulint.judge.findings import RunResult
from npulint.judge.settings import PEOPLE_FORMATS, RANK, Settings
from npulint.judge.source_lines import FileLines, LineProvider
from npulint.report.rule_pages import pages_of
from npulint.report.summary import reason
from npulint.report.terminal import has_blocks, wants_color, wants_links, width_of
from npulint.report.view import ReportView, render, render_parts

if TYPE_CHECKING:
    from npulint.judge.fix_results import FixResult

FROM_THE_ROOT = ("github", "gitlab", "sarif")
"""Formats whose paths are relative to the repository root, whatever the working directory."""
_WHOLE = ("markdown", "html")  # documents for people, never in parts
_FOR_SCREENS = ("text", "concise")  # read beside standard error
_UNREADABLE = ("missing", "unreadable", "not-a-file")


def report(
    result: RunResult,
    settings: Settings,
    host: Host,
    applied: FixResult | None = None,
    *,
    comparing: bool = False,
    content: Mapping[str, bytes] | None = None,
) -> int:
    """Print all reports of a result, with the `fixes` that were applied, if any, and return the exit code. `comparing`
    is set for ``npulint compare``; `content` replaces files by path."""
    for notice in result.notices if not settings.quiet else ():
        host.warn(notice)
    if settings.write_baseline or settings.prune_baseline or result.baseline is not None:
        from npulint.hosts.cli.baseline import update_baseline

        stop = update_baseline(result, settings, host)
        if stop:
            return 2 if unreadable(result, settings) else 0
    if not settings.silenced:
        result = msgspec.structs.replace(result, suppressed=[])
    lines = FileLines(settings.piped() if content is None else content, settings.boundary())
    announced = frozenset(problem.path for problem in unreadable(result, settings))
    views = Views(settings, host, lines, applied, comparing, announced)
    if applied is not None and settings.stdin is not None:  # standard output carries the source
        host.warn(render(settings.format, result, views.plain(settings.format)).rstrip("\n"))
    elif settings.format not in _FOR_SCREENS or _has_more(result, announced):
        _print(settings.format, result, views, host)
    _save_further(result, host, views)
    warn_of_nothing(result, settings, host)
    return exit_code(result, settings)


def _has_more(result: RunResult, announced: frozenset[str]) -> bool:
    """Whether a report says more than that nothing could be read of what standard error names."""
    others = (problem for problem in result.unreadable if problem.path not in announced)
    return not announced or bool(result.summary.read or result.findings or any(others))


def reports_to_files(result: RunResult, settings: Settings, host: Host, applied: FixResult) -> int:
    """Write the additional reports alone, and return the exit code."""
    lines = FileLines(settings.piped(), settings.boundary())
    _save_further(result, host, Views(settings, host, lines, applied))
    warn_of_nothing(result, settings, host)
    return exit_code(result, settings)


def _save_further(result: RunResult, host: Host, views: Views) -> None:
    for format_name, path in views.settings.output:
        _further(format_name, path, result, host, views)


def exit_code(result: RunResult, settings: Settings) -> int:
    """2 when a named path cannot be read, or no file at all, else 1 when a finding reaches `fail_on`, else 0.
    `exit_zero` turns 1 into 0, never 2."""
    if fruitless(result, settings):
        return 2
    lowest = max(RANK[settings.fail_on], RANK[settings.min_severity or "note"])
    failing = any(RANK[finding.severity] >= lowest for finding in result.findings) or (
        _runs_differ(result) and RANK["warning"] >= lowest
    )
    return 1 if failing and not settings.exit_zero else 0


def _runs_differ(result: RunResult) -> bool:
    """Whether the curves of two compared runs differ, which counts as a warning."""
    runs = result.comparison.runs if result.comparison is not None else None
    return runs is not None and runs.differs


def fruitless(result: RunResult, settings: Settings) -> bool:
    """Whether the run failed: a named path cannot be read, or no file at all."""
    return bool(unreadable(result, settings) or (result.summary.files and not result.summary.read))


def unreadable(result: RunResult, settings: Settings) -> list[Problem]:
    """The named paths that do not exist or cannot be opened."""
    paths = [*settings.paths, *([settings.reference] if settings.reference else [])]
    named = {shown(local(path)) for path in paths} if settings.stdin is None else set()
    return [problem for problem in result.unreadable if problem.path in named and problem.reason in _UNREADABLE]


def warn_of_nothing(result: RunResult, settings: Settings, host: Host) -> None:
    """Warn on standard error about unreadable paths, or that there was nothing to check."""
    lang = settings.language()
    for problem in unreadable(result, settings):
        host.warn(say(lang, "error", text=f"{problem.path}: {reason(problem, lang)}"))
    if not result.summary.files and not result.unreadable and not settings.force_exclude:
        host.warn(say(lang, "nothing.below", paths=", ".join(settings.paths)))


def _further(format_name: str, path: str, result: RunResult, host: Host, views: Views) -> None:
    """Write an additional report to standard output or a file."""
    from npulint.hosts.cli.outputs import STANDARD_OUTPUT, save

    if path in STANDARD_OUTPUT:
        _print(format_name, result, views, host)
        return
    view = views.plain(format_name)

    def within(limit: int) -> Iterator[str]:
        return render_parts(format_name, result, msgspec.structs.replace(view, limit=limit))

    warning = save(path, within, host.environ, view.lang)
    if warning:
        host.warn(warning)


def _print(format_name: str, result: RunResult, views: Views, host: Host) -> None:
    for part in render_parts(format_name, result, views.screen(format_name)):
        host.write(part)


class Views(msgspec.Struct, frozen=True):
    """The view options of the reports of a run, by format."""

    settings: Settings
    host: Host
    lines: LineProvider
    applied: FixResult | None = None
    comparing: bool = False
    announced: frozenset[str] = frozenset()

    def plain(self, format_name: str) -> ReportView:
        """The view for a file."""
        settings = self.settings
        view = ReportView(
            lang=settings.language(),
            shown_from=settings.shown_from(format_name),
            fail_on=settings.fail_on,
            verbose=settings.verbose,
            quiet=settings.quiet and format_name not in _WHOLE,
            statistics=settings.statistics,
            lines=self.lines,
            page=pages_of(built_in(settings) if format_name == "agent" else settings),
            folder=_folder(format_name, self.host),
            change=bool(settings.consequences_since),
            fixes=settings.show_fixes,
            unsafe=settings.unsafe_fixes,
            applied=self.applied,
            comparing=self.comparing,
            sources=_sources(format_name, self.host),
            request=_request(self.host),
            all_operators=settings.verbose,
            all_differences=settings.all_differences,
        )
        if format_name != "html":
            return view
        from npulint.hosts.cli.provenance import with_provenance

        return with_provenance(view, settings, self.host.environ)

    def screen(self, format_name: str) -> ReportView:
        """The view for standard output."""
        view, host = self.plain(format_name), self.host
        if format_name not in PEOPLE_FORMATS:
            return view
        color = wants_color(self.settings.color, host.stdout, host.environ)
        links = wants_links(color, host.stdout, host.environ)
        width, plain = width_of(host.stdout, host.environ), not has_blocks(host.stdout)
        announced = self.announced if format_name in _FOR_SCREENS else frozenset()
        return msgspec.structs.replace(view, color=color, links=links, plain=plain, width=width, announced=announced)


def _request(host: Host) -> str:
    """What the CI server calls a proposed change."""
    if host.environ.get("GITHUB_ACTIONS") or host.environ.get("giteePullRequestIid"):
        return "pull"
    return "merge" if host.environ.get("GITLAB_CI") else "change"


def _sources(format_name: str, host: Host) -> str:
    if format_name != "markdown":
        return ""
    from npulint.hosts.cli.outputs import sources_on_the_web

    return sources_on_the_web(host.environ)


def _folder(format_name: str, host: Host) -> str:
    if format_name not in FROM_THE_ROOT:
        return ""
    from npulint.hosts.cli.outputs import folder_in_repository

    return folder_in_repository(host.environ)

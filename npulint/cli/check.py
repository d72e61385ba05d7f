"""``npulint check``: settings, run, reports, exit code."""

from __future__ import annotations

import msgspec

from npulint.cli.catalogue import pages_of
from npulint.cli.host import Host
from npulint.config import load
from npulint.discover.files import discover, local, shown
from npulint.errors import ConfigError
from npulint.facts.model import Problem
from npulint.findings import RunResult
from npulint.lines import Lines
from npulint.report.summary import reason
from npulint.report.terminal import is_terminal, leading, wants_color, wants_links, width_of
from npulint.report.view import View, render
from npulint.settings import PEOPLE_FORMATS, RANK, Settings
from npulint.settle.run import file_lines
from npulint.texts import say

_STDIN = "-"
FROM_THE_ROOT = ("github", "gitlab", "sarif")
"""Formats whose paths mean the root of the repository, wherever the run starts."""
_UNREADABLE = ("missing", "unreadable", "not-a-file")


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Check and report; the exit code is that of `exit_code`."""
    settings = _settings(words, options, host, lang)
    if settings.show_files:
        found = discover(settings.paths, settings.discovery())
        host.write("".join(f"{path}\n" for path in sorted({leading(file.path) for file in found.files})))
        return 0
    result = _watched(settings, host, lang)
    for notice in result.notices:
        host.warn(notice)
    if settings.write_baseline or settings.prune_baseline or result.baseline is not None:
        from npulint.cli.baseline import attend

        stop = attend(result, settings, host)
        if stop:
            return 2 if unreadable(result, settings) else 0
    if not settings.silenced:
        result = msgspec.structs.replace(result, silenced=[])
    lines = file_lines(settings)
    host.write(render(settings.format, result, _screen(settings, settings.format, host, lines)))
    for format_name, path in settings.output:
        _further(format_name, path, result, settings, host, lines)
    _warn_of_nothing(result, settings, host)
    return exit_code(result, settings)


def _watched(settings: Settings, host: Host, lang: str) -> RunResult:
    """The result of the run; a person at a terminal sees how far it is."""
    if is_terminal(host.stderr):
        from npulint.cli.progress import ProgressLine, wants_progress

        if wants_progress(host.stderr, host.environ):
            with ProgressLine(host.stderr, lang) as line:
                return host.run(settings, line)
    return host.run(settings, None)


def exit_code(result: RunResult, settings: Settings) -> int:
    """2 when a path that was named cannot be read, or none of the files, else 1 when a reported finding reaches
    `fail_on`, else 0. `exit_zero` hides findings, never 2."""
    if unreadable(result, settings) or (result.summary.files and not result.summary.read):
        return 2
    lowest = max(RANK[settings.fail_on], RANK[settings.min_severity or "note"])
    failing = any(RANK[finding.severity] >= lowest for finding in result.findings)
    return 1 if failing and not settings.exit_zero else 0


def unreadable(result: RunResult, settings: Settings) -> list[Problem]:
    """The paths that were named and are not there or cannot be opened."""
    named = {shown(local(path)) for path in settings.paths} if settings.stdin is None else set()
    return [problem for problem in result.unread if problem.path in named and problem.reason in _UNREADABLE]


def _settings(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> Settings:
    piped = _STDIN in words or (not words and "stdin_filename" in options)
    if piped and words not in ([], [_STDIN]):
        raise ConfigError([say(lang, "bad.stdin")])
    if not piped:
        return load(words, options, host.environ)
    named = {"stdin_filename": ["stdin.py"], **options}
    settings = load([], named, host.environ, host.read())
    return msgspec.structs.replace(settings, paths=(settings.stdin_filename,))


def _warn_of_nothing(result: RunResult, settings: Settings, host: Host) -> None:
    """Say on the other stream that a path was wrong, or that there was nothing to check at all."""
    lang = settings.language()
    for problem in unreadable(result, settings):
        host.warn(say(lang, "error", text=f"{problem.path}: {reason(problem, lang)}"))
    if not result.summary.files and not result.unread and not settings.force_exclude:
        host.warn(say(lang, "nothing.below", paths=", ".join(settings.paths)))


def _further(format_name: str, path: str, result: RunResult, settings: Settings, host: Host, lines: Lines) -> None:
    """Another report, after the main one or into a file."""
    from npulint.cli.outputs import STANDARD_OUTPUT, save

    if path in STANDARD_OUTPUT:
        host.write(render(format_name, result, _screen(settings, format_name, host, lines)))
        return
    view = _view(settings, format_name, host, lines)

    def within(limit: int) -> str:
        return render(format_name, result, msgspec.structs.replace(view, limit=limit))

    warning = save(path, within, host.environ, settings.language())
    if warning:
        host.warn(warning)


def _view(settings: Settings, format_name: str, host: Host, lines: Lines) -> View:
    return View(
        lang=settings.language(),
        shown_from=settings.shown_from(format_name),
        fail_on=settings.fail_on,
        verbose=settings.verbose,
        statistics=settings.statistics,
        lines=lines,
        page=pages_of(settings),
        folder=_folder(format_name, host),
        change=bool(settings.consequences_since),
    )


def _folder(format_name: str, host: Host) -> str:
    if format_name not in FROM_THE_ROOT:
        return ""
    from npulint.cli.outputs import folder_in_repository

    return folder_in_repository(host.environ)


def _screen(settings: Settings, format_name: str, host: Host, lines: Lines) -> View:
    view = _view(settings, format_name, host, lines)
    if format_name not in PEOPLE_FORMATS:
        return view
    color = wants_color(settings.color, host.stdout, host.environ)
    links = wants_links(color, host.stdout, host.environ)
    return msgspec.structs.replace(view, color=color, links=links, width=width_of(host.stdout, host.environ))

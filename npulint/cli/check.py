"""``npulint check``: settings, run, reports, exit code."""

from __future__ import annotations

import msgspec

from npulint.cli.catalogue import pages_of
from npulint.cli.host import Host
from npulint.config import load
from npulint.discover.files import discover, local, shown
from npulint.errors import ConfigError, NpulintError
from npulint.facts.model import Problem
from npulint.findings import RunResult
from npulint.lines import Lines
from npulint.report.summary import reason
from npulint.report.terminal import leading, wants_color, wants_links, width_of
from npulint.report.view import View, render
from npulint.settings import PEOPLE_FORMATS, RANK, Settings
from npulint.settle.run import file_lines
from npulint.texts import say

_STDIN = "-"
_UNREADABLE = ("missing", "unreadable", "not-a-file")


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Check and report; the exit code is that of `exit_code`."""
    settings = _settings(words, options, host, lang)
    if settings.show_files:
        found = discover(settings.paths, settings.discovery())
        host.write("".join(f"{path}\n" for path in sorted({leading(file.path) for file in found.files})))
        return 0
    result = host.run(settings)
    for notice in result.notices:
        host.warn(notice)
    if settings.write_baseline or settings.prune_baseline or result.baseline is not None:
        from npulint.cli.baseline import attend

        stop = attend(result, settings, host)
        if stop:
            return 2 if unreadable(result, settings) else 0
    lines = file_lines(settings)
    host.write(render(settings.format, result, _screen(settings, host, lines)))
    for format_name, path in settings.output:
        _save(path, render(format_name, result, _view(settings, format_name, lines)), settings.language())
    _warn_of_nothing(result, settings, host)
    return exit_code(result, settings)


def exit_code(result: RunResult, settings: Settings) -> int:
    """2 when a path that was named cannot be read, else 1 when a reported finding reaches `fail_on`, else
    0. `exit_zero` hides findings, never 2."""
    if unreadable(result, settings):
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
        host.warn(f"{say(lang, 'severity.error')}: {problem.path}: {reason(problem, lang)}")
    if not result.summary.files and not result.unread:
        host.warn(say(lang, "nothing.below", paths=", ".join(settings.paths)))


def _view(settings: Settings, format_name: str, lines: Lines) -> View:
    return View(
        lang=settings.language(),
        shown_from=settings.shown_from(format_name),
        verbose=settings.verbose,
        statistics=settings.statistics,
        lines=lines,
        page=pages_of(settings),
    )


def _screen(settings: Settings, host: Host, lines: Lines) -> View:
    view = _view(settings, settings.format, lines)
    if settings.format not in PEOPLE_FORMATS:
        return view
    color = wants_color(settings.color, host.stdout, host.environ)
    links = wants_links(color, host.stdout, host.environ)
    return msgspec.structs.replace(view, color=color, links=links, width=width_of(host.stdout, host.environ))


def _save(path: str, text: str, lang: str) -> None:
    try:
        with open(path, "wb") as stream:
            stream.write(text.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        detail = getattr(error, "strerror", None) or str(error)
        raise NpulintError(say(lang, "output.failed", path=path, detail=detail)) from error

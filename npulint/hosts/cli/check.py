"""``npulint check``: settings, run, reports, exit code."""

from __future__ import annotations

import msgspec

from npulint.commands.settings.config import load
from npulint.core.errors import ConfigError
from npulint.core.texts import say
from npulint.discover.files import discover
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.reference import require, with_comparison
from npulint.hosts.cli.reporting import report
from npulint.judge.settings import UNNAMED, Settings
from npulint.report.terminal import escape_control_chars, leading

_STDIN = "-"
_WITH_EDITS = {"agent", "html"}
"""The formats that show the edits of each finding."""


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Check, report, and return the exit code of `npulint.hosts.cli.reporting.exit_code`."""
    settings = _settings(words, options, host, lang)
    if settings.watch:
        from npulint.hosts.cli.watch import run as watch

        single = {name: value for name, value in options.items() if name != "watch"}
        return watch(settings, lambda: run(words, single, host, lang), host)
    if settings.show_files:
        discovery = discover(settings.paths, settings.discovery())
        host.write(
            "".join(
                f"{path}\n" for path in sorted({leading(file.path) for file in discovery.files if file.kind != "data"})
            )
        )
        return 0
    if settings.reference:
        require(settings.reference, settings.language())
    if settings.against:
        require(settings.against, settings.language())
    if settings.add_ignore:
        from npulint.hosts.cli.add_ignore import run as add_ignore

        return add_ignore(settings, host, lang)
    if settings.fix or settings.fix_only or settings.diff:
        from npulint.hosts.cli.fix import fix

        return fix(settings, host, lang)
    result = with_comparison(host.watched(host.run, settings, lang), settings, host)
    if settings.against and not any(run_summary.changes for run_summary in result.runs):
        host.warn(say(lang, "runs.not-compared", path=escape_control_chars(settings.against)))
    shapes = {settings.format, *(name for name, _ in settings.output)}
    if settings.show_fixes or shapes & _WITH_EDITS:
        from npulint.fix.code_actions import with_edits

        result = with_edits(result, settings)
    return report(result, settings, host)


def _settings(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> Settings:
    piped = _STDIN in words or (not words and "stdin_filename" in options)
    if piped and words not in ([], [_STDIN]):
        raise ConfigError([say(lang, "bad.stdin")])
    if not piped:
        return load(words, options, host.environ)
    named = {"stdin_filename": [UNNAMED], **options}
    settings = load([], named, host.environ, host.read())
    return msgspec.structs.replace(settings, paths=(settings.stdin_filename,))

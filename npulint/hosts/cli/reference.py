"""Comparison of a checked project with its reference, the project before migration."""

from __future__ import annotations

import os

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.hosts.cli.host import Host
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings
from npulint.report.terminal import escape_control_chars


def require(path: str, lang: str) -> None:
    """Raise `NpulintError` when `path`, one side of a comparison, does not exist."""
    if not os.path.exists(path):
        raise NpulintError(say(lang, "compare.missing", path=escape_control_chars(path)))


def with_comparison(result: RunResult, settings: Settings, host: Host) -> RunResult:
    """The result, with the comparison added when the settings name a reference."""
    if not settings.reference:
        return result
    lang = settings.language()
    return host.watched(lambda own, progress: host.add_comparison(result, own, progress), settings, lang)

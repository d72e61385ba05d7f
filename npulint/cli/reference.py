"""The reference of a run: the project before its migration."""

from __future__ import annotations

import os

from npulint.cli.host import Host
from npulint.errors import NpulintError
from npulint.findings import RunResult
from npulint.report.terminal import escape_control_chars
from npulint.settings import Settings
from npulint.texts import say


def require(path: str, lang: str) -> None:
    """Without either side there is nothing to compare: raises `NpulintError` for a path that is not there."""
    if not os.path.exists(path):
        raise NpulintError(say(lang, "compare.missing", path=escape_control_chars(path)))


def beside_reference(result: RunResult, settings: Settings, host: Host) -> RunResult:
    """The result, with the comparison when the settings name a reference."""
    if not settings.reference:
        return result
    lang = settings.language()
    return host.watched(lambda asked, progress: host.beside(result, asked, progress), settings, lang)

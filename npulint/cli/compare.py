"""``npulint compare``: two projects, the checklist of what differs, exit code."""

from __future__ import annotations

import msgspec

from npulint.cli.host import Host
from npulint.cli.reference import require
from npulint.cli.reporting import report
from npulint.config import load
from npulint.findings import RunResult
from npulint.progress import Progress
from npulint.settings import Settings


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Compare and report; the exit code is that of `npulint.cli.reporting.exit_code`. The configuration is that of the
    migrated side. Raises `ConfigError`, or `NpulintError` for a side that is not there."""
    reference, migrated = words
    settings = _settings(load([migrated], options, host.environ), reference)
    if "select" not in options:  # what a configuration selects is meant for checks of one project
        settings = msgspec.structs.replace(settings, select=())
    for path in words:
        require(path, settings.language())

    def compared(asked: Settings, progress: Progress | None) -> RunResult:
        return host.compare(asked, reference, progress)

    return report(host.watched(compared, settings, lang), settings, host, comparing=True)


def _settings(settings: Settings, reference: str) -> Settings:
    """Nothing is mended here, whatever a configuration says of checks."""
    return msgspec.structs.replace(settings, reference=reference, fix=False, show_fixes=False)

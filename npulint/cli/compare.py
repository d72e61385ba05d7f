"""``npulint compare``: compares two projects and prints the pre-tuning checklist."""

from __future__ import annotations

import msgspec

from npulint.cli.host import Host
from npulint.cli.reference import require
from npulint.cli.reporting import report
from npulint.config import load
from npulint.errors import NpulintError
from npulint.findings import RunResult
from npulint.progress import Progress
from npulint.report.terminal import escape_control_chars
from npulint.settings import Settings
from npulint.texts import say


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Compare, report, and return the exit code of `npulint.cli.reporting.exit_code`. Uses the configuration of the
    migrated side. Raises `ConfigError`, or `NpulintError` for a side that does not exist."""
    reference, migrated = words
    settings = _settings(load([migrated], {**options, "reference": [reference]}, host.environ), reference)
    settings = msgspec.structs.replace(
        settings, entries=_entries(options.get("entry"), settings.language()), all_differences=bool(options.get("all"))
    )
    if "select" not in options:  # configured selections are for checks of one project
        settings = msgspec.structs.replace(settings, select=())
    for path in words:
        require(path, settings.language())

    def compared(run_settings: Settings, progress: Progress | None) -> RunResult:
        return host.compare(run_settings, reference, progress)

    return report(host.watched(compared, settings, lang), settings, host, comparing=True)


def _entries(words: list[str] | bool | None, lang: str) -> tuple[tuple[str, str], ...]:
    """The pairs of entry scripts on the command line. Raises `NpulintError` for anything that is no pair."""
    found = []
    for word in words if isinstance(words, list) else []:
        for text in word.split(","):
            reference, is_pair, migrated = text.strip().partition("=")
            if not (reference and is_pair and migrated):
                raise NpulintError(say(lang, "compare.entry.form", text=escape_control_chars(text)))
            found.append((reference, migrated))
    return tuple(found)


def _settings(settings: Settings, reference: str) -> Settings:
    """The settings of a comparison: no fixes, whatever the configuration says."""
    return msgspec.structs.replace(settings, reference=reference, fix=False, show_fixes=False)

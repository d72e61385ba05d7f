"""``npulint compare``: compares two projects, or two states of one, and prints the pre-tuning checklist."""

from __future__ import annotations

import msgspec

from npulint.cli.host import Host
from npulint.cli.reference import require
from npulint.cli.reporting import report
from npulint.config import load
from npulint.errors import ConfigError
from npulint.findings import RunResult
from npulint.progress import Progress
from npulint.settings import Settings
from npulint.texts import say

_WORDS = ("REFERENCE", "MIGRATED")
_OPTIONS = dict[str, list[str] | bool]


def run(words: list[str], options: _OPTIONS, host: Host, lang: str) -> int:
    """Compare, report, and return the exit code of `npulint.cli.reporting.exit_code`. Uses the configuration of the
    migrated side. Raises `ConfigError`, or `NpulintError` for a side that does not exist."""
    span = options.pop("git", None)
    if isinstance(span, list):
        return _states(span[-1], words, options, host, lang)
    if len(words) < len(_WORDS):
        missing = say(lang, "missing.argument", word=" ".join(_WORDS[len(words) :]))
        raise ConfigError([missing + say(lang, "missing.usage", usage=f"npulint compare {' '.join(_WORDS)}")])
    reference, migrated = words
    settings = _settings(load([migrated], {**options, "reference": [reference]}, host.environ), options, reference)
    for path in words:
        require(path, settings.language())

    def compared(run_settings: Settings, progress: Progress | None) -> RunResult:
        return host.compare(run_settings, reference, progress)

    return report(host.watched(compared, settings, lang), settings, host, comparing=True)


def _states(span: str, words: list[str], options: _OPTIONS, host: Host, lang: str) -> int:
    """Compare two states of the project (or entry script) that `words` name, by default of the working directory."""
    if len(words) > 1:
        raise ConfigError([say(lang, "unexpected.argument", word=words[1])])
    path = words[0] if words else "."
    settings = _settings(load([path], options, host.environ), options, "")
    require(path, settings.language())
    from npulint.compare_states import states

    with states(span, path, settings.discovery(), settings.language()) as two:

        def compared(run_settings: Settings, progress: Progress | None) -> RunResult:
            return host.compare_states(run_settings, two, progress)

        result = host.watched(compared, settings, lang)
        return report(result, settings, host, comparing=True, content=two.content)


def _settings(settings: Settings, options: _OPTIONS, reference: str) -> Settings:
    """The settings of a comparison: no fixes, whatever the configuration says, and no configured selection, which is
    for checks of one project."""
    select = settings.select if "select" in options else ()
    return msgspec.structs.replace(settings, reference=reference, fix=False, show_fixes=False, select=select)

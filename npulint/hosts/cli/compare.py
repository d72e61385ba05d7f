"""``npulint compare``: compares two projects, two states of one, or two training runs, and prints what differs."""

from __future__ import annotations

import msgspec

from npulint.commands.settings.config import load
from npulint.core.errors import ConfigError, NpulintError
from npulint.core.progress import Progress
from npulint.core.texts import say
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.reference import require
from npulint.hosts.cli.reporting import report
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings
from npulint.report.terminal import escape_control_chars

_WORDS = ("REFERENCE", "MIGRATED")
_OPTIONS = dict[str, list[str] | bool]
_Runs = tuple[str, str] | None


def run(words: list[str], options: _OPTIONS, host: Host, lang: str) -> int:
    """Compare, report, and return the exit code of `npulint.hosts.cli.reporting.exit_code`. Uses the configuration of
    the migrated side. Raises `ConfigError`, or `NpulintError` for a side that does not exist."""
    runs, span = _runs(options, lang), options.pop("git", None)
    if isinstance(span, list):
        return _states(span[-1], words, options, runs, host, lang)
    if runs is not None and not words:
        settings = compare_settings(load(["."], options, host.environ), options, "")
        return report(_with_runs(RunResult(), settings, runs, host), settings, host, comparing=True)
    if len(words) < len(_WORDS):
        missing = say(lang, "missing.argument", word=" ".join(_WORDS[len(words) :]))
        raise ConfigError([missing + say(lang, "missing.usage", usage=f"npulint compare {' '.join(_WORDS)}")])
    reference, migrated = words
    configured = load([migrated], {**options, "reference": [reference]}, host.environ)
    settings = compare_settings(configured, options, reference)
    for path in words:
        require(path, settings.language())

    def compared(run_settings: Settings, progress: Progress | None) -> RunResult:
        return host.compare(run_settings, reference, progress)

    result = _with_runs(host.watched(compared, settings, lang), settings, runs, host)
    return report(result, settings, host, comparing=True)


def _states(span: str, words: list[str], options: _OPTIONS, runs: _Runs, host: Host, lang: str) -> int:
    """Compare two states of the project (or entry script) that `words` name, by default of the working directory."""
    if len(words) > 1:
        raise ConfigError([say(lang, "unexpected.argument", word=words[1])])
    path = words[0] if words else "."
    settings = compare_settings(load([path], options, host.environ), options, "")
    require(path, settings.language())
    from npulint.commands.compare.compare_states import states

    with states(span, path, settings.discovery(), settings.language()) as two:

        def compared(run_settings: Settings, progress: Progress | None) -> RunResult:
            return host.compare_states(run_settings, two, progress)

        result = _with_runs(host.watched(compared, settings, lang), settings, runs, host)
        return report(result, settings, host, comparing=True, content=two.content)


def _runs(options: _OPTIONS, lang: str) -> _Runs:
    """The two runs, which are named together or not at all; removes them from the options."""
    named = {name: options.pop(name, None) for name in ("reference_run", "migrated_run")}
    paths = [value[-1] for value in named.values() if isinstance(value, list)]
    if len(paths) == 1:
        absent = next(name for name, value in named.items() if value is None)
        raise ConfigError([say(lang, "missing.argument", word=f"--{absent.replace('_', '-')}")])
    return (paths[0], paths[1]) if paths else None


def _with_runs(result: RunResult, settings: Settings, runs: _Runs, host: Host) -> RunResult:
    if runs is None:
        return result
    for path in runs:
        require(path, settings.language())
    return host.add_runs(result, settings, runs)


def compare_settings(settings: Settings, options: _OPTIONS, reference: str) -> Settings:
    """The settings of a comparison: no fixes, whatever the configuration says, and no configured selection, which is
    for checks of one project."""
    return msgspec.structs.replace(
        settings,
        reference=reference,
        fix=False,
        show_fixes=False,
        select=settings.select if "select" in options else (),
        entries=_entries(options.get("entry"), settings.language()),
        all_differences=bool(options.get("all")),
    )


def _entries(words: list[str] | bool | None, lang: str) -> tuple[tuple[str, str], ...]:
    """The pairs of entry scripts on the command line. Raises `NpulintError` for anything that is no pair."""
    entries = []
    for word in words if isinstance(words, list) else []:
        for text in word.split(","):
            reference, is_pair, migrated = text.strip().partition("=")
            if not (reference and is_pair and migrated):
                raise NpulintError(say(lang, "compare.entry.form", text=escape_control_chars(text)))
            entries.append((reference, migrated))
    return tuple(entries)

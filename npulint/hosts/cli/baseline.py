"""Writes, prunes and reports on the baseline file for ``npulint check``."""

from __future__ import annotations

import os
from collections.abc import Iterable

from npulint.core.errors import ConfigError
from npulint.core.texts import count, say
from npulint.hosts.cli.host import Host
from npulint.judge.baseline import save_baseline
from npulint.judge.findings import Baseline, BaselineEntry, RunResult
from npulint.judge.postprocess.baseline import EntryBuilder, merged_entries
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines


def update_baseline(result: RunResult, settings: Settings, host: Host) -> bool:
    """Write or prune the baseline if requested, else warn about fixed entries. Returns whether the run ends here,
    because all findings were just accepted. Raises `ConfigError`."""
    lang = settings.language()
    if settings.write_baseline and settings.prune_baseline:
        raise ConfigError([say(lang, "bad.combination", one="--write-baseline", other="--prune-baseline")])
    baseline = result.baseline
    if baseline is None:
        raise ConfigError([say(lang, "baseline.none")])
    if settings.write_baseline:
        _write(baseline, result, settings, host)
    elif settings.prune_baseline:
        save_baseline(baseline.path, [*baseline.active, *baseline.stale, *baseline.not_evaluated], lang)
        if not settings.quiet:
            host.warn(count(lang, "baseline.pruned", _total(baseline.fixed), path=baseline.path))
    elif baseline.fixed and not settings.quiet:
        host.warn(count(lang, "baseline.fixed", _total(baseline.fixed), path=baseline.path))
    return settings.write_baseline


def _write(baseline: Baseline, result: RunResult, settings: Settings, host: Host) -> None:
    lang = settings.language()
    place = EntryBuilder(os.path.dirname(baseline.path), FileLines(settings.piped(), settings.boundary()))
    added = [place.entry(finding) for finding in result.findings]
    entries = [*merged_entries([*baseline.active, *added]), *baseline.not_evaluated]
    save_baseline(baseline.path, entries, lang)
    total, removed = _total(entries), _total(baseline.fixed)
    text = count(lang, "baseline.written", total, path=baseline.path, added=len(added), removed=removed)
    host.write(f"{text}\n" if not settings.quiet else "")


def _total(entries: Iterable[BaselineEntry]) -> int:
    return sum(entry.count for entry in entries)

"""``npulint check --watch``: checks again whenever a file changes. The library that watches is the extra ``watch``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from npulint.commands.settings.config import CONFIG_NAME
from npulint.core.errors import ConfigError, NpulintError
from npulint.core.texts import count, say
from npulint.discover.kinds import possible_kinds
from npulint.hosts.cli.host import Host
from npulint.judge.settings import PEOPLE_FORMATS, Settings
from npulint.report.terminal import is_terminal

Changes = Callable[..., Iterable[set[tuple[Any, str]]]]
_PAUSE = 300  # milliseconds without a change after which a check begins
_LONGEST = 3000  # milliseconds after which a check begins in any case
_CLEAR = "\x1b[2J\x1b[H"
_ALSO = (CONFIG_NAME, "pyproject.toml", ".gitignore", "npulint-baseline.json")


def run(settings: Settings, again: Callable[[], int], host: Host) -> int:
    """Check with `again`, and after every change once more; Ctrl-C ends it with 0. Raises `ConfigError` for standard
    input and reports for machines, `NpulintError` without the library."""
    lang = settings.language()
    if settings.stdin is not None:
        raise ConfigError([say(lang, "bad.combination", one="--watch", other="-")])
    if settings.format not in PEOPLE_FORMATS:
        raise ConfigError([say(lang, "bad.combination", one="--watch", other=f"--format {settings.format}")])
    changes = _library(lang)
    written = {os.path.realpath(path) for _, path in settings.output}
    try:
        _checked(again, host, lang, 0)
        for some in changes(
            *_watched(settings),
            watch_filter=lambda _, path: counts(path) and os.path.realpath(path) not in written,
            debounce=_LONGEST,
            step=_PAUSE,
        ):
            _checked(again, host, lang, len(some))
    except KeyboardInterrupt:
        host.warn("")
    return 0


def counts(path: str) -> bool:
    """Whether a change of this file may change findings; results of runs and hidden folders do not count."""
    parts = os.path.relpath(path).split(os.sep)
    if any(part.startswith(".") and part not in (".", "..") for part in parts[:-1]):
        return False
    return os.path.basename(path) in _ALSO or bool(possible_kinds(path))


def _watched(settings: Settings) -> Sequence[str]:
    """The folders and files to watch: the named paths and checks of the project."""
    paths = [*settings.paths, *settings.checks, *filter(None, (settings.config, settings.reference))]
    return [path for path in dict.fromkeys(paths) if os.path.exists(path)]


def _checked(again: Callable[[], int], host: Host, lang: str, changed: int) -> None:
    """Check once. A mistake in a configuration is told and ends nothing: the next change may mend it."""
    if is_terminal(host.stdout):
        host.write(_CLEAR)
    if changed:
        host.write(count(lang, "watch.again", changed, time=f"{datetime.now():%H:%M:%S}") + "\n\n")
    try:
        again()
    except NpulintError as error:
        host.warn("\n".join(say(lang, "error", text=line) for line in str(error).split("\n")))
    host.write("\n" + say(lang, "watch.waiting") + "\n")


def _library(lang: str) -> Changes:
    """The function that waits for changes. Raises `NpulintError` where it is not installed."""
    try:
        from watchfiles import watch
    except ImportError as error:
        raise NpulintError(say(lang, "watch.missing")) from error
    library: Changes = watch
    return library

"""What configuration files and command lines give to the arguments of frameworks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from npulint.facts.model import Span

Via = Literal["file", "command line", "code"]


class Setting(msgspec.Struct, frozen=True):
    """An argument of a framework gets a value at a place, None if it is computed. `guarded`: under some condition
    only."""

    framework: str
    name: str
    value: object
    path: str
    span: Span
    via: Via
    guarded: bool = False


class TrainingStart(msgspec.Struct, frozen=True):
    """One start of a training by a configuration file or a command line, at a place. `settings` are in the order in
    which they take effect: later ones override earlier ones of the same framework and name. `entries`: the scripts of
    the project that it may start. `complete`: a command line whose arguments are all known. `is_started`: a command
    line of the project starts it, not just a person who names its configuration file."""

    path: str
    span: Span
    framework: str
    settings: tuple[Setting, ...]
    entries: tuple[str, ...] = ()
    complete: bool = False
    is_started: bool = True

    def effective(self) -> list[Setting]:
        """The settings that are not overridden."""
        return list(by_name(self.settings).values())


def by_name(settings: Iterable[Setting]) -> Mapping[tuple[str, str], Setting]:
    """The last setting of each argument, by framework and argument."""
    return {(setting.framework, setting.name): setting for setting in settings}

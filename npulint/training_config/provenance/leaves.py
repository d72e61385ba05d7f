"""Protocols through which the tracer queries configuration files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from npulint.assemble.launches.project_launches import Launch
from npulint.assemble.module import Module
from npulint.facts.model import Span


class Leaf(Protocol):
    """A value in a configuration file."""

    @property
    def path(self) -> str: ...

    @property
    def span(self) -> Span: ...

    @property
    def key(self) -> tuple[str, ...]: ...

    @property
    def value(self) -> object: ...


class Configs(Protocol):
    """Looks up values in the configuration files that a program loads (`npulint.training_config.configs.lookup`)."""

    def under(self, entry: str, launch: Launch | None = None) -> Configs:
        """The same files for one start of the script at `entry`."""

    def lookup(self, module: Module, name: str, block: int = -1, line: int = 0) -> Sequence[Leaf]:
        """The values that a dotted name at a place certainly or probably refers to."""

    def decided(self, module: Module, parts: tuple[str, ...], block: int = -1, line: int = 0) -> Sequence[Leaf]:
        """The values that it certainly refers to, which take precedence over assignments in code."""

    def of_program(self, entry: str, launch: Launch | None = None) -> Sequence[Loaded]:
        """The files that a start of the script at `entry` loads."""


class Loaded(Protocol):
    """A configuration file that a program loads."""

    @property
    def values(self) -> Sequence[Leaf]: ...

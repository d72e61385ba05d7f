"""Values of configuration files: leaves with keys and places."""

from __future__ import annotations

import msgspec

from npulint.facts.model import Span


class ConfigValue(msgspec.Struct, frozen=True):
    """A leaf of a configuration file: its keys, its plain value (a scalar, or a tuple of plain values), and the span of
    the value."""

    key: tuple[str, ...]
    value: object
    path: str
    span: Span

    @property
    def name(self) -> str:
        """The dotted key."""
        return ".".join(self.key)


class ConfigFile(msgspec.Struct, frozen=True):
    """A configuration file that a program loads, with its values; inherited values have the path of their base file."""

    path: str
    values: tuple[ConfigValue, ...]


def overlaid(base: tuple[ConfigValue, ...], own: tuple[ConfigValue, ...]) -> tuple[ConfigValue, ...]:
    """`base` without the values that `own` sets or whose parents it replaces, then `own`. A mapping with ``_delete_``
    replaces the whole mapping of the base."""
    if not base:
        return own
    replaced = {one.key for one in own}
    dropped = {one.key[:-1] for one in own if one.key[-1] == "_delete_" and one.value is True}
    inner = {one.key[:length] for one in own for length in range(1, len(one.key))}
    kept = [
        one
        for one in base
        if one.key not in inner
        and not any(
            one.key[:length] in replaced or one.key[:length] in dropped for length in range(1, len(one.key) + 1)
        )
    ]
    return (*kept, *own)


def plain(value: object) -> object:
    """A value as read, with lists converted to tuples."""
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value

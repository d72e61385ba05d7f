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
    replaced = {config_value.key for config_value in own}
    dropped = {
        config_value.key[:-1]
        for config_value in own
        if config_value.key[-1] == "_delete_" and config_value.value is True
    }
    inner = {config_value.key[:length] for config_value in own for length in range(1, len(config_value.key))}
    kept = [
        config_value
        for config_value in base
        if config_value.key not in inner
        and not any(
            config_value.key[:length] in replaced or config_value.key[:length] in dropped
            for length in range(1, len(config_value.key) + 1)
        )
    ]
    return (*kept, *own)


def plain(value: object) -> object:
    """A value as read, with lists converted to tuples."""
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value

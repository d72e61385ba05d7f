"""What configuration files say: leaves with their keys, values and places."""

from __future__ import annotations

import msgspec

from npulint.facts.model import Span


class ConfigValue(msgspec.Struct, frozen=True):
    """A leaf of a configuration file: the keys that lead to it, its plain value (a scalar, or a tuple of plain values),
    and the place of the value."""

    key: tuple[str, ...]
    value: object
    path: str
    span: Span

    @property
    def name(self) -> str:
        """The dotted key."""
        return ".".join(self.key)


class ConfigFile(msgspec.Struct, frozen=True):
    """A configuration file that a program loads, with its values; those of its bases have the paths of these."""

    path: str
    values: tuple[ConfigValue, ...]


def overlaid(base: tuple[ConfigValue, ...], own: tuple[ConfigValue, ...]) -> tuple[ConfigValue, ...]:
    """The values of `base` where `own` neither sets them nor puts something else in their place, then `own`. A mapping
    with ``_delete_`` replaces all of the mapping in the base."""
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
    """A value as it was read, its lists as tuples."""
    return tuple(map(plain, value)) if isinstance(value, list | tuple) else value

"""Composes a hydra configuration from the config groups in its defaults list."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from npulint.commands.training_config.configs.values import ConfigValue, overlaid

_MOST = 64  # entries of a defaults list
_KEY = "defaults"
_SELF = "_self_"

Find = Callable[[str], str]
Values = Callable[[str], tuple[ConfigValue, ...]]


class Part(msgspec.Struct, frozen=True):
    """An entry of a defaults list: the config group (empty: none), the selected option, and the target package (None:
    that of the group)."""

    group: str
    chosen: str
    package: str | None = None


def composed(
    own: tuple[ConfigValue, ...], choices: Mapping[str, str], find: Find, values: Values, packages: Mapping[str, str]
) -> tuple[ConfigValue, ...]:
    """The values of a file composed with those of its defaults list, in list order. `find` resolves a path without
    extension, `values` reads a file, `packages` maps files to the package that they declare."""
    parts = _parts(own)
    rest = tuple(config_value for config_value in own if config_value.key[0] != _KEY)
    config_values: tuple[ConfigValue, ...] = ()
    placed = any_file = False
    for part in parts:
        if part.chosen == _SELF and not part.group:
            config_values, placed = overlaid(config_values, rest), True
            continue
        chosen = choices.get(part.group, part.chosen) if part.group else part.chosen
        path = find(f"{part.group}/{chosen}" if part.group else chosen)
        if path:
            any_file = True
            package = packages.get(path, part.group if part.package is None else part.package)
            prefix = _prefix("" if package == "_global_" else package.replace("_group_", part.group))
            config_values = overlaid(
                config_values, tuple(_below(prefix, config_value) for config_value in values(path))
            )
    if not any_file:
        return own
    return config_values if placed else overlaid(config_values, rest)


def _parts(own: tuple[ConfigValue, ...]) -> list[Part]:
    parts: list[Part] = []
    for config_value in own:
        if config_value.key[0] != _KEY:
            continue
        if len(config_value.key) == 3 and isinstance(config_value.value, str):
            parts.append(_part(config_value.key[2], config_value.value))
        elif len(config_value.key) == 3 and isinstance(config_value.value, tuple):
            parts += [_part(config_value.key[2], text) for text in config_value.value if isinstance(text, str)]
        elif len(config_value.key) == 2 and isinstance(config_value.value, str):
            parts.append(Part("", config_value.value))
        elif len(config_value.key) == 1 and isinstance(config_value.value, tuple):
            parts += [Part("", text) for text in config_value.value if isinstance(text, str)]
    return parts[:_MOST]


def _part(written: str, chosen: str) -> Part:
    """``override /model@net: small`` selects small of the group model for the package net."""
    group, at, package = written.rpartition(" ")[2].lstrip("/").partition("@")
    return Part(group, chosen.removesuffix(".yaml"), package if at else None)


def _prefix(package: str) -> tuple[str, ...]:
    return tuple(part for part in package.replace("/", ".").split(".") if part and part != "_here_")


def _below(prefix: tuple[str, ...], config_value: ConfigValue) -> ConfigValue:
    return msgspec.structs.replace(config_value, key=(*prefix, *config_value.key)) if prefix else config_value

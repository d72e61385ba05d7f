"""Overrides: values of configuration files that a launcher replaces."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.commands.training_config.configs.values import ConfigFile, ConfigValue
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.model.launches.project_launches import Launch
from npulint.read.configuration import typed

_DOTTED = lazy_compile(r"[A-Z][A-Z0-9_]*(?:\.[A-Z][A-Z0-9_]*)+")  # a key of yacs, which the file may leave out
_LISTS = ("opts", "set", "cfg_options", "options", "override", "overrides", "config_options", "set_cfgs")


def overridden(files: list[ConfigFile], launch: Launch | None) -> list[ConfigFile]:
    """The files after applying the overrides on a launcher's command line (``optimizer.lr=0.1``, or ``TRAIN.LR 0.1``
    after ``--opts``)."""
    words = list(_words(launch)) if launch is not None else []
    names = {config_value.name for file in files for config_value in file.values}
    names |= {text for text, _ in words if _DOTTED.fullmatch(text)}
    overrides: dict[str, tuple[str, Span]] = {}
    at = 0
    while at < len(words):
        text, span = words[at]
        name, equals, value = text.partition("=")
        if equals and name.lstrip("+") in names:
            overrides[name.lstrip("+")] = (value, span)
        elif not equals and text in names and at + 1 < len(words):
            at += 1
            overrides[text] = words[at]
        at += 1
    if not overrides or launch is None:
        return files
    known = {config_value.name for file in files for config_value in file.values}
    added = tuple(
        ConfigValue(tuple(name.split(".")), typed(text), launch.fact.path, span)
        for name, (text, span) in overrides.items()
        if name not in known
    )
    replaced = [
        msgspec.structs.replace(
            file, values=tuple(_replaced(config_value, overrides, launch.fact.path) for config_value in file.values)
        )
        for file in files
    ]
    if added and replaced:
        replaced[0] = msgspec.structs.replace(replaced[0], values=(*replaced[0].values, *added))
    return replaced


def choices(launch: Launch | None) -> tuple[tuple[str, str], ...]:
    """The arguments of a launcher that may select config groups: ``optimizer=sgd``."""
    words = (text.partition("=") for text, _ in (_words(launch) if launch is not None else ()))
    return tuple(sorted({name.lstrip("+"): value for name, equals, value in words if equals}.items()))


def _replaced(config_value: ConfigValue, overrides: dict[str, tuple[str, Span]], path: str) -> ConfigValue:
    if config_value.name not in overrides:
        return config_value
    text, span = overrides[config_value.name]
    return ConfigValue(
        config_value.key, config_value.value if typed(text) == config_value.value else typed(text), path, span
    )


def _words(launch: Launch) -> Iterator[tuple[str, Span]]:
    """The arguments of a launcher that may be overrides, with their places."""
    record = launch.fact.record
    for name in _LISTS:
        text = launch.options.get(name)
        if text and text != "true" and "*" not in text:
            yield text, record.places.get(name, launch.fact.span)
    for word in record.words:
        if "*" not in word.text:
            yield word.text, word.span

"""Paths that come with a repository, not from the user: they must not lead out of the folder of the configuration."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Any

from npulint.commands.settings.options import Option
from npulint.core.errors import ConfigError
from npulint.core.links import below, leads_out
from npulint.core.texts import say

BASELINE_NAME = "npulint-baseline.json"


def joined(value: Any, folder: str) -> Any:
    """The path or paths of an option in a configuration file in `folder`, relative to the working directory."""
    return os.path.join(folder, value) if isinstance(value, str) else tuple(os.path.join(folder, one) for one in value)


def complaints(option: Option, value: Any, folder: str, lang: str) -> list[str]:
    """What is wrong with the configured path or paths of an option: those that lead out of `folder`."""
    places = (value,) if isinstance(value, str) else value
    return [
        say(lang, "config.outside", path=place, flag=option.flag)
        for place in places
        if not below(os.path.join(folder, place), folder or os.curdir)
    ]


def usual_baseline(folder: str, lang: str, new: bool = False) -> str:
    """The baseline file that is used without any option, if there is one, or a `new` one is to be written; else empty.
    Raises `ConfigError` for a link that leads out of `folder`."""
    usual = os.path.join(folder, BASELINE_NAME)
    if not new and not os.path.exists(usual):
        return ""
    if not below(usual, folder or os.curdir):
        raise ConfigError([say(lang, "config.link", path=usual, flag="--baseline")])
    return usual


def refuse_foreign(path: str, shown: str, lang: str) -> None:
    """Raise `ConfigError` if the configuration file at `path`, which the user did not name, is a link that leads out of
    its folder and of the repository around it."""
    if leads_out(path, os.path.dirname(path)):
        raise ConfigError([say(lang, "config.link", path=shown, flag="--config")])


def enclosed(names: Collection[str], folder: str) -> str:
    """The folder that links in configured operator packages must not leave; empty if the user named the packages."""
    return (folder or os.curdir) if "supported_ops" in names else ""

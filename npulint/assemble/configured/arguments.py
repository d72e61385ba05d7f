"""Facts about arguments of training frameworks that mean something on the NPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from npulint.assemble.configured.settings import Setting, Via
from npulint.data.training_arguments import (
    ArgumentRule,
    Effect,
    configured_framework,
    matches,
    rules_about_absence,
    rules_of,
    with_inherited,
    written,
)
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.launcher_facts import NONE
from npulint.read.requirement import excludes_from

_VERSION = lazy_compile(r"([A-Za-z][\w.-]*?)(<|>=)([\d.]+)")

Versions = Mapping[str, str]
"""The version specifiers that a project requires, by package."""


class ArgumentMeaning(Fact, dict=True):
    """An argument of a training framework gets a value that means something on the NPU; the name is the argument."""

    if TYPE_CHECKING:

        @property
        def _rule(self) -> ArgumentRule: ...
        @property
        def _setting(self) -> Setting: ...

    @property
    def name(self) -> str:
        """The argument, dotted where it is nested."""
        return self._setting.name

    @attribute
    def cause(self) -> str:
        """What the value has in common with others: a word of the table of arguments, such as `tf32`."""
        return self._rule.cause

    @attribute
    def effect(self) -> Effect:
        """What the value does: the training stops (refused), or the argument is ignored, slow, wrong (the numbers are),
        cpu (computes there), or fine."""
        return self._rule.effect

    @attribute
    def value(self) -> str:
        """The value as written; `unset` for an argument that is left out."""
        return written(self._setting.value) if self._rule.values != ("unset",) else "unset"

    @attribute
    def framework(self) -> str:
        """The framework, as its users call it."""
        return configured_framework(self._setting.framework).title

    @attribute
    def instead(self) -> str:
        """The value to write instead, or `-`."""
        return self._rule.instead or NONE

    @attribute
    def replaceable(self) -> bool:
        """Whether the value to write instead is known."""
        return self._rule.instead not in ("", NONE) and self._rule.values != ("unset",)

    @attribute
    def via(self) -> Via:
        """Where the value comes from."""
        return self._setting.via


@fact_kind("training_argument")
class TrainingArgument(ArgumentMeaning, dict=True):
    """An argument of a training framework gets a value in a configuration file or on a command line."""

    _rule: ArgumentRule
    _setting: Setting

    @property
    def path(self) -> str:
        """The path of the file."""
        return self._setting.path

    @property
    def span(self) -> Span:
        """Where the value is written."""
        return self._setting.span

    @attribute
    def guarded(self) -> bool:
        """Whether the value is given under some condition only."""
        return self._setting.guarded


def training_arguments(settings: Sequence[Setting], versions: Versions) -> Iterator[TrainingArgument]:
    """A fact for each of these settings of one start that means something on the NPU. The settings of all frameworks
    of the start count for conditions."""
    for rule, setting in meanings(settings, versions):
        yield TrainingArgument(rule, setting)


def meanings(settings: Sequence[Setting], versions: Versions) -> Iterator[tuple[ArgumentRule, Setting]]:
    """What the settings of one start mean, with the rule that says so."""
    values: dict[str, list[object]] = {}
    for one in settings:
        values.setdefault(one.name, []).append(one.value)
    for one in settings:
        rule = _rule(one, values, versions)
        if rule is not None:
            yield rule, one
    for framework in dict.fromkeys(name for one in settings for name in with_inherited(one.framework)):
        for rule in rules_about_absence(framework):
            if rule.argument not in values and _holds(rule, values, versions):
                yield rule, _reason(rule, settings)


def _rule(setting: Setting, values: Mapping[str, list[object]], versions: Versions) -> ArgumentRule | None:
    """The first rule about a setting, of its framework before inherited ones."""
    if setting.value is None and setting.via != "file":
        return None  # computed
    for framework in with_inherited(setting.framework):
        for rule in rules_of(framework, setting.name):
            if matches(setting.value, rule.values) and _holds(rule, values, versions):
                return rule
    return None


def _holds(rule: ArgumentRule, values: Mapping[str, list[object]], versions: Versions) -> bool:
    """Whether the conditions of a rule on other arguments and on releases hold."""
    for name, patterns in rule.when:
        given = values.get(name)
        if given is None:
            if patterns != ("unset",):
                return False
        elif not any(matches(one, patterns) for one in given):
            return False
    return all(_is_release(text, versions) for text in rule.versions)


def _is_release(condition: str, versions: Versions) -> bool:
    """Whether a project is about these releases of a package. Where it does not say so, the newest release counts."""
    found = _VERSION.fullmatch(condition)
    if found is None:
        return False
    package, operator, release = found.groups()
    older = excludes_from(versions.get(package.replace("_", "-"), ""), release)
    return older if operator == "<" else not older


def _reason(rule: ArgumentRule, settings: Iterable[Setting]) -> Setting:
    """The setting that makes an argument necessary that is left out."""
    names = [name for name, _ in rule.when]
    found = [one for one in settings if one.name in names]
    found.sort(key=lambda one: names.index(one.name))
    return msgspec.structs.replace(found[0], name=rule.argument)


__all__ = ["ArgumentMeaning", "TrainingArgument", "Versions", "meanings", "training_arguments"]

"""Facts about arguments of training frameworks that mean something on the NPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.training_arguments import (
    UNSET,
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
from npulint.model.programs.configured.settings import Setting, TrainingStart, Via
from npulint.model.values.context import Context, once
from npulint.read.chip_names import NamedToolkit
from npulint.read.launcher_facts import NONE
from npulint.read.packages import Dependency
from npulint.read.requirement import excludes_from

_SWITCHED = ("true", "false")
_HALF = ("mixed-precision", "float16-without-loss-scale", "fused-optimizer-loss-scaling")
"""Causes of arguments with which a training computes in half precision."""
_BFLOAT16 = lazy_compile(r"bf(?:loat)?16")
_CAST = lazy_compile(r"16-true$|^pure_bf16=")
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
    def half(self) -> Literal["float16", "bfloat16", "none"]:
        """The type of half precision that the training computes in because of it, or none."""
        if self.cause not in _HALF:
            return "none"
        return "bfloat16" if _BFLOAT16.search(f"{self.name}={self.value}") else "float16"

    @attribute
    def casts(self) -> bool:
        """Whether it converts the parameters to this type, so that the optimizer updates them in half precision."""
        return _CAST.search(f"{self.name}={self.value}") is not None

    @attribute
    def value(self) -> str:
        """The value as written, `true` and `false` for those of switches; `unset` for an argument that is not given."""
        value, text = self._setting.value, written(self._setting.value)
        return value.strip() if isinstance(value, str) and text not in _SWITCHED else text

    @attribute
    def framework(self) -> str:
        """The framework, as its users call it."""
        return configured_framework(self._setting.framework).title

    @attribute
    def instead(self) -> str:
        """The value to write instead, or `-`; a switch is turned off where the argument can be removed."""
        return self._rule.instead or ("false" if self.value == "true" else NONE)

    @attribute
    def replaceable(self) -> bool:
        """Whether the value to write instead is known."""
        return self.instead != NONE and self._setting.value != UNSET

    @attribute
    def others(self) -> str:
        """The other arguments that make it so, as `name=value` (`unset` where omitted), joined by spaces, or
        `-`."""
        return " ".join(f"{name}={'|'.join(values)}" for name, values in self._rule.when) or NONE

    @attribute
    def chips(self) -> str:
        """The chips on which the value means that, joined by spaces; empty for all."""
        return " ".join(self._rule.chips)

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


@fact_kind("unknown_release")
class UnknownRelease(Fact, dict=True):
    """What the argument of a training framework means depends on the release of a package, and nothing shows which is
    installed; the name is the package. It is taken for the newest one, and the report names the checks that would find
    something with another."""

    package: str
    """The package, or `cann`."""
    releases: str
    """The releases with which the argument means something, such as ``<7.0.0``."""
    _supposed: ArgumentMeaning

    @property
    def name(self) -> str:
        """The package."""
        return self.package

    @property
    def path(self) -> str:
        """The path of the file with the argument."""
        return self._supposed.path

    @property
    def span(self) -> Span:
        """Where the argument is written."""
        return self._supposed.span

    def supposed(self) -> ArgumentMeaning:
        """The fact about the argument that such a release would make."""
        return self._supposed


def training_arguments(
    settings: Sequence[Setting], versions: Versions, start: TrainingStart | None = None
) -> Iterator[TrainingArgument | UnknownRelease]:
    """A fact for each of these settings of one start that means something on the NPU, and for each that may. The
    settings of all frameworks of the start count for conditions."""
    for rule, setting in meanings(settings, versions):
        yield TrainingArgument(rule, setting)
    for condition, rule, setting in open_meanings(settings, versions):
        yield unknown_release(condition, TrainingArgument(rule, setting))
    if start is not None and start.complete:
        for rule, setting in _defaults(settings, versions, start):
            yield TrainingArgument(rule, setting)


def meanings(settings: Sequence[Setting], versions: Versions) -> Iterator[tuple[ArgumentRule, Setting]]:
    """What the settings of one start mean, with the rule that says so; arguments that are left out where the condition
    of a rule makes them necessary."""
    given = _Given(settings, versions)
    for setting in settings:
        for rule in given.rules(setting):
            yield given.as_found(rule), setting
    for framework in dict.fromkeys(name for setting in settings for name in with_inherited(setting.framework)):
        for rule in rules_about_absence(framework):
            if rule.argument not in given.values and rule.when and given.holds(rule):
                yield given.as_found(rule), _reason(rule, framework, settings)


def _defaults(
    settings: Sequence[Setting], versions: Versions, start: TrainingStart
) -> Iterator[tuple[ArgumentRule, Setting]]:
    """What the defaults of arguments do that a command line leaves out."""
    given = _Given(settings, versions)
    for framework in with_inherited(start.framework):
        for rule in rules_about_absence(framework):
            if rule.argument not in given.values and not rule.when and given.holds(rule):
                yield rule, Setting(framework, rule.argument, UNSET, start.path, start.span, "command line")


def open_meanings(settings: Sequence[Setting], versions: Versions) -> Iterator[tuple[str, ArgumentRule, Setting]]:
    """What the settings of one start would mean with an older release of a package that nothing shows the release of:
    the condition (``gptqmodel<7.0.0``), the rule that says so, and the setting."""
    given = _Given(settings, versions)
    for setting in settings:
        for rule in given.open_rules(setting):
            for condition in filter(given.is_open, rule.versions):
                yield condition, given.as_found(rule), setting


def unknown_release(condition: str, supposed: ArgumentMeaning) -> UnknownRelease:
    """The fact that the release in a condition is unknown."""
    package = condition[: next(place for place, sign in enumerate(condition) if sign in "<>")]
    return UnknownRelease(package.replace("_", "-"), condition[len(package) :], supposed)


class _Given:
    """The arguments of one start, against which conditions of rules are tested."""

    def __init__(self, settings: Sequence[Setting], versions: Versions) -> None:
        self._versions = versions
        self.values: dict[str, list[object]] = {}
        for setting in settings:
            self.values.setdefault(setting.name, []).append(setting.value)

    def rules(self, setting: Setting) -> list[ArgumentRule]:
        """The rules about a setting that say something: the first that holds, of its framework before inherited ones,
        and those about single chips."""
        if setting.value is None and setting.via != "file":
            return []  # computed
        for matching in _matching(setting):
            holding = [rule for rule in matching if self.holds(rule)]
            if holding:
                return _telling(holding)
        return []

    def open_rules(self, setting: Setting) -> list[ArgumentRule]:
        """The rules about a setting that do not hold, but would say something with older releases of packages that
        nothing shows the release of."""
        if setting.value is None:
            return []
        for matching in _matching(setting):
            opened = [rule for rule in matching if rule.effect != "fine" and rule in self._supposing(rule, matching)]
            if opened or any(self.holds(rule) for rule in matching):
                return opened
        return []

    def _supposing(self, rule: ArgumentRule, matching: Sequence[ArgumentRule]) -> list[ArgumentRule]:
        """The rules that say something if the packages of unknown release that a rule names are older than it says;
        none where it names no such package."""
        found = [_VERSION.fullmatch(text) for text in rule.versions if self.is_open(text)]
        if not found:
            return []
        older = {match[1].replace("_", "-"): f"<{match[3]}" for match in found if match is not None}
        versions = {**self._versions, **older}
        return _telling([other for other in matching if self.holds(other, versions)])

    def is_open(self, condition: str) -> bool:
        """Whether a condition is about older releases of a package that nothing shows the release of."""
        match = _VERSION.fullmatch(condition)
        return match is not None and match[2] == "<" and not self._versions.get(match[1].replace("_", "-"))

    def as_found(self, rule: ArgumentRule) -> ArgumentRule:
        """A rule that holds, with the values that the other arguments have."""
        when = tuple(
            (name, tuple(dict.fromkeys(written(value) for value in self.values[name] if matches(value, patterns))))
            if name in self.values
            else (name, (UNSET,))
            for name, patterns in rule.when
        )
        return msgspec.structs.replace(rule, when=when) if when else rule

    def holds(self, rule: ArgumentRule, versions: Versions | None = None) -> bool:
        """Whether the conditions of a rule on other arguments and on releases hold, with other `versions` than those of
        the project if they are given."""
        for name, patterns in rule.when:
            given = self.values.get(name)
            if given is None:
                if UNSET not in patterns:
                    return False
            elif not any(matches(value, patterns) for value in given):
                return False
        known = self._versions if versions is None else versions
        return all(_is_release(text, known) for text in rule.versions)


def _matching(setting: Setting) -> Iterator[list[ArgumentRule]]:
    """The rules about an argument with this value: those of its framework, then those of each inherited one."""
    for framework in with_inherited(setting.framework):
        yield [rule for rule in rules_of(framework, setting.name) if matches(setting.value, rule.values)]


def _telling(holding: Sequence[ArgumentRule]) -> list[ArgumentRule]:
    """Of rules that hold the first, and the first about single chips, if they say something."""
    of_all = [rule for rule in holding if not rule.chips or rule.effect == "fine"][:1]
    of_chips = [rule for rule in holding if rule.chips and rule.effect != "fine"][:1]
    return [rule for rule in of_all + of_chips if rule.cause]


def _is_release(condition: str, versions: Versions) -> bool:
    """Whether a project is about these releases of a package. Where it does not say so, the newest release counts."""
    match = _VERSION.fullmatch(condition)
    if match is None:
        return condition.replace("_", "-") in versions
    package, operator, release = match.groups()
    older = excludes_from(versions.get(package.replace("_", "-"), ""), release)
    return older if operator == "<" else not older


def _reason(rule: ArgumentRule, framework: str, settings: Iterable[Setting]) -> Setting:
    """The setting that makes an argument of the framework necessary that is left out."""
    names = [name for name, _ in rule.when]
    candidates = [setting for setting in settings if setting.name in names] or list(settings)
    candidates.sort(key=lambda setting: names.index(setting.name) if setting.name in names else 0)
    return msgspec.structs.replace(candidates[0], name=rule.argument, framework=framework, value=UNSET)


__all__ = [
    "ArgumentMeaning",
    "TrainingArgument",
    "UnknownRelease",
    "Versions",
    "meanings",
    "open_meanings",
    "training_arguments",
    "unknown_release",
]


# The releases of packages that a project requires.


@once
def required_versions(context: Context) -> Versions:
    """The version specifier of each package that the project requires, the first in the order of its files, and of
    CANN. What the target declares comes first."""
    versions = {name: f"=={release}.*" for name, release in context.declared.items() if release}
    toolkits = {fact.version for file in context.project.files for fact in file.facts if isinstance(fact, NamedToolkit)}
    if len(toolkits) == 1:
        versions.setdefault("cann", f"=={toolkits.pop()}")
    for file in context.project.files:
        for fact in file.facts:
            if isinstance(fact, Dependency) and not versions.get(fact.name):
                versions[fact.name] = fact.version
    return versions

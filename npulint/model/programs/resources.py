"""Adds attributes to facts that depend on all facts of a project, also across files of different kinds."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Literal

from npulint.data.option_rules import OptionRule, holds, rules
from npulint.data.options import option
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.values import PossibleValues
from npulint.model.code.index import FactTable
from npulint.model.code.iteration_sinking import sinks_iterations
from npulint.model.code.project import Project
from npulint.model.programs.adapter_settings import AdapterSetting, Mechanism
from npulint.model.programs.environment import Scripts, complete_launches
from npulint.model.programs.project_options import Declared, ProjectOptions, holder
from npulint.model.running.code_facts import PlaceFact
from npulint.model.values.file_paths import ProjectFiles
from npulint.read.mixlist import MixlistFile

# Checks combinations of adapter options on one custom optimizer, one NPURunConfig or the global options against the
# rules of `npulint.data.option_rules`.

Group = dict[str, list[AdapterSetting]]
"""The settings of one holder by option key."""

_MILLISECONDS = 1000  # stream_sync_timeout is in milliseconds, hccl_timeout in seconds
_UNSET = "unset"


@fact_kind("option_conflict")
class OptionConflict(PlaceFact):
    """A setting breaks a rule by what another option is set to on the same custom optimizer, NPURunConfig or global
    options; the name is the rule in ``data-src/option_rules.csv``."""

    _setting: AdapterSetting
    other: str
    """The other option."""
    other_value: str
    """The value of the other option; unset without a value."""

    @attribute
    def option(self) -> str:
        """The option that breaks the rule, as it is spelled."""
        return self._setting.name

    @attribute
    def value(self) -> PossibleValues:
        """What it is set to."""
        return self._setting.value

    @attribute
    def via(self) -> Mechanism:
        """The mechanism by which it is set."""
        return self._setting.via

    @attribute
    def entry(self) -> str | None:
        """The place of the custom optimizer or of the NPURunConfig on which it is set."""
        return self._setting.entry

    @attribute
    def key(self) -> str:
        """The key of the setting."""
        return self._setting.key

    @attribute
    def root(self) -> str | None:
        """Of a session key the custom optimizer as written."""
        root: str | None = self._setting.get("root")
        return root


def option_conflicts(settings: Sequence[AdapterSetting]) -> list[OptionConflict]:
    """One conflict for each rule that a group of settings violates, at the setting that violates it. Uncertain values
    and settings that are inactive by default violate nothing."""
    groups: dict[str, Group] = defaultdict(lambda: defaultdict(list))
    for setting in settings:
        adapter_option = option(setting.name)
        if adapter_option is not None:
            groups[holder(setting)][adapter_option.key].append(setting)
    loose = {key for name, group in groups.items() if name.startswith("?") for key in group}
    session = {adapter_setting.name for adapter_setting in settings if adapter_setting.via == "session_key"}
    conflicts = []
    for name, group in groups.items():
        via = next(iter(group.values()))[0].via
        elsewhere = loose | session if "session_config" in group else loose
        conflicts += _broken(group, via, None if name.startswith("?") else elsewhere)
    return conflicts


def _broken(group: Group, via: Mechanism, unseen: set[str] | None) -> list[OptionConflict]:
    """`unseen` are the options that may be set here although they were found elsewhere; None: any may."""
    broken = []
    for rule in rules():
        settings = group.get(rule.option)
        if not settings or (rule.mechanisms and via not in rule.mechanisms):
            continue
        first = _first_certain(settings, rule.when, via)
        if first is None or not _meanwhile(group, rule, via):
            continue
        others = group.get(rule.other, [])
        sees_all = unseen is not None and rule.other not in unseen and not _is_incomplete(group)
        answer = _answer(rule, first, others, via, sees_all)
        if answer is not None:
            broken.append(_conflict(rule, first, others, via, answer))
    return broken


def _answer(
    rule: OptionRule, first: AdapterSetting, others: list[AdapterSetting], via: Mechanism, sees_all: bool
) -> str | None:
    """The value of the other option if it violates the rule."""
    if rule.kind == "idle":
        return _UNSET if sees_all and not others and not _is_default(first, via) else None
    if rule.kind == "lacks":
        quiet = not sees_all or any(_state(other, rule.other_when, via) != "no" for other in others)
        return None if quiet else _text(others) or _UNSET
    if rule.other_when == "any" and not others:
        return _default(rule.other, via)
    if rule.kind == "below" and not others and sees_all:
        return rule.usual if _is_below(first, rule.usual) else None
    certain = _first_certain(others, rule.other_when, via)
    if certain is None or (rule.kind == "below" and not _is_below(first, _text([certain]))):
        return None
    return _text([certain])


def _conflict(
    rule: OptionRule, setting: AdapterSetting, others: list[AdapterSetting], via: Mechanism, answer: str
) -> OptionConflict:
    adapter_option = option(rule.other)
    use = None if adapter_option is None else adapter_option.uses.get(via)
    other = others[0].name if others else rule.other if use is None else use.name
    return OptionConflict(setting.scope, setting.span, rule.rule, setting, other, answer)


def _meanwhile(group: Group, rule: OptionRule, via: Mechanism) -> bool:
    """Whether the precondition of the rule certainly holds."""
    if not rule.meanwhile:
        return True
    key, _, value = rule.meanwhile.partition("=")
    return _first_certain(group.get(key, []), value, via) is not None


def _first_certain(settings: list[AdapterSetting], condition: str, via: Mechanism) -> AdapterSetting | None:
    """The first setting that certainly meets a condition, if every other setting that may be active does so as well."""
    running = [setting for setting in settings if setting.active != "no"]
    if any(_state(setting, condition, via) != "yes" for setting in running):
        return None
    return next((setting for setting in running if setting.active == "yes"), None)


def _state(setting: AdapterSetting, condition: str, via: Mechanism) -> Literal["yes", "no", "maybe"]:
    """Whether a setting meets a condition."""
    value = setting.value
    if not value.exact or not value.values:
        return "yes" if condition == "any" or (condition == "*" and via == "session_key") else "maybe"
    answers = {holds(condition, scalar) for scalar in value.values}
    return "maybe" if len(answers) > 1 else "yes" if True in answers else "no"


def _is_incomplete(group: Group) -> bool:
    """Whether the source does not show all arguments (``**options``)."""
    return any(setting.is_incomplete for settings in group.values() for setting in settings)


def _text(settings: list[AdapterSetting]) -> str:
    return settings[0].value.text() if settings else ""


def _default(key: str, via: Mechanism) -> str:
    adapter_option = option(key)
    use = None if adapter_option is None else adapter_option.uses.get(via)
    return _UNSET if use is None or use.default is None else use.default


def _is_default(setting: AdapterSetting, via: Mechanism) -> bool:
    adapter_option = option(setting.name)
    return adapter_option is not None and _text([setting]) == _default(adapter_option.key, via)


def _is_below(setting: AdapterSetting, seconds: str) -> bool:
    """Whether a time in milliseconds is no longer than one in seconds."""
    return all(isinstance(value, int) and value <= int(seconds) * _MILLISECONDS for value in setting.value.values)


def complete(tables: dict[str, FactTable], other: list[FactTable], project: Project, declared: Declared) -> None:
    """Gives the facts of a project access to what else the project sets, which files it has and what launchers pass,
    and adds facts about conflicting settings. `tables` are the facts of its modules by path, `other` those of other
    files."""
    _complete_options(tables, project, declared)
    _complete_environment([*tables.values(), *other])


def _complete_options(tables: dict[str, FactTable], project: Project, declared: Declared) -> None:
    """Connects adapter settings, custom optimizers and passed options with each other."""

    def found(kind: str) -> list[Any]:
        return [fact for part in tables.values() for fact in part.get(kind, ())]

    settings = [fact for fact in found("setting") if isinstance(fact, AdapterSetting)]
    optimizers, passed = found("npu_optimizer"), found("launch_option")
    sinking = [call for call in found("call") if sinks_iterations(call)] if settings else []
    files = ProjectFiles([file.path for file in project.files], project.root)
    options = ProjectOptions(settings, optimizers, passed, declared, sinking, files)
    for fact in (*settings, *optimizers, *passed, *found("adapter_name")):
        fact.complete(options)
    for conflict in option_conflicts([setting for setting in settings if setting.is_own]):
        tables[conflict.path].setdefault("option_conflict", []).append(conflict)
    _lists(settings, project)


def _complete_environment(tables: list[FactTable]) -> None:
    """Connects environment variables and started scripts with each other."""

    def found(kind: str) -> list[Any]:
        return [fact for part in tables for fact in part.get(kind, ())]

    variables, launches = found("environment"), found("launch")
    scripts = Scripts(variables, (fact.name for fact in found("environment_read")), launches)
    for variable in variables:
        variable.complete(scripts)
    complete_launches(launches, scripts)
    for problem in found("shell_problem"):
        problem.exported = bool(scripts.setting(problem.variable))


def _lists(settings: list[AdapterSetting], project: Project) -> None:
    """Sets on list files whether the project uses them (`used`): yes for the only one that its settings can name,
    several if they name more than one."""
    lists = [fact for file in project.files for fact in file.facts if isinstance(fact, MixlistFile)]
    if not lists:
        return
    named: set[str] = set()
    for fact in settings:
        if fact.name != "modify_mixlist":
            continue
        bases = {posixpath.basename(path.text) for path in fact.paths}
        if bases:
            named.update(file.path for file in lists if posixpath.basename(file.path) in bases)
        else:
            named.update(file.path for file in lists)
    for mixlist_file in lists:
        mixlist_file.used = "no" if mixlist_file.path not in named else "yes" if len(named) == 1 else "several"

"""Adds attributes to facts that depend on all facts of a project, also across files of different kinds."""

from __future__ import annotations

import posixpath
from typing import Any

from npulint.model.code.index import FactTable
from npulint.model.code.iteration_sinking import sinks_iterations
from npulint.model.code.project import Project
from npulint.model.programs.adapter_settings import AdapterSetting
from npulint.model.programs.environment import Scripts, complete_launches
from npulint.model.programs.option_rules import option_conflicts
from npulint.model.programs.project_options import Declared, ProjectOptions
from npulint.model.values.file_paths import ProjectFiles
from npulint.read.mixlist import MixlistFile


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
            named.update(one.path for one in lists if posixpath.basename(one.path) in bases)
        else:
            named.update(one.path for one in lists)
    for mixlist_file in lists:
        mixlist_file.used = "no" if mixlist_file.path not in named else "yes" if len(named) == 1 else "several"

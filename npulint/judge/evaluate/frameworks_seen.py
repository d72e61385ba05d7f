"""What is seen of frameworks in a project, for reports on projects in which no training program is found."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from npulint.data.training_arguments import configured_framework
from npulint.facts.model import FileFacts
from npulint.facts.roles import Role
from npulint.judge.findings import FrameworkUse
from npulint.model.programs.configured.files import training_file
from npulint.read.configuration import KIND
from npulint.read.launcher_facts import LaunchFact
from npulint.recognizers.file_role import APART
from npulint.recognizers.programs import Program

# What is seen of frameworks, joined across files and projects.

SHOWN = ("tensorflow", "keras", "tf_slim", "npu_bridge", "npu_device", "torch", "torch_npu", "lightning")
"""The frameworks and adapters whose imports are shown, in this order."""
_ORDER = ("training", "import", "configuration", "start")


def joined(uses: Iterable[FrameworkUse]) -> list[FrameworkUse]:
    """What is seen in several projects as one."""
    seen: dict[tuple[str, str], FrameworkUse] = {}
    for use in uses:
        add(seen, use)
    return sorted(seen.values(), key=_rank)


def _rank(use: FrameworkUse) -> tuple[int, int, str]:
    place = SHOWN.index(use.framework) if use.framework in SHOWN else len(SHOWN)
    return _ORDER.index(use.use), place, use.framework


def add(seen: dict[tuple[str, str], FrameworkUse], framework_use: FrameworkUse) -> None:
    """Add what is seen to what was found before, with the first place of both."""
    key = (framework_use.use, framework_use.framework)
    other = seen.get(key)
    first = framework_use if other is None else min(framework_use, other, key=lambda use: (use.path, use.line))
    files = framework_use.files + (0 if other is None else other.files)
    seen[key] = FrameworkUse(framework_use.framework, files, first.path, first.line, framework_use.use)


_STARTING = {"pytorch_lightning": "lightning"}
_STARTED = 8  # scripts that are listed


def frameworks_seen(files: Sequence[FileFacts]) -> list[FrameworkUse]:
    """The frameworks and adapters that Python files import, the frameworks of configuration files, and the scripts and
    modules that launchers start and that are not among the files: for each the number of files and the first place."""
    paths = {posixpath.basename(file.path) for file in files if file.code is not None}
    seen: dict[tuple[str, str], FrameworkUse] = {}
    for file in files:
        for use in {framework_use.framework: framework_use for framework_use in _in_file(file, paths)}.values():
            add(seen, use)
    starts = [framework_use for framework_use in seen.values() if framework_use.use == "start"]
    dropped = {framework_use.framework for framework_use in sorted(starts, key=lambda use: -use.files)[_STARTED:]}
    return [
        framework_use
        for framework_use in seen.values()
        if framework_use.use != "start" or framework_use.framework not in dropped
    ]


def unstarted_training(programs: Iterable[Program], roles: Mapping[str, Role]) -> list[FrameworkUse]:
    """The training code that no script starts, by framework; that of files with a role for which nobody trains, such as
    tests, does not count."""
    seen: dict[tuple[str, str], FrameworkUse] = {}
    for program in programs:
        if program.entry or not program.fact.trains or program.fact.graph is not None or program.fact.run:
            continue
        steps = [fact for fact in program.index.of_kind("train_step") if fact.get("in_test") != "yes"]
        first: dict[str, int] = {}
        for step in steps:
            if roles.get(step.path) not in APART:
                first[step.path] = min(first.get(step.path, step.span.line), step.span.line)
        for path, line in first.items():
            add(seen, FrameworkUse(program.fact.framework, 1, path, line, "training"))
    return list(seen.values())


def _in_file(file: FileFacts, scripts: set[str]) -> Iterator[FrameworkUse]:
    """What is seen in one file, the first place of each last. `scripts` are the names of the project's modules."""
    if file.code is not None:
        for record in reversed(file.code.imports):
            root = (record.module or record.name).partition(".")[0] if not record.level else ""
            name = _STARTING.get(root, root)
            if name in SHOWN:
                yield FrameworkUse(name, 1, file.path, record.line)
    elif file.kind == KIND:
        configuration = training_file(file)
        if configuration is not None:
            title = configured_framework(configuration.framework).title
            yield FrameworkUse(title, 1, file.path, 1, "configuration")
    for fact in reversed(file.facts):
        if isinstance(fact, LaunchFact) and not fact.record.sourced and fact.record.path.endswith(".py"):
            name = posixpath.basename(fact.record.path)
            if "*" not in name and name not in scripts:
                yield FrameworkUse(fact.name, 1, file.path, fact.span.line, "start")

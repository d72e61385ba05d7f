"""Programs: an entry script with all project modules that it imports, and the attributes of the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from npulint.core.cancellation import checkpoint
from npulint.data.training_arguments import framework_started_by
from npulint.facts.code import Ref
from npulint.facts.model import Fact
from npulint.model.code.index import FactTable, Index, table
from npulint.model.code.module import Module
from npulint.model.code.origin import Origin
from npulint.model.code.reached import IMPORTED, STARTED, Place, Reached, Search, home
from npulint.model.programs.entry_scripts import EntryScripts, place_of
from npulint.model.programs.environment_variables import EnvironmentVariable
from npulint.model.programs.program_fact import ProgramFact
from npulint.model.programs.state import ProgramReach, describe, is_of_adapter
from npulint.model.programs.torch_state import megatron, state
from npulint.model.running.adaptors import packages_under_adaptor
from npulint.model.running.call_graph import possible_calls, sure_calls
from npulint.model.running.code_facts import CodeFact
from npulint.model.running.guards import of_other_script, surely_runs
from npulint.model.running.reach import HowReached, Reach
from npulint.model.values.context import Context
from npulint.model.values.cursors import scope_at
from npulint.model.values.script_role import is_test_file, purpose
from npulint.read.console_scripts import ConsoleScript
from npulint.recognizers.alternatives import Alternatives
from npulint.recognizers.counterparts import counterpart
from npulint.recognizers.imported_modules import ImportedModules
from npulint.recognizers.npu_need import NpuNeed
from npulint.recognizers.remote_training import is_loaded_remotely, trains_remotely
from npulint.recognizers.started_files import StartedFiles
from npulint.recognizers.torch.execution_order import placed

if TYPE_CHECKING:
    from npulint.recognizers.tensorflow.estimators import Estimator
    from npulint.recognizers.tensorflow.sessions import Session
    from npulint.recognizers.tensorflow.steps import OptimizerStep
    from npulint.recognizers.torch.device_uses import CudaUse
    from npulint.recognizers.torch.extensions import BuilderCall

PORTED = ("manual", "transfer")
"""How programs are migrated that were changed for it."""
_BY_HAND = ("none", "manual")  # ways of porting that leave CUDA names to whoever changes the code


StartedBy = Literal["console_script", "launcher", ""]


class Program:
    """One entry script (empty for a library) and the modules that it imports. `fact` holds for the program as a
    whole. `answers` caches what checks compute from the facts, which the programs of a project share. `source_files`:
    the files of the code that a training run came from, if known; `origins`: the lines there of one of its facts."""

    def __init__(self, entry: str, root: str, paths: list[str], index: Index, fact: ProgramFact) -> None:
        self.answers: dict[Any, Any] = {}
        self.entry = entry
        self.root = root
        self.paths = paths
        self.index = index
        self.source_files: frozenset[str] | None = None
        self.origins: Callable[[Fact], tuple[Origin, ...]] = lambda _: ()
        self.started_by: StartedBy = ""
        """What starts the entry script: an installed command, or launchers; set by `Programs`."""
        self.launches = 0
        """How many launchers start the entry script; set by `Programs`."""
        self.tests_itself = False
        """Whether the entry script is a module that runs its own tests when it is started; set by `Programs`."""
        self.is_left_over = False
        """Whether it is what no entry script reaches, in a project with programs that train; set by `Programs`."""
        self.is_example = False
        """Whether it is a configuration that nothing of the project starts, beside trainings that are scripts or are
        started; set by `Programs`."""
        self.is_tool = False
        """Whether its entry script trains nothing, in a project with programs that train; set by `Programs`."""
        self.how_runs: Callable[[Fact], HowReached] = lambda _: "surely"
        """How the entry script reaches a fact of the program; set by `Programs`."""
        self.is_of_other_script: Callable[[Fact], bool] = lambda _: False
        """Whether only another script runs a fact of the program when it is started, in PyTorch programs; the checks of
        TensorFlow programs report such facts here too. Set by `Programs`."""
        self.runs_elsewhere: Callable[[Fact], bool] = lambda _: False
        """Whether only another script runs a fact of the program when it is started; set by `Programs`."""
        self.may_lack_npu: Callable[[Fact], bool] = lambda _: True
        """Whether the file of a fact may also be used where there is no NPU; set by `Programs`."""
        self.fact = msgspec.structs.replace(fact, name=entry, path=entry or (paths[0] if paths else ""))

    def surely_runs(self, fact: Fact) -> bool:
        """Whether the entry script surely reaches a fact of the program."""
        return self.how_runs(fact) == "surely"


Configured = Callable[[FactTable, list[Program]], list[Program]]
"""Makes the programs that are only configured; see `Programs.all`."""


class Programs:
    """Finds the programs of one project."""

    def __init__(
        self,
        context: Context,
        facts: dict[str, FactTable],
        other: list[FactTable],
        adapter: str = "",
        torch: str = "",
        configurations: Mapping[str, Set[str]] = {},
        configured: Set[str] = frozenset(),
    ) -> None:
        """`configurations`: the files, by entry script, that configure its only configured start; `configured`: the
        launchers of trainings that are only configured."""
        self.context = context
        self._launches = context.options.passed.launches
        self._started = StartedFiles(context.project, self._launches, configurations, configured)
        self.facts = facts
        self.other = other
        self._others = table(fact for part in other for facts in part.values() for fact in facts)
        self._parts: list[tuple[Set[str], FactTable]] = [(frozenset(), self._others)]  # by the scripts they concern
        self._adapter = adapter
        self._torch = torch
        self._modules = ImportedModules(context)
        self._alternatives = Alternatives(facts)
        self._uses = Reached(context.project)

    def all(self, configured: Configured = lambda *_: []) -> list[Program]:
        """Programs with an entry script first, then those that are only configured, then one library program of what no
        entry script imports. `configured` makes the second of the facts that belong to no code and of the first."""
        started = {*self._launches.by_entry, *(path for path, functions in self._installed.items() if functions)}
        finder = EntryScripts(self.context, self.facts, started, self._modules.closure, self._modules.imported)
        entries = [m for _, m in sorted(self.context.project.modules.items()) if finder.is_entry(m)]
        paths = {module.path for module in entries}
        self._parts = self._started.parted((fact for facts in self._others.values() for fact in facts), paths)
        programs = []
        for module in entries:
            checkpoint()
            programs.append(self._program(module.path, sorted(self._modules.closure(module))))
            programs[-1].index.release()
        reached = {p for program in programs for p in program.paths}
        rest = sorted(set(self.context.project.modules) - reached)
        programs += configured(self._others, list(programs))
        if rest or not entries:
            programs.append(self._program("", rest, with_others=not entries))
        self._relate(programs)
        for program in programs:
            program.answers = programs[0].answers
        return programs

    def _relate(self, programs: list[Program]) -> None:
        """Sets attributes that depend on the whole project: whether any program uses an NPU adapter (`project_npu`),
        whether the program does so itself (`own_npu`), PyTorch programs that are left to CUDA beside others, the
        TensorFlow version of programs without evidence, and for sessions, estimators and extensions whether a training
        program reaches them (`reached`). A program that trains is judged by itself: others on the NPU say nothing of
        it, but for one that is started instead of it."""
        _share_adaptor(programs)
        ported = [program for program in programs if _is_ported(program)]
        training = [program for program in ported if program.fact.trains]
        opens = any(p.index.of_kind("npu_open") for p in programs)
        redirected = any(program.fact.migration == "transfer" for program in programs)
        for program in programs:
            fact = program.fact
            fact.own_npu = fact.npu and (not opens or _ports_itself(program))
            if _is_unported_training(program):
                fact.counterpart = counterpart(program, training, self.context)
                fact.project_npu = fact.counterpart != ""
            else:
                trains = fact.framework == "torch" and fact.trains and program.entry
                fact.project_npu = bool(training if trains else ported)
            left = program.entry and (not fact.configured or redirected)  # a configuration has no code to migrate
            if fact.project_npu and fact.migration == "none" and fact.framework == "torch" and left:
                fact.migration = "left"
        training_programs = [program for program in programs if program.entry and program.fact.trains]
        trained = bool(training_programs)
        offered = not all(program.is_example for program in training_programs)
        for program in programs:
            program.is_left_over = trained and not program.entry
            program.is_tool = trained and bool(program.entry) and not program.fact.trains
            program.is_example = program.is_example and offered
        _agree_on_tensorflow(programs)
        may_lack_npu = NpuNeed(self.context, programs).may_lack
        for program in programs:
            program.may_lack_npu = may_lack_npu
        for path, part in self.facts.items():
            near = [program for program in programs if program.fact.trains and path in program.paths]
            near = [program for program in near if not is_test_file(program.entry)] or near
            for kind in ("session", "estimator", "train_step"):
                for runner in cast("list[Session | Estimator | OptimizerStep]", part.get(kind, [])):
                    if not kind.startswith("train") or _is_of_tensorflow(near):
                        runner.reached = self._reached_by(runner, near)
            for builder in cast("list[BuilderCall]", part.get("cuda_extension", []) if near else []):
                builder.reached = self._reached_by(builder, near)
            for use in cast("list[CudaUse]", part.get("cuda", []) if near else []):
                use.find_reach = partial(self._reached_by, use, near)
                scripts = (program.entry for program in near if program.entry and not is_test_file(program.entry))
                use.in_training = not all(of_other_script(use.run_by, entry) for entry in scripts)

    def _reached_by(self, fact: CodeFact, programs: list[Program]) -> HowReached:
        """How any of some programs reaches a fact in one of their files."""
        if any(program.surely_runs(fact) for program in programs):
            return "surely"
        if programs and fact.path in self._modules.computed:
            return "maybe"  # what is called of it has a computed name too
        may = (
            self._reach(program.entry, program.paths, surely=False).reaches({place_of(fact)}) for program in programs
        )
        return "maybe" if any(may) else "no"

    def _program(self, entry: str, paths: list[str], with_others: bool = True) -> Program:
        index = Index([self.facts[p] for p in paths] + (self._parts_of(entry) if with_others else []))
        named = purpose(scope_at(self.context, self.context.project.modules[entry], 0)) if entry else "unknown"
        adapted = any(path.startswith(packages_under_adaptor(self.context)) for path in paths)
        named_code = self._uses.search(paths, entry)
        how_runs = partial(self._how_runs, paths=paths, entry=entry, index=index, named_code=named_code)
        may_run = partial(self._may_run, paths, entry, named_code)
        starts_workers = bool(framework_started_by(entry, self.context.project.root))

        def surely_runs_fact(of_index: Fact) -> bool:
            code = _code_of(of_index) if entry else None
            return how_runs(of_index) == "surely" if code is None else self._surely_reaches(code, paths, entry)

        trains = partial(trains_remotely, self.context, index, entry, paths, self._starts(entry, surely=False))

        def is_loaded(imported: Fact) -> bool:
            return not (entry and trains()) or is_loaded_remotely(self.context, entry, imported)

        reached = ProgramReach(may_run, surely_runs_fact, is_loaded)
        fact = describe(index, named, self._adapter, self._torch, reached, adapted, entry, starts_workers)
        fact.remote = bool(entry) and fact.framework == "torch" and fact.migration in _BY_HAND and trains()
        fact.ranks = self._ranks(entry)
        fact.megatron = megatron(index, paths, lambda imported: _is_in_any_case(imported, surely_runs_fact))
        fact.runtime_v2 = self._has_runtime_v2(entry, index)
        fact.entry = bool(entry)
        program = Program(entry, self.context.project.root, paths, index, fact)
        program.launches = len({launch.fact.path for launch in self._launches.by_entry.get(entry, ()) if launch.sure})
        program.tests_itself = bool(entry) and _tests_itself(self.context.project.modules[entry])
        program.started_by = "console_script" if entry in self._installed else "launcher" if program.launches else ""
        program.how_runs = how_runs
        if entry:
            program.runs_elsewhere = lambda any_fact: (
                isinstance(any_fact, CodeFact) and of_other_script(any_fact.run_by, entry)
            )
        if fact.framework == "torch":
            program.is_of_other_script = lambda any_fact: (
                isinstance(any_fact, CodeFact) and of_other_script(any_fact.run_by, entry)
            )
        return program

    def _parts_of(self, entry: str) -> list[FactTable]:
        """The facts that belong to no code and may concern an entry script (empty: none, which all concern)."""
        return [part for concerned, part in self._parts if not entry or not concerned or entry in concerned]

    def _may_run(self, paths: list[str], entry: str, named_code: Search, facts: Sequence[Fact], by_name: bool) -> bool:
        """Whether the program can reach the code of any of these facts; `by_name`: also where only the name of a call
        is that of a function."""
        if not entry or not facts:
            return bool(facts)
        places = {place_of(fact) for fact in facts if isinstance(fact, CodeFact)}
        if by_name and named_code.reaches(places):  # the cheaper question
            return True
        return self._reach(entry, paths, surely=False).reaches(places)

    def _how_runs(self, fact: Fact, paths: list[str], entry: str, index: Index, named_code: Search) -> HowReached:
        """How an entry script reaches a fact; all of a library counts as surely reached."""
        if not entry:
            return "surely"
        code = _code_of(fact)
        if code is None:
            return self._started.how_held(fact, entry, index)
        if self._surely_reaches(code, paths, entry):
            return "surely"
        if of_other_script(code.run_by, entry) or not self._may_run(paths, entry, named_code, [code], by_name=True):
            return "no"
        return "maybe"

    def _surely_reaches(self, fact: CodeFact, paths: list[str], entry: str) -> bool:
        if not surely_runs(fact.run_by) and not self._alternatives.are_everywhere(fact):
            return False
        reach = self._reach(entry, paths, surely=True)
        return reach.reaches({place_of(fact)}) or self._alternatives.are_in_every_choice(fact, reach.branches)

    def _reach(self, entry: str, paths: list[str], surely: bool) -> Reach:
        graph = sure_calls(self.context) if surely else possible_calls(self.context)
        starts = self._starts(entry, surely)
        return self.context.memoize(("reach", entry, surely), lambda: Reach(graph, entry, paths, starts))

    def _starts(self, entry: str, surely: bool) -> list[Place]:
        """Where an entry script begins."""
        commands = self._installed.get(entry, ())
        called = commands if len(commands) == 1 or not surely else ()  # which one of several is not known
        return [(entry, IMPORTED), (entry, STARTED), *called]

    def _ranks(self, entry: str) -> Literal["many", "one", "unknown"]:
        """The number of devices that launchers start this entry script on: many, one or unknown."""
        launchers = {launch.fact.path for launch in self._launches.by_entry.get(entry, ()) if launch.sure}
        counts = [int(size) for path in launchers for size in self._sized.get(path, ()) if size.isdigit()]
        return "unknown" if not counts else "many" if max(counts) > 1 else "one"

    def _has_runtime_v2(self, entry: str, index: Index) -> bool:
        """Whether runtime 2.0 is selected for a program, also by launchers that start no script of the project."""
        for fact in index.named("environment", "ENABLE_RUNTIME_V2"):
            started = () if isinstance(fact, CodeFact) else self._started.of_launcher(fact.path)
            if isinstance(fact, EnvironmentVariable) and fact.text == "1" and (not started or entry in started):
                return True
        return False

    @cached_property
    def _installed(self) -> dict[str, set[Place]]:
        """By the paths of modules that installed commands start, the functions there that these call."""
        project, installed = self.context.project, dict[str, set[Place]]()
        scripts = (fact for file in project.files for fact in file.facts if isinstance(fact, ConsoleScript))
        for script in scripts:
            for module in project.named(script.module):
                called = installed.setdefault(module.path, set())
                function = module.qualified.get(script.function)
                called.update([] if function is None else [(module.path, function)])
        return installed

    @cached_property
    def _sized(self) -> dict[str, set[str]]:
        """For each launcher the numbers of devices that it sets."""
        sized: dict[str, set[str]] = {}
        for part in self.other:
            for name in ("RANK_SIZE", "CM_WORKER_SIZE"):
                for fact in part.named("environment", name):
                    sized.setdefault(fact.path, set()).add(str(fact.get("value")))
        return sized


def _code_of(fact: Fact) -> CodeFact | None:
    """The fact itself if it is of code, else that of the code that uses it."""
    code = fact if isinstance(fact, CodeFact) else fact.used_by
    return code if isinstance(code, CodeFact) else None


def _is_of_tensorflow(programs: list[Program]) -> bool:
    return any(program.fact.framework == "tensorflow" for program in programs)


def _is_ported(program: Program) -> bool:
    """Whether a program imports an NPU adapter or is migrated without one."""
    return program.fact.npu or program.fact.migration in PORTED


def _is_unported_training(program: Program) -> bool:
    """Whether a program is a script of the project that trains with PyTorch, and nothing brings it to the NPU."""
    fact = program.fact
    is_script = bool(program.entry) and not fact.configured
    return is_script and fact.framework == "torch" and fact.trains and fact.migration == "none" and not fact.npu


def _is_in_any_case(imported: Fact, surely_runs: Callable[[Fact], bool]) -> bool:
    """Whether an import runs whenever the program does: it is not tried, not for type checkers, and no choice."""
    where = placed(imported.scope) if isinstance(imported, CodeFact) else "top"
    return where == "top" or (where == "function" and surely_runs(imported))


def _tests_itself(module: Module) -> bool:
    """Whether the code under ``if __name__ == "__main__"`` calls functions of the module that are named as tests."""
    tests = {name for block in module.blocks if block.kind == "function" and (name := block.name).startswith("test_")}
    return any(
        isinstance(call.callee, Ref) and call.callee.name in tests and home(module, call.block) == STARTED
        for call in (module.code.calls if tests and module.main_guards else ())
    )


def _ports_itself(program: Program) -> bool:
    """Whether the entry script itself imports an NPU adapter, and not only modules that it shares with migrated
    scripts."""
    return any(f.path == program.entry and is_of_adapter(f.name) for f in program.index.of_kind("import"))


def _share_adaptor(programs: list[Program]) -> None:
    """Code that no entry script imports runs as the training programs do, where all of them run under an adaptor."""
    facts = [
        program.fact
        for program in programs
        if program.entry and program.fact.framework == "torch" and program.fact.trains
    ]
    ways = {fact.migration for fact in facts if not is_test_file(fact.path)}
    for program in programs:
        if not program.entry and program.fact.framework == "torch" and ways == {"transfer"}:
            program.fact.migration = "transfer"
            program.fact.state = state(program.index, "transfer")


def _agree_on_tensorflow(programs: list[Program]) -> None:
    """If all programs with a known TensorFlow version use TensorFlow 2, sets this version for programs without
    evidence."""
    facts = [program.fact for program in programs if program.fact.framework == "tensorflow"]
    if {fact.tensorflow for fact in facts} - {""} == {"2"}:
        for fact in facts:
            fact.tensorflow = "2"

"""Programs: an entry script with all project modules that it imports, and the attributes of the whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, cast

import msgspec

from npulint.assemble.call_graph import Place, Reached, home
from npulint.assemble.code_facts import CodeFact
from npulint.assemble.context import Context
from npulint.assemble.cursors import Expr, call_at, scope_at
from npulint.assemble.guards import surely_runs
from npulint.assemble.index import FactTable, Index, table
from npulint.assemble.module import Module
from npulint.assemble.origin import Origin
from npulint.assemble.program_fact import ProgramFact
from npulint.assemble.reach import Reach, possible_calls, sure_calls
from npulint.assemble.script_role import purpose
from npulint.assemble.state import describe, is_of_adapter
from npulint.assemble.walker import walker
from npulint.facts.code import Ref
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

if TYPE_CHECKING:
    from npulint.assemble.recognizers.tensorflow.sessions import Estimator, Session

_RUNNERS = frozenset(("tensorflow.app.run", "absl.app.run", "tensorflow.compat.v2.app.run", "fire.Fire"))
_MODULE_LEVEL = frozenset(("session", "train_step", "estimator", "run"))
_NOT_ENTRY = lazy_compile(r"(?:^|/)(?:setup|conftest|__init__)\.py$|(?:^|/)docs?/conf\.py$")
_IMPORTERS = ("import_module", "__import__")


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
        self.surely_runs: Callable[[Fact], bool] = bool
        """Whether the entry script surely reaches a fact of the program; set by `Programs`."""
        self.fact = msgspec.structs.replace(fact, name=entry, path=entry or (paths[0] if paths else ""))


class Programs:
    """Finds the programs of one project."""

    def __init__(
        self, context: Context, facts: dict[str, FactTable], other: list[FactTable], adapter: str = "", torch: str = ""
    ) -> None:
        self.context = context
        self._launches = context.options.passed.launches
        self.facts = facts
        self.other = other
        self._others = table(fact for part in other for facts in part.values() for fact in facts)
        self._adapter = adapter
        self._torch = torch
        self._next: dict[str, list[str]] = {}
        self._uses = Reached(context.project)

    def all(self) -> list[Program]:
        """Programs with an entry script first, then one library program of what no entry script imports."""
        entries = [m for _, m in sorted(self.context.project.modules.items()) if self._is_entry(m)]
        programs = [self._program(m.path, sorted(self.closure(m))) for m in entries]
        reached = {p for program in programs for p in program.paths}
        rest = sorted(set(self.context.project.modules) - reached)
        if rest or not programs:
            programs.append(self._program("", rest, with_others=not programs))
        self._relate(programs)
        for program in programs:
            program.answers = programs[0].answers
        return programs

    def _relate(self, programs: list[Program]) -> None:
        """Sets attributes that depend on the whole project: whether any program uses an NPU adapter (`project_npu`),
        whether the program does so itself (`own_npu`), PyTorch programs that were not migrated with the others, the
        TensorFlow version of programs without evidence, and for sessions and estimators whether a training program
        reaches them (`trains_file`)."""
        ported = any(p.fact.npu or p.fact.migration in ("manual", "transfer") for p in programs)
        opens = any(p.index.of_kind("npu_open") for p in programs)
        for program in programs:
            fact = program.fact
            fact.project_npu = ported
            fact.own_npu = fact.npu and (not opens or _ports_itself(program))
            if ported and fact.migration == "none" and fact.framework == "torch" and program.entry:
                fact.migration = "left"
        _agree_on_tensorflow(programs)
        trained = {p for program in programs if program.fact.trains for p in program.paths}
        for path, part in self.facts.items():
            for kind in ("session", "estimator"):
                for one in cast("list[Session | Estimator]", part.get(kind, [])):
                    one.trains_file = path in trained

    def _program(self, entry: str, paths: list[str], with_others: bool = True) -> Program:
        index = Index([self.facts[p] for p in paths] + ([self._others] if with_others else []))
        word = purpose(scope_at(self.context, self.context.project.modules[entry], 0)) if entry else "unknown"
        fact = describe(index, word, self._adapter, self._torch, partial(self._may_run, paths, entry))
        fact.ranks = self._ranks(entry)
        fact.entry = bool(entry)
        program = Program(entry, self.context.project.root, paths, index, fact)
        if fact.framework == "torch":
            program.surely_runs = lambda one: self._surely_runs(one, paths, entry)
        return program

    def _may_run(self, paths: list[str], entry: str, facts: list[Fact], by_name: bool) -> bool:
        """Whether the program can reach the code of any of these facts; `by_name`: also where only the name of a call
        is that of a function."""
        if not entry:
            return True
        places = {_place(fact) for fact in facts if isinstance(fact, CodeFact)}
        if self._reach(entry, paths, surely=False).comes_to(places):
            return True
        return by_name and self._uses.comes_to(places, paths, entry)

    def _surely_runs(self, fact: Fact, paths: list[str], entry: str) -> bool:
        """Whether an entry script surely reaches a fact; facts from other files than Python hold anyhow."""
        if not entry or not isinstance(fact, CodeFact):
            return True
        if not surely_runs(fact.scope):
            return False
        return self._reach(entry, paths, surely=True).comes_to({_place(fact)})

    def _reach(self, entry: str, paths: list[str], surely: bool) -> Reach:
        graph = sure_calls(self.context) if surely else possible_calls(self.context)
        return self.context.memoize(("reach", entry, surely), lambda: Reach(graph, entry, paths))

    def _ranks(self, entry: str) -> Literal["many", "one", "unknown"]:
        """The number of devices that launchers start this entry script on: many, one or unknown."""
        launchers = {launch.fact.path for launch in self._launches.by_entry.get(entry, ())}
        counts = [int(size) for path in launchers for size in self._sized.get(path, ()) if size.isdigit()]
        return "unknown" if not counts else "many" if max(counts) > 1 else "one"

    @cached_property
    def _sized(self) -> dict[str, set[str]]:
        """For each launcher the numbers of devices that it sets."""
        found: dict[str, set[str]] = {}
        for part in self.other:
            for name in ("RANK_SIZE", "CM_WORKER_SIZE"):
                for fact in part.named("environment", name):
                    found.setdefault(fact.path, set()).add(str(fact.get("value")))
        return found

    def _is_entry(self, module: Module) -> bool:
        if _NOT_ENTRY.search(module.path):
            return False
        if module.path in self._launches.by_entry or module.main_guards:
            return True
        facts = [f for kind in _MODULE_LEVEL for f in self.facts[module.path].get(kind, ())]
        working = self._leading_to(module, {f"{module.name}:{f.get('function')}" for f in facts})
        starting = working | {f"{module.name}:main"} | _RUNNERS
        for index, name in enumerate(self.context.names.of_calls(module)):
            if name in starting:
                block = module.code.calls[index].block
                if module.function_of(block) < 0 and module.class_of(block) < 0:
                    return True
        if any(f.scope.module.function_of(f.scope.block) < 0 for f in facts):
            return True
        return module.path not in self._imported and self._works_on_device(module)

    def _leading_to(self, module: Module, functions: set[str]) -> set[str]:
        """These functions of a module with their direct and indirect callers."""
        grown = set(functions)
        calls = [
            (name, f"{module.name}:{module.qualname(call.block)}")
            for name, call in zip(self.context.names.of_calls(module), module.code.calls, strict=True)
            if functions and ":" in name and module.function_of(call.block) >= 0
        ]
        while more := {caller for name, caller in calls if name in grown and caller not in grown}:
            grown |= more
        return grown

    def _works_on_device(self, module: Module) -> bool:
        """Whether module-level code moves something to a device, as only scripts do."""
        facts = [f for kind in ("cuda", "npu") for f in self.facts[module.path].get(kind, ())]
        places = [f.scope.block for f in facts if f.scope is not None and f.get("form") in (None, "method", "text")]
        return any(module.function_of(block) < 0 and module.class_of(block) < 0 for block in places)

    @cached_property
    def _imported(self) -> set[str]:
        """The paths of the modules that other modules import."""
        return {target for path in self.context.project.modules for target in self._imports(path) if target != path}

    def closure(self, module: Module) -> set[str]:
        """The paths of all project modules that `module` can import, including itself."""
        seen: set[str] = set()
        queue = [module.path]
        while queue:
            path = queue.pop()
            if path not in seen:
                seen.add(path)
                queue += self._imports(path)
        return seen

    def _imports(self, path: str) -> list[str]:
        known = self._next.get(path)
        if known is None:
            project = self.context.project
            computed = [target.path for target in self._computed(project.modules[path])]
            known = self._next[path] = list(dict.fromkeys((*project.uses(path), *computed)))
        return known

    def _computed(self, module: Module) -> list[Module]:
        """Modules imported by ``importlib.import_module("prefix." + name)`` and the like."""
        found: list[Module] = []
        for index in module.calls_where(lambda last: last.endswith(_IMPORTERS)):
            call = module.code.calls[index]
            if isinstance(call.callee, Ref) and call.args:
                name = call_at(self.context, module, index).args[0]
                known = name.known
                named = [v for v in known.values if isinstance(v, str)]
                for prefix in dict.fromkeys(named if known.exact else named + _prefixes(name)):
                    if prefix.endswith("."):
                        found += self.context.project.below(prefix.strip("."), module)
                    elif prefix:
                        target = self.context.project.find(prefix, module)
                        found += [target] if target else []
        return found


def _place(fact: CodeFact) -> Place:
    return fact.path, home(fact.scope.module, fact.scope.block)


def _ports_itself(program: Program) -> bool:
    """Whether the entry script itself imports an NPU adapter, and not only modules that it shares with migrated
    scripts."""
    return any(f.path == program.entry and is_of_adapter(f.name) for f in program.index.of_kind("import"))


def _agree_on_tensorflow(programs: list[Program]) -> None:
    """If all programs with a known TensorFlow version use TensorFlow 2, sets this version for programs without
    evidence."""
    facts = [program.fact for program in programs if program.fact.framework == "tensorflow"]
    if {fact.tensorflow for fact in facts} - {""} == {"2"}:
        for fact in facts:
            fact.tensorflow = "2"


@walker(depth=5, otherwise=list)
def _prefixes(text: Expr) -> list[str]:
    """The literal prefixes that a text may have."""
    if text.alternatives:
        return [prefix for branch in text.alternatives for prefix in _prefixes(branch)]
    if text.written:
        assigned = (one.value for one in text.scope.assignments if one.target == text.written)
        return [prefix for value in assigned for prefix in _prefixes(value)]
    first = text.call.callee if text.call is not None and text.call.last == "format" else text
    while first.operator in ("+", "join", "%", ".") and first.operands():
        first = first.operands()[0]
    return [re.split(r"[%{]", first.text)[0]] if first.text else []

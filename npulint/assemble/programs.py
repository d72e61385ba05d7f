"""Programs: an entry script with every local module that it can reach, and what may be said of it as a whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from npulint.assemble.call_graph import Place, Reached, home
from npulint.assemble.code_facts import CodeFact
from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.guards import is_main
from npulint.assemble.index import FactTable, Index, table
from npulint.assemble.module import Module
from npulint.assemble.reach import reach
from npulint.assemble.script_role import purpose
from npulint.assemble.state import describe, imports_adapter
from npulint.facts.code import CallResult, Const, Op, Ref, Value
from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile

if TYPE_CHECKING:
    from npulint.assemble.recognizers.tensorflow.sessions import Estimator, Session

_RUNNERS = frozenset(("tensorflow.app.run", "absl.app.run", "tensorflow.compat.v2.app.run", "fire.Fire"))
_MODULE_LEVEL = frozenset(("session", "train_step", "estimator", "run"))
_NOT_ENTRY = lazy_compile(r"(?:^|/)(?:setup|conftest|__init__)\.py$|(?:^|/)docs?/conf\.py$")
_IMPORTERS = ("import_module", "__import__")
_DEPTH = 4  # steps followed to the beginning of a computed module name


class Program:
    """One entry script (empty for a library) and its closure. `attrs` answers ``program:`` questions, asked of
    the same dict as of the attributes of `fact`. `answers` is for those who ask questions: what they have learnt
    of the facts, which the programs of a project share. `source_files`: the files of the code that a run came from,
    where that is known."""

    def __init__(self, entry: str, root: str, paths: list[str], index: Index, attrs: dict[str, str]) -> None:
        self.answers: dict[Any, Any] = {}
        self.entry = entry
        self.root = root
        self.paths = paths
        self.index = index
        self.attrs = attrs
        self.source_files: frozenset[str] | None = None
        self.surely_runs: Callable[[Fact], bool] = bool
        """Whether the entry script surely comes to a fact of the program; set by `Programs`."""
        self.fact: Fact = GenericFact("program", entry, entry or (paths[0] if paths else ""), Span(), attrs)


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
        """Programs with an entry first, then what no entry reaches as one library program."""
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
        """Tell programs whether any of the project uses an NPU adapter (`project_npu`) and whether they do so
        themselves (`own_npu`), those of PyTorch that were left behind that they were, those that do not say so which
        TensorFlow they are written for, and sessions and estimators whether some training program can reach them
        (`trains_file`)."""
        known = any(p.attrs["npu"] == "yes" or p.attrs["migration"] in ("manual", "transfer") for p in programs)
        ported = "yes" if known else "no"
        opens = any(p.index.of_kind("npu_open") for p in programs)
        for program in programs:
            program.attrs["project_npu"] = ported
            program.attrs["own_npu"] = program.attrs["npu"] if not opens or _ports_itself(program) else "no"
            if (
                known
                and program.attrs["migration"] == "none"
                and program.attrs["framework"] == "torch"
                and program.entry
            ):
                program.attrs["migration"] = "left"
        _agree_on_tensorflow(programs)
        trained = {p for program in programs if program.attrs["trains"] == "yes" for p in program.paths}
        for path, part in self.facts.items():
            for kind in ("session", "estimator"):
                for fact in cast("list[Session | Estimator]", part.get(kind, [])):
                    fact.trains_file = path in trained

    def _program(self, entry: str, paths: list[str], with_others: bool = True) -> Program:
        index = Index([self.facts[p] for p in paths] + ([self._others] if with_others else []))
        word = purpose(scope_at(self.context, self.context.project.modules[entry], 0)) if entry else "unknown"
        attrs = describe(
            index,
            word,
            self._adapter,
            self._torch,
            lambda facts: self._may_run(facts, paths, entry, named=word == "train"),
        )
        attrs["ranks"] = self._ranks(entry)
        attrs["entry"] = "yes" if entry else "no"
        program = Program(entry, self.context.project.root, paths, index, attrs)
        if attrs["framework"] == "torch":
            program.surely_runs = lambda fact: self._surely_runs(fact, paths, entry)
        return program

    def _may_run(self, facts: list[Fact], paths: list[str], entry: str, named: bool) -> bool:
        """Whether the program can come to the code of any of these facts; `named`: what its modules only name counts as
        well, since calls may be computed."""
        if not entry:
            return True
        places = {_place(fact) for fact in facts}
        if not places.isdisjoint(self._reached(entry, paths, False)):
            return True
        return named and self._uses.comes_to(places, paths, entry)

    def _surely_runs(self, fact: Fact, paths: list[str], entry: str) -> bool:
        """Whether an entry script surely comes to a fact; facts from other files than Python hold anyhow."""
        if not entry or not isinstance(fact, CodeFact):
            return True
        if not self.context.guards.surely(fact.scope.module, fact.scope.block):
            return False
        return _place(fact) in self._reached(entry, paths, True)

    def _reached(self, entry: str, paths: list[str], surely: bool) -> frozenset[Place]:
        found = reach(self.context, surely)
        return self.context.memoize(("reached", entry, surely), lambda: found.places(entry, paths))

    def _ranks(self, entry: str) -> str:
        """How many devices the launchers of this entry start it on: many, one or unknown."""
        launchers = {launch.fact.path for launch in self._launches.by_entry.get(entry, ())}
        counts = [int(size) for path in launchers for size in self._sized.get(path, ()) if size.isdigit()]
        return "unknown" if not counts else "many" if max(counts) > 1 else "one"

    @cached_property
    def _sized(self) -> dict[str, set[str]]:
        """By launcher, the numbers of devices that it sets."""
        found: dict[str, set[str]] = {}
        for part in self.other:
            for name in ("RANK_SIZE", "CM_WORKER_SIZE"):
                for fact in part.named("environment", name):
                    found.setdefault(fact.path, set()).add(str(fact.get("value")))
        return found

    def _is_entry(self, module: Module) -> bool:
        if _NOT_ENTRY.search(module.path):
            return False
        if module.path in self._launches.by_entry or any(is_main(b.test) for b in module.blocks if b.kind == "if"):
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
        """These functions of a module with those that call them, directly or through others."""
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
        """Whether code outside functions moves something to a device, as scripts do that are no modules."""
        facts = [f for kind in ("cuda", "npu") for f in self.facts[module.path].get(kind, ())]
        places = [f.scope.block for f in facts if f.scope is not None and f.get("form") in (None, "method", "text")]
        return any(module.function_of(block) < 0 and module.class_of(block) < 0 for block in places)

    @cached_property
    def _imported(self) -> set[str]:
        """The paths of the modules that another one imports."""
        return {target for path in self.context.project.modules for target in self._imports(path) if target != path}

    def closure(self, module: Module) -> set[str]:
        """The paths of all project modules that `module` can import, itself included."""
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
        """Modules loaded by ``importlib.import_module("prefix." + name)`` and the like."""
        found: list[Module] = []
        for index in module.calls_where(lambda last: last.endswith(_IMPORTERS)):
            call = module.code.calls[index]
            if isinstance(call.callee, Ref) and call.args:
                known = self.context.flow.known(module, call.args[0], call.block, call.line)
                named = [v for v in known.values if isinstance(v, str)]
                for prefix in dict.fromkeys(named if known.exact else named + _prefixes(module, call.args[0])):
                    if prefix.endswith("."):
                        found += self.context.project.below(prefix.strip("."), module)
                    elif prefix:
                        target = self.context.project.find(prefix, module)
                        found += [target] if target else []
        return found


def _place(fact: CodeFact) -> Place:
    return fact.path, home(fact.scope.module, fact.scope.block)


def _ports_itself(program: Program) -> bool:
    """Whether the entry script imports an NPU adapter, and not only what it shares with ported scripts."""
    return any(f.path == program.entry and imports_adapter(f) for f in program.index.of_kind("import"))


def _agree_on_tensorflow(programs: list[Program]) -> None:
    """Take programs that do not tell which TensorFlow they are written for as such of TensorFlow 2 where all that tell
    are."""
    told = {p.attrs["tensorflow"] for p in programs if p.attrs["framework"] == "tensorflow"} - {""}
    if told == {"2"}:
        for program in programs:
            if program.attrs["framework"] == "tensorflow":
                program.attrs["tensorflow"] = "2"


def _prefixes(module: Module, value: Value, depth: int = 0) -> list[str]:
    """The literal beginnings that a text may have."""
    if depth > _DEPTH:
        return []
    if isinstance(value, Op) and value.op in ("if", "or"):
        return [p for branch in value.operands[value.op == "if" :] for p in _prefixes(module, branch, depth + 1)]
    if isinstance(value, Ref):
        binds = [b for table in module.names.values() for b in table.get(value.name, ())]
        return [p for bind in binds for p in _prefixes(module, bind.value, depth + 1)]
    if isinstance(value, CallResult) and module.callee_name(value.call) == "format":
        value = module.code.calls[value.call].callee
    while isinstance(value, Op) and value.op in ("+", "join", "%", ".") and value.operands:
        value = value.operands[0]
    if isinstance(value, Const) and isinstance(value.value, str):
        return [re.split(r"[%{]", value.value)[0]]
    return []

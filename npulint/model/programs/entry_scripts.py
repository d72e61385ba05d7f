"""Entry scripts: which modules of a project are started, and do not only define what others use."""

from __future__ import annotations

from collections.abc import Callable, Collection

from npulint.core.lazy_regex import lazy_compile
from npulint.model.code.index import FactTable
from npulint.model.code.module import Module
from npulint.model.code.reached import IMPORTED, STARTED, Place, home
from npulint.model.running.call_graph import RUNNERS, started_functions, sure_calls
from npulint.model.running.code_facts import CodeFact
from npulint.model.running.reach import Reach
from npulint.model.values.context import Context
from npulint.model.values.cursors import scope_at

_MODULE_LEVEL = frozenset(("session", "train_step", "estimator", "run"))
_NOT_ENTRY = lazy_compile(r"(?:^|/)(?:setup|conftest|__init__)\.py$|(?:^|/)docs?/conf\.py$")


class EntryScripts:
    """Finds the entry scripts of a project."""

    def __init__(
        self,
        context: Context,
        facts: dict[str, FactTable],
        launched: Collection[str],
        closure: Callable[[Module], set[str]],
        imported: Collection[str],
    ) -> None:
        """`launched` are the paths of what launchers and installed commands start, `imported` of what other modules
        import; `closure` are the paths of all that a module can import, itself included."""
        self._context = context
        self._facts = facts
        self._launched = launched
        self._closure = closure
        self._imported = imported

    def is_entry(self, module: Module) -> bool:
        """Whether a module is one."""
        if _NOT_ENTRY.search(module.path):
            return False
        if module.path in self._launched or module.main_guards or started_functions(scope_at(self._context, module, 0)):
            return True
        facts = [f for kind in _MODULE_LEVEL for f in self._facts[module.path].get(kind, ())]
        working = self._leading_to(module, {f"{module.name}:{f.get('function')}" for f in facts})
        starting = working | {f"{module.name}:main"} | RUNNERS
        for index, name in enumerate(self._context.names.of_calls(module)):
            if name in starting:
                block = module.code.calls[index].block
                if module.function_of(block) < 0 and module.class_of(block) < 0:
                    return True
        if any(f.scope.module.function_of(f.scope.block) < 0 for f in facts):
            return True
        return module.path not in self._imported and (self._works_on_device(module) or self._starts_work(module))

    def _starts_work(self, module: Module) -> bool:
        """Whether module-level code calls functions of the project that lead to a session, an Estimator or a training
        step in other modules: surely, or as one of several that it looks up."""
        names = zip(self._context.names.of_calls(module), module.code.calls, strict=True)
        if not any(
            (":" in name or name.startswith("?")) and home(module, call.block) == IMPORTED for name, call in names
        ):
            return False
        paths = self._closure(module)
        facts = [f for path in paths for kind in _MODULE_LEVEL for f in self._facts[path].get(kind, ())]
        places = {place_of(fact) for fact in facts if isinstance(fact, CodeFact)}
        places = {place for place in places if place[1] not in (IMPORTED, STARTED)}
        if not places:
            return False
        reach = Reach(sure_calls(self._context), module.path, paths)
        chosen = (branch for branches in reach.branches for branch in branches)
        return reach.reaches(places) or any(not places.isdisjoint(branch) for branch in chosen)

    def _leading_to(self, module: Module, functions: set[str]) -> set[str]:
        """These functions of a module with their direct and indirect callers; who makes an instance of a class calls
        its ``__init__``."""
        grown = functions | {name.removesuffix(".__init__") for name in functions}
        calls = [
            (name, f"{module.name}:{module.qualname(call.block)}")
            for name, call in zip(self._context.names.of_calls(module), module.code.calls, strict=True)
            if functions and ":" in name and module.function_of(call.block) >= 0
        ]
        while more := {caller for name, caller in calls if name in grown and caller not in grown}:
            grown |= more | {name.removesuffix(".__init__") for name in more}
        return grown

    def _works_on_device(self, module: Module) -> bool:
        """Whether module-level code moves something to a device, as only scripts do: itself, or by functions of the
        module that it surely calls."""
        facts = [f for kind in ("cuda", "npu") for f in self._facts[module.path].get(kind, ())]
        moves = [f for f in facts if isinstance(f, CodeFact) and f.get("form") in (None, "method", "text")]
        blocks = [fact.scope.block for fact in moves]
        if any(module.function_of(block) < 0 and module.class_of(block) < 0 for block in blocks):
            return True
        places = {place_of(fact) for fact in moves if module.function_of(fact.scope.block) >= 0}
        return bool(places) and Reach(sure_calls(self._context), module.path, [module.path]).reaches(places)


def place_of(fact: CodeFact) -> Place:
    """The function (or code outside functions) that runs a fact."""
    return fact.run_by.path, home(fact.run_by.module, fact.run_by.block)

"""Whether code runs only where there is an NPU: what loads it cannot start without an NPU adapter.

A fix that does the same on the NPU alone is safe only there. Code that a script for GPUs, or one that also runs without
an NPU, loads as well is changed for that script too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from npulint.data.frameworks import adaptors
from npulint.facts.code import Import
from npulint.facts.model import Fact
from npulint.model.code.index import Index
from npulint.model.programs.state import is_of_adapter
from npulint.model.running.code_facts import CodeFact
from npulint.model.running.guards import is_handled
from npulint.model.values.context import Context
from npulint.model.values.cursors import Scope, scope_at
from npulint.model.values.script_role import is_test_file
from npulint.recognizers.torch.device_strings import NpuText

_LEGACY = "torch.npu"
_UNSURE = ("option", "default")  # where a device is only a default
_ASKING = ("hasattr", "getattr", "find_spec")


class Script(Protocol):
    """What is asked of a program: its entry script (empty: none), the files that it loads, its facts, and which of them
    it surely reaches."""

    entry: str
    paths: list[str]
    index: Index

    def surely_runs(self, fact: Fact) -> bool:
        """Whether the entry script surely reaches a fact."""


class NpuNeed:
    """Answers for the files of one project, from all its programs."""

    def __init__(self, context: Context, programs: Sequence[Script]) -> None:
        self._context = context
        self._scripts = [program for program in programs if program.entry and not is_test_file(program.entry)]
        self._loading: dict[str, bool] = {}
        self._needing: dict[str, bool] = {}
        self._lacking: dict[str, bool] = {}

    def may_lack(self, fact: Fact) -> bool:
        """Whether the file of a fact may also be used where there is no NPU: a script that can start without one loads
        it, or nobody knows what does."""
        path = fact.path if isinstance(fact, CodeFact) else ""
        if path not in self._lacking:
            self._lacking[path] = not self._is_for_npu(path)
        return self._lacking[path]

    def _is_for_npu(self, path: str) -> bool:
        """Whether nothing loads a file of code without an NPU; an empty path stands for all scripts."""
        if path and self._loads(path):
            return True
        near = [script for script in self._scripts if not path or path in script.paths]
        return bool(near) and all(map(self._needs, near))

    def _needs(self, program: Script) -> bool:
        answer = self._needing.get(program.entry)
        if answer is None:
            answer = self._finds_adapter(program.entry, started=True) is None or self._uses(program)
            self._needing[program.entry] = answer
        return answer

    def _loads(self, path: str) -> bool:
        """Whether whatever loads a file surely imports an adapter: the file, or one that it loads unconditionally."""
        if path not in self._loading:
            without = self._finds_adapter(path, started=False)
            self._loading |= {path: True} if without is None else dict.fromkeys(without, False)
        return self._loading[path]

    def _finds_adapter(self, start: str, started: bool) -> set[str] | None:
        """None if loading a file surely imports an adapter (`started`: as the script that is started); else the files
        that it surely loads."""
        modules = self._context.project.modules
        seen, waiting = {start}, [start] if start in modules else []
        while waiting:
            module = modules[waiting.pop()]
            for record in module.code.imports:
                scope = scope_at(self._context, module, record.block)
                if not _is_unconditional(scope, started and module.path == start):
                    continue
                loaded = self._context.project.imported(module, record)
                paths = {imported.path for imported in loaded} - seen
                if (not loaded and _names_adapter(record)) or any(self._loading.get(path) for path in paths):
                    return None
                seen |= paths
                waiting += [path for path in paths if path not in self._loading]
        return seen

    def _uses(self, program: Script) -> bool:
        """Whether a script without the import of an adapter surely names an NPU, and never another device."""
        index = program.index
        if index.of_kind("cuda") or any(name.rpartition(".")[2] in _ASKING for name in index.names("call")):
            return False
        facts: Iterable[Fact] = [*index.of_kind("npu"), *(f for f in index.of_kind("call") if _calls_npu(f.name))]
        return any(
            isinstance(fact, CodeFact)
            and _is_certain(fact)
            and _is_unconditional(fact.scope, started=True, called=True)
            and program.surely_runs(fact)
            for fact in facts
        )


def is_caught(fact: Fact) -> bool:
    """Whether an ``except`` around a place of code may catch what it raises."""
    if not isinstance(fact, CodeFact):
        return False
    for around in fact.scope.ancestors:
        if is_handled(around):
            return True
        if around.kind in ("function", "lambda"):
            return False
    return False


def _names_adapter(record: Import) -> bool:
    name = record.module if record.name in ("", "*") else f"{record.module}.{record.name}"
    return is_of_adapter(name) or name.startswith((_LEGACY, *adaptors()))


def _calls_npu(name: str) -> bool:
    return name.startswith((f"{_LEGACY}.", "torch_npu.")) and not name.endswith((".is_available", ".device_count"))


def _is_certain(fact: CodeFact) -> bool:
    """Whether the place needs an NPU whenever it runs: a text that is only a default, or one of several, does not."""
    return not isinstance(fact, NpuText) or (fact.on not in _UNSURE and fact.is_literal)


def _is_unconditional(scope: Scope, started: bool, called: bool = False) -> bool:
    """Whether a block runs whenever its module is loaded (`started`: also as the script that is started; `called`: or
    whenever its function is called)."""
    for around in scope.ancestors:
        if called and around.kind == "function":
            return True
        if around.kind not in ("module", "class") and not (started and around.kind == "if" and around.has_main_test):
            return False
    return True

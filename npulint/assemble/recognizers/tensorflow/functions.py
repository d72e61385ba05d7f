"""TensorFlow 2: which own functions are compiled by ``tf.function`` or by Keras, and which code runs eagerly."""

from __future__ import annotations

import re

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.code import Call, Ref, Value
from npulint.lazy_regex import lazy_compile

Place = tuple[str, int]
"""A path and a function block there."""

_COMPILING = frozenset(("tensorflow.function", "npu_device.npu_compat_function", "tensorflow.compat.v2.function"))
_HARMLESS = frozenset(("staticmethod", "classmethod", "property", "abc.abstractmethod"))
# What Keras calls of a model or layer, within its own compiled functions.
_OF_KERAS = frozenset(
    "train_step test_step predict_step call build compute_loss compute_gradients get_gradients get_updates "
    "make_train_function _resource_apply_dense _resource_apply_sparse apply_gradients".split()
)
_RUNNING = frozenset(("run", "experimental_run_v2"))  # of strategies: they call what they are given
_PLAIN_BASES = frozenset(("object", "abc.ABC", "typing.Generic", "tensorflow.Module"))
_OWN_COMPILE = lazy_compile(r"(?:^|[._])(?:tf_?)?(?:function|compile|jit|graph)(?:_|$|\()", re.IGNORECASE)
_DEPTH = 10


class Functions:
    """Answers for code whether it runs within a compiled function: ``yes``, ``no`` (eagerly) or ``unknown``."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._names = context.names
        self._memo: dict[Place, str] = {}
        self._wrapped: set[Place] | None = None
        self._loose: set[str] = set()  # last segments of what tf.function is given and that is not found
        self._handed: dict[str, list[tuple[Module, int, Value]]] | None = None

    def compiled(self, module: Module, block: int) -> str:
        """Whether code in `block` runs within a compiled function."""
        return self._within(module, module.function_of(block), 0)

    def is_compiled(self, module: Module, function: int) -> bool:
        """Whether a function is itself made a compiled one."""
        return self._own(module, function) == "yes"

    def users(self, module: Module, function: int) -> list[tuple[Module, int]]:
        """The calls that run a function: those of it, and those that a strategy is given it by."""
        callers = list(self._context.flow.callers(module, function))
        return callers + [(home, i) for home, i, runs in self._passes(module, function) if runs]

    def _within(self, module: Module, function: int, depth: int) -> str:
        if function < 0:
            return "no"
        key = (module.path, function)
        known = self._memo.get(key)
        if known is None:
            self._memo[key] = "unknown"  # answers a recursive question
            known = self._memo[key] = self._work_out(module, function, depth)
        return known

    def _work_out(self, module: Module, function: int, depth: int) -> str:
        own = self._own(module, function)
        if own != "no" or depth > _DEPTH:
            return own if own != "no" else "unknown"
        record = module.blocks[function]
        if record.kind == "lambda":
            return "unknown"
        passes = self._passes(module, function)
        sites = self._context.flow.callers(module, function)
        answers = {self._within(home, home.function_of(home.code.calls[i].block), depth + 1) for home, i in sites}
        for home, index, runs in passes:
            block = home.code.calls[index].block
            answers.add(self._within(home, home.function_of(block), depth + 1) if runs else "unknown")
        if not answers:
            return "unknown"
        return "yes" if "yes" in answers else "unknown" if "unknown" in answers else "no"

    def _own(self, module: Module, function: int) -> str:
        """Whether a function is compiled by its decorators, by a call of ``tf.function`` or by Keras."""
        record = module.blocks[function]
        if (module.path, function) in self._given():
            return "yes"
        last = record.name.rpartition(".")[2]
        for value in record.decorators:
            name = self._names.of_value(module, value, record.parent, record.line).removesuffix("()")
            if name in _COMPILING:
                return "yes"
            if name not in _HARMLESS and not name.endswith((".setter", ".getter")):
                return "unknown"
        if last in self._loose:
            return "unknown"
        if module.blocks[record.parent].kind == "class":
            return self._method(module, record.parent, last)
        return "no"

    def _method(self, module: Module, owner: int, last: str) -> str:
        if last.startswith("__") and last not in ("__init__", "__call__"):
            return "unknown"
        if last not in _OF_KERAS:
            return "no"
        record = module.blocks[owner]
        bases = [self._names.of_value(module, base, record.parent, record.line) for base in record.bases]
        if all(base in _PLAIN_BASES for base in bases):
            return "no"
        return "yes" if any("keras." in base for base in bases) else "unknown"

    def _given(self) -> set[Place]:
        """The own functions that a call of ``tf.function`` is given."""
        if self._wrapped is None:
            self._wrapped = set()
            for home in self._names.project.modules.values():
                for index in home.calls_where(
                    lambda last: bool(_OWN_COMPILE.search(last)) or last == "npu_compat_function"
                ):
                    self._note(home, home.code.calls[index], self._names.of_call(home, index))
        return self._wrapped

    def _note(self, home: Module, call: Call, name: str) -> None:
        """Remember what one call compiles; an own wrapper, or what is not found, is remembered by its last name."""
        values = [*call.args, *(value for _, value in call.keywords)][:4]
        for value in values:
            targets = self._context.flow.functions(home, value, call.block, call.line) if name in _COMPILING else []
            if targets and self._wrapped is not None:
                self._wrapped.update((inner.path, block) for inner, block in targets)
            elif isinstance(value, Ref):
                self._loose.add(value.name.rpartition(".")[2])

    def _passes(self, module: Module, function: int) -> list[tuple[Module, int, bool]]:
        """The calls that are given a function, and whether they run it at once, as a strategy does."""
        last = module.blocks[function].name.rpartition(".")[2]
        found = []
        for home, index, value in self._handed_on().get(last, ()):
            call = home.code.calls[index]
            targets = self._context.flow.functions(home, value, call.block, call.line)
            if (module, function) in targets or not targets:
                found.append((home, index, home.callee_name(index) in _RUNNING))
        return found

    def _handed_on(self) -> dict[str, list[tuple[Module, int, Value]]]:
        """Last name -> the calls that are given something of that name, of those that are names of own functions."""
        if self._handed is None:
            found: dict[str, list[tuple[Module, int, Value]]] = {}
            modules = self._names.project.modules.values()
            own = {b.name.rpartition(".")[2] for m in modules for b in m.blocks if b.kind == "function"}
            for home in modules:
                for index, call in enumerate(home.code.calls):
                    for value in (*call.args, *(value for _, value in call.keywords)):
                        if isinstance(value, Ref) and value.name.rpartition(".")[2] in own:
                            found.setdefault(value.name.rpartition(".")[2], []).append((home, index, value))
            self._handed = found
        return self._handed


def functions_of(context: Context) -> Functions:
    """The answers for a project, worked out when asked for."""
    found: Functions = context.memoize("functions", lambda: Functions(context))
    return found

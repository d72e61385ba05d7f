"""TensorFlow 2: which functions ``tf.function`` or Keras compiles, and which code runs eagerly."""

from __future__ import annotations

import re
from collections import defaultdict

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import walker

COMPILING = frozenset(("tensorflow.function", "npu_device.npu_compat_function", "tensorflow.compat.v2.function"))
_HARMLESS = frozenset(("staticmethod", "classmethod", "property", "abc.abstractmethod"))
# The methods of a model or layer that Keras calls in its compiled functions.
_OF_KERAS = frozenset(
    "train_step test_step predict_step call build compute_loss compute_gradients get_gradients get_updates "
    "make_train_function _resource_apply_dense _resource_apply_sparse apply_gradients".split()
)
_RUNNING = frozenset(("run", "experimental_run_v2"))  # methods of strategies that call their argument
_PLAIN_BASES = frozenset(("object", "abc.ABC", "typing.Generic", "tensorflow.Module"))
_OWN_COMPILE = lazy_compile(r"(?:^|[._])(?:tf_?)?(?:function|compile|jit|graph)(?:_|$|\()", re.IGNORECASE)
_ARGUMENTS = 4  # maximum evaluated arguments of a compiling call


class _Compiled(msgspec.Struct, frozen=True):
    """The functions passed to ``tf.function``: those of the project, and the last names of unknown ones."""

    functions: set[Scope]
    names: set[str]


def compiled(scope: Scope) -> Flag:
    """Whether code runs in a compiled function: ``yes``, ``no`` (eagerly) or ``unknown``."""
    function = scope.function
    return "no" if function is None else _runs_compiled(function)


@once
def may_compile(context: Context) -> bool:
    """Whether anything in a project is compiled: a function is decorated or passed, or a class extends one of Keras."""
    if _passed_to_function(context).functions:
        return True
    modules = module_scopes(context)
    decorated = (
        decorator for module in modules for block in module.blocks_of("function") for decorator in block.decorators
    )
    if any(expr.name.removesuffix("()") in COMPILING for expr in decorated):
        return True
    bases = (base for module in modules for block in module.blocks_of("class") for base in block.bases)
    return any("keras." in base.name for base in bases)


def is_compiled(function: Scope) -> bool:
    """Whether a function itself is compiled."""
    return _made_compiled(function) == "yes"


def users(function: Scope) -> list[CallSite]:
    """The calls that run a function: calls of it, and calls that pass it to a strategy."""
    return function.callers + [call for call in _handed_to(function) if call.last in _RUNNING]


@walker(depth=12, otherwise=lambda: "unknown")
@once
def _runs_compiled(function: Scope) -> Flag:
    """Whether a function runs compiled: it is compiled itself, or all functions that run it are."""
    own = _made_compiled(function)
    if own != "no":
        return own
    if function.kind == "lambda":
        return "unknown"
    handed = _handed_to(function)
    answers = {compiled(call.scope) for call in function.callers}
    answers.update(compiled(call.scope) if call.last in _RUNNING else "unknown" for call in handed)
    if "yes" in answers:
        return "yes"
    return "unknown" if "unknown" in answers or not answers else "no"


def _made_compiled(function: Scope) -> Flag:
    """Whether a function is compiled by its decorators, by a call of ``tf.function`` or by Keras."""
    passed = _passed_to_function(function.context)
    if function in passed.functions:
        return "yes"
    for decorator in function.decorators:
        name = decorator.name.removesuffix("()")
        if name in COMPILING:
            return "yes"
        if name not in _HARMLESS and not name.endswith((".setter", ".getter")):
            return "unknown"
    last = function.record.name.rpartition(".")[2]
    if last in passed.names:
        return "unknown"
    owner = function.parent
    return _made_compiled_by_keras(owner, last) if owner is not None and owner.kind == "class" else "no"


def _made_compiled_by_keras(owner: Scope, method: str) -> Flag:
    """Whether Keras calls a method of a class in its own compiled functions."""
    if method.startswith("__") and method not in ("__init__", "__call__"):
        return "unknown"
    if method not in _OF_KERAS:
        return "no"
    bases = [base.name for base in owner.bases]
    if all(base in _PLAIN_BASES for base in bases):
        return "no"
    return "yes" if any("keras." in base for base in bases) else "unknown"


@once
def _passed_to_function(context: Context) -> _Compiled:
    """The functions that a project passes to ``tf.function`` or to its own wrappers of it."""
    function = _Compiled(set(), set())
    for module in module_scopes(context):
        for index in module.module.calls_where(lambda last: last == "npu_compat_function" or _is_own_compile(last)):
            call = module.call(index)
            compiles = call.name in COMPILING
            for value in call.arguments[:_ARGUMENTS]:
                functions = value.functions if compiles else []
                function.functions.update(functions)
                if not functions and value.written:
                    function.names.add(value.written.rpartition(".")[2])
    return function


def _is_own_compile(last: str) -> bool:
    return _OWN_COMPILE.search(last) is not None


def _handed_to(function: Scope) -> list[CallSite]:
    """The calls that get a function as an argument."""
    calls = []
    for call, value in handed(function.context).get(function.record.name.rpartition(".")[2], ()):
        functions = value.functions
        if function in functions or not functions:
            calls.append(call)
    return calls


@once
def handed(context: Context) -> dict[str, list[tuple[CallSite, Expr]]]:
    """From the last name of a project function to the calls that get it as an argument."""
    modules = module_scopes(context)
    blocks = [record for module in modules for record in module.module.blocks]
    own = {record.name.rpartition(".")[2] for record in blocks if record.kind == "function"}
    uses: dict[str, list[tuple[CallSite, Expr]]] = defaultdict(list)
    for call in (call for module in modules for call in module.all_calls):
        for value in call.arguments:
            last = value.written.rpartition(".")[2]
            if last and last in own:
                uses[last].append((call, value))
    return uses

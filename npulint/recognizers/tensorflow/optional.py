"""Whether code certainly runs: it may be in a ``try``, one of several choices, for another device, or unused."""

from __future__ import annotations

import re
from itertools import islice

from npulint.core.lazy_regex import lazy_compile
from npulint.model.running.code_places import operations
from npulint.model.running.guards import is_handled
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import walker
from npulint.recognizers.tensorflow.functions import handed

_TPU = lazy_compile(r"tpu(?!t)", re.IGNORECASE)  # no output
_MANY = 40  # evaluated callers per function
_LISTED = ("_export", "deprecated")  # decorators of functions without callers


def is_optional(call: CallSite) -> bool:
    """Whether a call is in a ``try`` with an ``except`` clause, or in a branch of a conditional expression."""
    if any(map(is_handled, call.scope.ancestors)):
        return True
    return call in _chosen(call.scope)


@walker(depth=3, otherwise=bool)
def is_for_tpu(scope: Scope) -> bool:
    """Whether the names of a file, function, class, parameter, condition or caller indicate code for TPUs."""
    around = [ancestor.record for ancestor in scope.ancestors]
    words = [scope.path, *(word for record in around for word in (record.name, *record.params))]
    if any(map(_TPU.search, words)) or any(map(_names_tpu, _conditions(scope))):
        return True
    name = "" if scope.function is None else scope.function.record.name.rpartition(".")[2]
    calls = (call for module in module_scopes(scope.context) for call in module.calls_named(name)) if name else ()
    return any(is_for_tpu(call.scope) for call in islice(calls, _MANY))


def _conditions(scope: Scope) -> list[Expr]:
    """The conditions around a block, and all of the function around it."""
    ifs = scope.blocks_of("if") if scope.function is not None else ()
    scopes = [one for one in ifs if one.function is scope.function]
    return [
        one.test for one in (*scopes, *(ancestor for ancestor in scope.ancestors if ancestor.kind in ("if", "else")))
    ]


def _names_tpu(value: Expr) -> bool:
    return any(_TPU.search(part.written or part.text) for part in value.mentioned)


def is_used(scope: Scope) -> bool:
    """Whether the project uses the name of the function or class that contains the code."""
    inside = [ancestor for ancestor in scope.ancestors if ancestor.kind in ("function", "class")]
    if not inside:
        return True
    decorators = [
        decorator.call.callee if decorator.call is not None else decorator for decorator in inside[-1].decorators
    ]
    if not all(decorator.written.endswith(_LISTED) for decorator in decorators):
        return True
    return inside[-1].record.name in _named(scope.context)


@once
def _named(context: Context) -> set[str]:
    """The last segments of all used names, also of functions that are passed on, and the imported names."""
    found = {name for name, uses in handed(context).items() if any(value.functions for _, value in uses)}
    for module in context.project.modules.values():
        found.update(module.callee_name(index) for index in range(len(module.code.calls)))
        found.update(record.name.rpartition(".")[2] for record in module.code.name_uses)
        found.update(record.name for record in module.code.imports)
    return found


@once_per_file
def _chosen(module: Scope) -> set[CallSite]:
    """The calls in the branches of conditional expressions, including their arguments."""
    arms = [arm for choice in operations(module, "if") for arm in choice.alternatives]
    chosen: set[CallSite] = set()
    while arms:
        calls = {part.call for part in arms.pop().nested if part.call is not None} - chosen
        chosen |= calls
        arms += [argument for call in calls for argument in call.arguments]
    return chosen

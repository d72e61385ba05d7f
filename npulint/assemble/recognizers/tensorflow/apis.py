"""Interfaces that the adapter does not support, or that do on the NPU something else than expected."""

from __future__ import annotations

import re
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.cursors import call_at
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.host import placed
from npulint.assemble.recognizers.tensorflow.optional import is_for_tpu, is_optional, is_used
from npulint.data.tf_api import Api, find
from npulint.facts.code import Call, Op, Ref, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_GPU = lazy_compile(r"gpu|cuda", re.IGNORECASE)
_COUNTS = frozenset(("tensorflow.reduce_max()", "tensorflow.reduce_sum()", "tensorflow.count_nonzero()"))


def matches(name: str) -> bool:
    """Recorded names of TensorFlow."""
    return bool(find(name))


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``tf_api`` fact, if the arguments are those that the record is about."""
    call = module.code.calls[index]
    for api in find(name):
        if _is_meant(context, module, call, api):
            attrs = {
                "support": api.support,
                "reason": api.reason,
                "release": api.release,
                "ops": api.ops.replace(" ", ", "),
                "instead": api.instead,
                "plain": _plain(module, call),
                "guarded": partial(_guarded, context, module, index, api),
                "used": partial(is_used, context, module, call.block),
                "place": partial(placed, call_at(context, module, index)),
            }
            return [context.call_fact("tf_api", name, module, index, **attrs)]
    return []


def _is_meant(context: Context, module: Module, call: Call, api: Api) -> bool:
    """Whether the argument that decides surely has the value that is meant."""
    if not api.argument:
        return True
    value = argument(call, api.argument, api.position)
    if value is None:
        return api.value == "-" and not _starred(call)
    if api.value == "data":
        return _is_counted(context, module, call, value)
    known = context.known(module, value, call)
    if api.value == "-":
        return known.values == (None,) and known.exact
    single = known.single
    if api.value == "gpu":
        return isinstance(single, str) and bool(_GPU.search(single))
    if api.value == "true":
        return single is True
    return isinstance(single, int | float) and single != 0


def _is_counted(context: Context, module: Module, call: Call, value: Value) -> bool:
    """Whether a number is the largest value, or the sum, of a tensor, perhaps with something added."""
    if isinstance(value, Op) and value.op in ("+", "-"):
        return any(_is_counted(context, module, call, part) for part in value.operands)
    return context.names.of_value(module, value, call.block, call.line) in _COUNTS


def _starred(call: Call) -> bool:
    """Whether arguments are passed that the call does not show."""
    return any(isinstance(a, Op) and a.op == "star" for a in call.args) or any(k == "**" for k, _ in call.keywords)


def _plain(module: Module, call: Call) -> str:
    """Whether the name is the one of the installed release itself: neither it nor its file goes through compat."""
    imported = (f"{record.module}.{record.name}" for record in module.code.imports)
    written = call.callee.name if isinstance(call.callee, Ref) else ""
    return "no" if ".compat" in written or any(".compat" in name for name in imported) else "yes"


def _guarded(context: Context, module: Module, index: int, api: Api) -> str:
    """Whether the call may be left out or fail: it is tried, chosen, or stands in code for TPUs."""
    block = module.code.calls[index].block
    apart = is_optional(context, module, index) or (api.reason == "tpu" and is_for_tpu(context, module, block))
    return "yes" if apart else "no"

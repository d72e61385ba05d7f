"""TensorFlow 2: how models are compiled, and the loop size that the NPU is told."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.functions import functions_of
from npulint.facts.code import CallResult, Ref
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues, merge
from npulint.lazy_regex import lazy_compile

_SIZE = "set_npu_loop_size"
_OF_KERAS = frozenset(("optimizer", "loss", "metrics", "run_eagerly", "steps_per_execution"))
_MODEL = lazy_compile(r"^(?:tensorflow\.)?keras\..*\(\)\.compile$")


def matches(name: str) -> bool:
    """``compile`` of models, and the setting of the loop size."""
    return name.endswith((".compile", _SIZE))


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``model_compile`` or ``loop_size`` fact."""
    call = module.code.calls[index]
    if name.endswith(_SIZE):
        if not name.startswith("npu_device."):
            return []
        value = argument(call, "loop_size", 0)
        size = PossibleValues() if value is None else context.known(module, value, call)
        return [context.call_fact("loop_size", _SIZE, module, index, value=size, agrees=lambda: _agrees(context, size))]
    given = {key for key, _ in call.keywords}
    if _MODEL.match(name) or given & _OF_KERAS:
        return [context.call_fact("model_compile", "compile", module, index)]
    return []


def _agrees(context: Context, size: PossibleValues) -> str:
    """Whether compiled loops make as many rounds as the loop size says: yes, no, missing (there are none), unknown."""
    steps: list[PossibleValues] = context.memoize("device loops", lambda: _rounds(context))
    if not steps:
        return "missing"
    known = merge(steps)
    if not isinstance(size.single, int) or not known.exact or not known.values:
        return "unknown"
    return "yes" if size.single in known.values else "no"


def _rounds(context: Context) -> list[PossibleValues]:
    """How many rounds the loops over ``tf.range`` in compiled functions make, as their callers say."""
    functions = functions_of(context)
    found = []
    for module in context.project.modules.values():
        for index in module.calls_of("range"):
            block = module.code.calls[index].block
            function = module.function_of(block)
            if function < 0 or context.names.of_call(module, index) != "tensorflow.range":
                continue
            if functions.compiled(module, block) == "yes" and _counts(module, index):
                found.append(_limit(context, module, index, function))
    return found


def _counts(module: Module, index: int) -> bool:
    """Whether a loop runs over the result of a call."""
    return any(block.kind == "loop" and block.test == CallResult(index) for block in module.blocks)


def _limit(context: Context, module: Module, index: int, function: int) -> PossibleValues:
    call = module.code.calls[index]
    limit = argument(call, "limit", 1) or argument(call, "start", 0)
    if limit is None:
        return PossibleValues()
    if isinstance(limit, Ref) and limit.name in module.blocks[function].params:
        passed = [
            PossibleValues() if value is None else context.known(home, value, home.code.calls[at])
            for (home, at), value in context.flow.passed(module, function, limit.name)
        ]
        return merge(passed) if passed else PossibleValues()
    return context.known(module, limit, call)

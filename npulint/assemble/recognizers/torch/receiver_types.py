"""Where the objects of a training program come from: the calls that made an optimizer, a model or a scaler."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.lazy_regex import lazy_compile

Site = tuple[Module, int]
"""A call: its module and its index there."""

INITIALIZE = "apex.amp.initialize"
_DEPTH = 8
_MOST = 12  # makers of one object that are kept
_MODEL_WORD = lazy_compile(
    r"(?:^|[._])(?:\w*model\w*|\w*net[a-z]?\d*|net_?\w+|\w*network|module|backbone|generator\w*|discriminator\w*|critic\w*"
    r"|actor\w*|encoder|decoder|classifier|student|teacher|policy)$",
)
_NO_MODEL = lazy_compile(r"(?:optim|sched|loss|crit|scaler|outputs?|preds?|ema|feat|logits?|dict|dir|path|name|param)")
_NETWORKS = lazy_compile(
    r"^(?:torch\.nn\.(?!functional|init|utils|Parameter)\w+|torchvision\.models\.[\w.]+|timm\.(?:\w+\.)*create_model"
    r"|transformers\.\w+(?:\.from_pretrained)?)\(\)"
    r"(?:\.(?:npu|cuda|cpu|to|train|eval|float|half|bfloat16|apply|requires_grad_)\(\))*$"
)


def makers(context: Context, module: Module, value: Value, block: int, line: int, depth: int = 0) -> list[Site]:
    """The calls that may have made an object, looked for through own functions, parameters, attributes, lists
    and what `apex.amp.initialize` hands back."""
    if depth > _DEPTH:
        return []
    found: list[Site] = []
    if isinstance(value, CallResult):
        found = _of_result(context, module, value.call, depth)
    elif isinstance(value, Ref):
        found = _of_name(context, module, value.name, block, line, depth)
    elif isinstance(value, SequenceDisplay):
        found = [s for v in value.items[:_MOST] for s in makers(context, module, v, block, line, depth + 1)]
    elif isinstance(value, Op) and value.op == "[]":
        found = _of_element(context, module, value, block, line, depth)
    elif isinstance(value, Op) and value.op in ("or", "if"):
        parts = value.operands[1:] if value.op == "if" else value.operands
        found = [s for v in parts for s in makers(context, module, v, block, line, depth + 1)]
    return list({(m.path, i): (m, i) for m, i in found}.values())[:_MOST]


def _of_result(context: Context, module: Module, index: int, depth: int) -> list[Site]:
    name = context.names.of_call(module, index)
    call = module.code.calls[index]
    if name == INITIALIZE:  # only a model was given
        value = argument(call, "models", 0)
        return [] if value is None else makers(context, module, value, call.block, call.line, depth + 1)
    target = context.names.function(name)
    if target is None or target[0].blocks[target[1]].kind == "class":
        return [(module, index)]
    home, block = target
    found: list[Site] = []
    for returned in home.returns.get(block, ())[:_MOST]:
        found += makers(context, home, returned.value, returned.block, returned.line + 1, depth + 1)
    return found or [(module, index)]


def _of_name(context: Context, module: Module, name: str, block: int, line: int, depth: int) -> list[Site]:
    key = (module.path, name, block, line)
    busy: set[object] = context.memoize("makers", set)
    if key in busy:
        return []
    busy.add(key)
    found: list[Site] = []
    for home, bind in context.flow.bindings(module, name, block, line)[:_MOST]:
        found += makers(context, home, bind.value, bind.block, bind.line, depth + 1)
    function = module.function_of(block)
    while function > 0 and name not in module.blocks[function].params:
        function = module.function_of(module.blocks[function].parent)
    if function > 0:
        for (home, index), passed in context.flow.passed(module, function, name)[:_MOST]:
            call = home.code.calls[index]
            if passed is not None:
                found += makers(context, home, passed, call.block, call.line, depth + 1)
    busy.discard(key)
    return found


def _of_element(context: Context, module: Module, value: Op, block: int, line: int, depth: int) -> list[Site]:
    holder, key = value.operands
    if isinstance(holder, CallResult) and isinstance(key, Const) and isinstance(key.value, int):
        call = module.code.calls[holder.call]
        name = context.names.of_call(module, holder.call)
        if name == INITIALIZE:
            part = argument(call, "models", 0) if key.value == 0 else argument(call, "optimizers", 1)
            return [] if part is None else makers(context, module, part, call.block, call.line, depth + 1)
        found = []
        target = context.names.function(name)
        for returned in target[0].returns.get(target[1], ()) if target else ():
            items = returned.value.items if isinstance(returned.value, SequenceDisplay) else ()
            if target and -len(items) <= key.value < len(items):
                part = items[key.value]
                found += makers(context, target[0], part, returned.block, returned.line + 1, depth + 1)
        return found
    if isinstance(holder, Op) and holder.op == "[]":  # an element of what amp.initialize was given as a list
        return makers(context, module, holder, block, line, depth + 1)
    return context.flow.sites(module, value, block, line)


def receiver(call: Call) -> Value | None:
    """The object that a method is called on."""
    if isinstance(call.callee, Ref):
        head = call.callee.name.rpartition(".")[0]
        return Ref(head) if head else None
    if isinstance(call.callee, Op) and call.callee.op == ".":
        return call.callee.operands[0]
    return None


def is_model(context: Context, module: Module, value: Value | None, block: int, line: int) -> bool:
    """Whether an object is a network: made by one of PyTorch's or of the project's modules, else named like one."""
    if value is None:
        return False
    meaning = context.names.of_value(module, value, block, line)
    if ":" in meaning and meaning.endswith("()"):
        return context.names.member(meaning, "state_dict").startswith("torch.nn.")
    if _NETWORKS.match(meaning):
        return True
    if isinstance(value, Ref):
        word = value.name.lower()
        return _MODEL_WORD.search(word) is not None and _NO_MODEL.search(word.rpartition(".")[2]) is None
    return False

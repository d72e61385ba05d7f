"""The origin of objects in a training program: the calls that created an optimizer, a model or a scaler."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.model.values.cursors import CallSite, Expr
from npulint.model.values.walker import walker

INITIALIZE = "apex.amp.initialize"
_MOST = 12  # maximum constructors per object
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


@walker(depth=12, otherwise=list)
def makers(value: Expr) -> list[CallSite]:
    """The calls that may have created an object, through project functions, parameters, attributes, lists and the
    results of `apex.amp.initialize`; at most 12."""
    call = value.call
    if call is not None:
        calls = _of_result(call)
    elif value.written:
        calls = _of_name(value)
    elif value.subscript is not None:
        calls = _of_element(value, *value.subscript)
    else:
        calls = [maker for part in (value.items[:_MOST] or value.alternatives) for maker in makers(part)]
    return list(dict.fromkeys(calls))[:_MOST]


def _of_result(call: CallSite) -> list[CallSite]:
    if call.name == INITIALIZE:  # only a model was passed
        models = call.argument("models", 0)
        return [] if models is None else makers(models)
    target = call.target
    if target is None or target.kind == "class":
        return [call]
    return [maker for returned in target.returns[:_MOST] for maker in makers(returned)] or [call]


def _of_name(value: Expr) -> list[CallSite]:
    calls = [maker for assignment in value.assignments[:_MOST] for maker in makers(assignment.value)]
    function = value.parameter_of
    for _, passed in () if function is None else function.passed(value.written)[:_MOST]:
        calls += [] if passed is None else makers(passed)
    return calls


def _of_element(value: Expr, holder: Expr, key: Expr) -> list[CallSite]:
    call, index = holder.call, key.literal
    if call is not None and isinstance(index, int):
        if call.name == INITIALIZE:
            part = call.argument("models", 0) if index == 0 else call.argument("optimizers", 1)
            return [] if part is None else makers(part)
        displays = [expr.items for expr in call.target.returns] if call.target is not None else []
        return [maker for items in displays if -len(items) <= index < len(items) for maker in makers(items[index])]
    if holder.subscript is not None:  # an element of a list passed to amp.initialize
        return makers(holder)
    return value.sites


def is_model(value: Expr | None) -> bool:
    """Whether an object is a model: created by a module class of PyTorch or of the project, else by its name."""
    if value is None:
        return False
    meaning = value.name
    if ":" in meaning and meaning.endswith("()"):
        return value.context.names.member(meaning, "state_dict").startswith("torch.nn.")
    if _NETWORKS.match(meaning):
        return True
    word = value.written.lower()
    return _MODEL_WORD.search(word) is not None and _NO_MODEL.search(word.rpartition(".")[2]) is None

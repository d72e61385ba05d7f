"""Steps for calls of unknown functions, judging by their names and arguments."""

from __future__ import annotations

from npulint.assemble.module import Module
from npulint.assemble.names import Names
from npulint.data.recipe import RecipeCall, is_half, recipe_call
from npulint.facts.code import Call, Const, Op, Ref, Value
from npulint.training_config.steps.model import Argument
from npulint.training_config.steps.naming import named_part

_TABLES = frozenset(("dict", "ConfigDict"))
_SINGLE = frozenset(("float32", "float"))
_TELLING = frozenset(("loss_scale",))
_MADE_ALIKE = frozenset(("dataset", "sampler", "optimizer", "schedule"))
_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!=", "&", "|", "~", "not", "in"))
_REGISTRY = "mmcv.registry."


def cast_of(call: Call, known: RecipeCall) -> str:
    """``half`` or ``float`` for a call that casts between 16-bit and 32-bit types: ``x.to(torch.float16)``."""
    if not known.same_as.startswith("?."):
        return ""
    if known.same_as == "?.float" and not call.args:
        return "" if _is_mask(call.callee) else "float"
    for value in (*call.args, *(keyword_value for name, keyword_value in call.keywords if name == "dtype")):
        if isinstance(value, Ref) and "." in value.name:
            if is_half(value.name):
                return "half"
            if value.name.startswith("torch.") and value.name.rpartition(".")[2] in _SINGLE:
                return "float"
    return ""


def _is_mask(callee: Value) -> bool:
    """Whether a method casts a boolean mask: ``(x > 0).float()``."""
    receiver = callee.operands[0] if isinstance(callee, Op) else None
    return isinstance(receiver, Op) and receiver.op in _COMPARING


def registered(written: str, call: Call) -> RecipeCall | None:
    """The component that ``dict(type="SGD", lr=0.1)`` describes."""
    kind = dict(call.keywords).get("type") if written in _TABLES else None
    return component(kind.value) if isinstance(kind, Const) and isinstance(kind.value, str) else None


def component(kind: str) -> RecipeCall | None:
    """The component that a registry knows as `kind`, or None."""
    return recipe_call(_REGISTRY + kind) if kind.isidentifier() else None


def is_general(known: RecipeCall) -> bool:
    """Whether a component is unknown except that it is one."""
    return known.part == "layer" and known.same_as.startswith(_REGISTRY)


def derived(names: Names, module: Module, block: int) -> RecipeCall | None:
    """The library class that a project class derives from and is constructed like, if that determines what it does: a
    subclass of a data loader is a loader."""
    record = module.blocks[block]
    maker = module.definition(block, "__init__") if record.kind == "class" else -1
    if record.kind != "class" or (maker >= 0 and not any(p.startswith("*") for p in module.blocks[maker].params)):
        return None
    for base in record.bases:
        known = recipe_call(names.of_value(module, base, record.parent, record.line))
        if known is not None and not known.through and known.part in _MADE_ALIKE and known.parameters:
            return known
    return None


def part_by_name(callee: Value) -> str:
    """The part that the callee's name alone determines: ``loss_scaler(loss, optimizer)``."""
    part = named_part(callee.name) if isinstance(callee, Ref) and "." not in callee.name else ""
    return part if part in _TELLING else ""


def settings_arguments(call: Call) -> list[Argument]:
    """The keyword arguments of such a call whose names are meaningful."""
    found = [(name, value, named_part(name)) for name, value in call.keywords]
    return [
        Argument(name, value, call.block, call.line, part) for name, value, part in found if part not in ("", "setting")
    ]

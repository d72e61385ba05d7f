"""Steps for calls of unknown functions, judging by their names and arguments."""

from __future__ import annotations

from npulint.commands.training_config.steps.model import Argument
from npulint.commands.training_config.steps.naming import named_part
from npulint.data.recipe import RecipeCall, is_half, recipe_call
from npulint.model.values.cursors import CallSite, Scope

_TABLES = frozenset(("dict", "ConfigDict"))
_SINGLE = frozenset(("float32", "float"))
_TELLING = frozenset(("loss_scale",))
_MADE_ALIKE = frozenset(("dataset", "sampler", "optimizer", "schedule"))
_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!=", "&", "|", "~", "not", "in"))
_REGISTRY = "mmcv.registry."


def cast_of(site: CallSite, known: RecipeCall) -> str:
    """``half`` or ``float`` for a call that casts between 16-bit and 32-bit types: ``x.to(torch.float16)``."""
    if not known.same_as.startswith("?."):
        return ""
    if known.same_as == "?.float" and not site.record.args:
        return "" if _casts_mask(site) else "float"
    named = [site.expr(value) for name, value in site.record.keywords if name == "dtype"]
    for written in (value.written for value in (*site.args, *named) if "." in value.written):
        if is_half(written):
            return "half"
        if written.startswith("torch.") and written.rpartition(".")[2] in _SINGLE:
            return "float"
    return ""


def _casts_mask(site: CallSite) -> bool:
    """Whether a method casts a boolean mask: ``(x > 0).float()``."""
    attribute = site.callee.attribute
    return attribute is not None and attribute[0].operator in _COMPARING


def registered(site: CallSite) -> RecipeCall | None:
    """The component that ``dict(type="SGD", lr=0.1)`` describes."""
    kind = site.argument("type") if site.last in _TABLES else None
    return component(kind.text) if kind is not None and kind.text else None


def component(kind: str) -> RecipeCall | None:
    """The component that a registry knows as `kind`, or None."""
    return recipe_call(_REGISTRY + kind) if kind.isidentifier() else None


def is_general(known: RecipeCall) -> bool:
    """Whether a component is unknown except that it is one."""
    return known.part == "layer" and known.same_as.startswith(_REGISTRY)


def derived(owner: Scope) -> RecipeCall | None:
    """The library class that a project class derives from and is constructed like, if that determines what it does: a
    subclass of a data loader is a loader."""
    maker = owner.called_block
    if owner.kind != "class" or (maker is not None and not any(name.startswith("*") for name in maker.parameters)):
        return None
    for base in owner.bases:
        known = recipe_call(base.name)
        if known is not None and not known.through and known.part in _MADE_ALIKE and known.parameters:
            return known
    return None


def part_by_name(site: CallSite) -> str:
    """The part that the callee's name alone determines: ``loss_scaler(loss, optimizer)``."""
    part = named_part(site.written) if site.written and "." not in site.written else ""
    return part if part in _TELLING else ""


def settings_arguments(site: CallSite) -> list[Argument]:
    """The keyword arguments of such a call whose names are meaningful."""
    found = [(name, site.expr(value), named_part(name)) for name, value in site.record.keywords]
    return [Argument(name, value, part) for name, value, part in found if part not in ("", "setting")]

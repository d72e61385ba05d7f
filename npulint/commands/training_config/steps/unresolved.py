"""Steps for calls of unknown functions, judging by their names and arguments."""

from __future__ import annotations

from npulint.commands.training_config.setting_parts import setting_part
from npulint.commands.training_config.steps.model import Argument
from npulint.core.lazy_regex import lazy_compile
from npulint.data.recipe import RecipeCall, is_half, recipe_call
from npulint.model.values.cursors import CallSite, Scope

# Parts of the training config by names in code, where the context decides as well.

STRONG = frozenset(
    """learning_rate schedule batch_size epochs steps weight_decay momentum seed loss_scale clipping dropout average
    split shuffle precision_mode drop_remainder iterations_per_loop""".split()
)
"""Parts that a name alone determines."""

SPLIT = lazy_compile(
    r"(?:^|[_\W\d])(?:train|trainval|val|valid|validation|test|testing|training|eval|dev)(?:$|[_\W\d])"
)
"""Words in texts that name a split of a data set."""
AVERAGE = lazy_compile(r"(?:^|[_.])ema(?:[_.]|$)|average(?!_?meter|_?value_?meter)|moving")
_DATA = lazy_compile(
    r"crop|resi[zs]e|interpol|image|img|flip|mean|std|jitter|augment|rotat|scale|pad|mel|fft|sample_rate|token"
)
_OF_GROUPS = frozenset(("learning_rate", "weight_decay", "momentum"))
_MODES = frozenset(("training", "is_training", "train", "is_train"))


def named_part(name: str) -> str:
    """The part of something of this name (see `npulint.commands.training_config.settings.setting_part`); words such as
    ``size`` and ``width`` alone do not indicate data."""
    if name in _MODES:
        return "evaluation"
    return refined_part(setting_part(name), name)


def refined_part(part: str, name: str) -> str:
    """A part that was derived from a name, unless the name is too unspecific."""
    return "setting" if part == "transform" and not _DATA.search(name.lower()) else part


def group_part(target: str) -> str:
    """The part of a setting of an optimizer's parameter group: ``group["weight_decay"] = 0``."""
    holder, bracket, entry = target.rpartition("[")
    part = named_part(entry.rstrip("]")) if bracket and "group" in holder.lower() else ""
    return part if part in _OF_GROUPS else ""


def own_part(name: str) -> str:
    """The part of a parameter of a project function, if its name alone determines it."""
    part = named_part(name)
    return part if part in STRONG or part == "evaluation" else ""


_TABLES = frozenset(("dict", "ConfigDict"))
_SINGLE = frozenset(("float32", "float"))
_TELLING = frozenset(("loss_scale",))
_MADE_ALIKE = frozenset(("dataset", "sampler", "optimizer", "schedule"))
_COMPARING = frozenset(("<", "<=", ">", ">=", "==", "!=", "&", "|", "~", "not", "in"))
_REGISTRY = "mmcv.registry."


def cast_of(site: CallSite, recipe: RecipeCall) -> str:
    """``half`` or ``float`` for a call that casts between 16-bit and 32-bit types: ``x.to(torch.float16)``."""
    if not recipe.same_as.startswith("?."):
        return ""
    if recipe.same_as == "?.float" and not site.record.args:
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


def is_general(recipe: RecipeCall) -> bool:
    """Whether a component is unknown except that it is one."""
    return recipe.part == "layer" and recipe.same_as.startswith(_REGISTRY)


def derived(owner: Scope) -> RecipeCall | None:
    """The library class that a project class derives from and is constructed like, if that determines what it does: a
    subclass of a data loader is a loader."""
    maker = owner.called_block
    if owner.kind != "class" or (maker is not None and not any(name.startswith("*") for name in maker.parameters)):
        return None
    for base in owner.bases:
        recipe = recipe_call(base.name)
        if recipe is not None and not recipe.through and recipe.part in _MADE_ALIKE and recipe.parameters:
            return recipe
    return None


def part_by_name(site: CallSite) -> str:
    """The part that the callee's name alone determines: ``loss_scaler(loss, optimizer)``."""
    part = named_part(site.written) if site.written and "." not in site.written else ""
    return part if part in _TELLING else ""


def settings_arguments(site: CallSite) -> list[Argument]:
    """The keyword arguments of such a call whose names are meaningful."""
    keywords = [(name, site.expr(value), named_part(name)) for name, value in site.record.keywords]
    return [Argument(name, value, part) for name, value, part in keywords if part not in ("", "setting")]

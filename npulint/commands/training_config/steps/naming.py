"""Parts of the training config by names in code, where the context decides as well."""

from __future__ import annotations

from npulint.commands.training_config.setting_parts import setting_part
from npulint.core.lazy_regex import lazy_compile

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

"""Component configurations identified by type: ``optimizer: {type: SGD, lr: 0.1}``, and lists of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.commands.training_config.configs.values import ConfigValue
from npulint.commands.training_config.setting_parts import setting_part
from npulint.commands.training_config.steps.unresolved import component, is_general
from npulint.core.lazy_regex import lazy_compile
from npulint.data.compare_parts import known_arguments

TYPE = "type"
_GENERAL = ("setting", "")
_NAMING = ("name", "train")  # what they name, the section says
_SECTIONS = (
    ("", lazy_compile(r"hook|log|visual|vis_|evaluator|client|backend|work_flow|resume|checkpoint_config")),
    ("transform", lazy_compile(r"pipeline|transform|augment")),
    ("schedule", lazy_compile(r"lr_config|schedul|policy")),
    ("optimizer", lazy_compile(r"optim")),
    ("loss", lazy_compile(r"loss|criteri")),
    ("initialisation", lazy_compile(r"init_cfg")),
    ("sampler", lazy_compile(r"sampler")),
    ("epochs", lazy_compile(r"runner|train_cfg|loop")),
    ("dataset", lazy_compile(r"^data$|dataset|dataloader|^train$")),
    (
        "layer",
        lazy_compile(
            r"model|backbone|neck|head|encoder|decoder|(?:norm|act|conv|upsample|dcn|attn)_cfg|layer|generator"
        ),
    ),
)
_EVALUATION = lazy_compile(r"^(?:test|val|eval|valid|validation)(?:_|$)|_(?:test|val|eval)$|tta")


def named(values: Sequence[ConfigValue]) -> Iterator[tuple[str, str, ConfigValue]]:
    """The leaves of a file with the part of each, under names in which list members are identified by type."""
    types = {leaf.key[:-1]: leaf.value for leaf in values if leaf.key and leaf.key[-1] == TYPE}
    kinds = {key: kind for key, kind in types.items() if isinstance(kind, str) and key}
    titles = _titles(kinds)
    for leaf in values:
        if leaf.key:
            name = ".".join(titles.get(leaf.key[: at + 1], word) for at, word in enumerate(leaf.key))
            yield name, _part(leaf, kinds), leaf


def _titles(kinds: dict[tuple[str, ...], str]) -> dict[tuple[str, ...], str]:
    """The names of list members; a number distinguishes members of the same type."""
    titles: dict[tuple[str, ...], str] = {}
    counts: dict[tuple[tuple[str, ...], str], int] = {}
    for key, kind in kinds.items():
        if key[-1].isdigit():
            counts[key[:-1], kind] = number = counts.get((key[:-1], kind), 0) + 1
            titles[key] = kind if number == 1 else f"{kind}#{number}"
    return titles


def _part(leaf: ConfigValue, kinds: dict[tuple[str, ...], str]) -> str:
    last = leaf.key[-1]
    argument = known_arguments().get(leaf.name if kinds else last) or known_arguments().get(leaf.name)
    if argument is not None:
        return argument.part
    part = setting_part(last)
    if not part and len(leaf.key) > 1 and isinstance(leaf.value, str) and last.lower() in _NAMING:
        around = setting_part(leaf.key[-2])
        part = around if around not in _GENERAL else "dataset" if "data" in leaf.key[-2].lower() else ""
    owner = next((leaf.key[:at] for at in range(len(leaf.key) - 1, 0, -1) if leaf.key[:at] in kinds), ())
    if not owner or (part in _GENERAL[1:] and last != TYPE):
        return part
    own = _of_component(owner, kinds[owner])
    if own and part in _GENERAL:
        recipe_call = component(kinds[owner])
        own = own if last == TYPE or recipe_call is None else recipe_call.roles.get(last, own)
    return own if last == TYPE or (own and part in _GENERAL) else part


def _of_component(key: tuple[str, ...], kind: str) -> str:
    """The part of a component of this type at this key; empty if it does not affect numbers."""
    words = [word.lower() for word in key if not word.isdigit()]
    section = next((part for word in reversed(words) for part, pattern in _SECTIONS if pattern.search(word)), None)
    if not section:
        return ""
    recipe_call = component(kind)
    part = section if recipe_call is None or is_general(recipe_call) else recipe_call.part
    return "evaluation" if part and any(_EVALUATION.search(word) for word in words) else part

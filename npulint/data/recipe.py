"""What calls decide which numbers a training gives, and with which of their parameters.

`recipe_call` knows a call by the canonical name of what it calls; `npulint.data.recipe_tables` says how that is told.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache, lru_cache

import msgspec

from npulint.data import table
from npulint.data.names import canonical
from npulint.data.recipe_tables import NOTHING, SPELLING, Plain, Row, sheet, signature_of
from npulint.lazy_regex import lazy_compile

FRAMEWORKS = ("tensorflow", "torch")
_TABLES = (*FRAMEWORKS, "host")
_TORCH = frozenset(
    "torch torchvision torch_npu apex timm albumentations nvidia pytorch_lightning lightning mmcv mmdet mmengine mmcls "
    "mmseg transformers ignite fairseq kornia torchaudio torchtext accelerate deepspeed warmup_scheduler diffusers "
    "pytorch_pretrained_bert torch_optimizer adamp madgrad lion_pytorch bitsandbytes torch_ema torchmetrics monai "
    "lightning_fabric fairscale fvcore detectron2 segmentation_models_pytorch efficientnet_pytorch catalyst "
    "torch_geometric prefetch_generator imgaug audiomentations torch_audiomentations".split()
)
_TENSORFLOW = frozenset(
    "tensorflow keras tf_slim horovod npu_bridge npu_device hccl tensorpack tensorlayer tflearn tensorflow_addons "
    "tensorflow_probability tensorflow_datasets tensorflow_hub keras_bert keras_contrib keras_applications sonnet "
    "keras_preprocessing keras_radam tf_keras npu_ops".split()
)
NEVER = frozenset(
    "name scope reuse collections outputs_collections variables_collections num_parallel_calls parallel_iterations "
    "swap_memory use_locking gate_gradients colocate_gradients_with_ops use_cudnn_on_gpu num_workers pin_memory device "
    "out inplace verbose data_format".split()
)
"""Parameters that change no number, whatever has them."""

USUAL = {
    "seed": "seed",
    "learning_rate": "learning_rate",
    "lr": "learning_rate",
    "batch_size": "batch_size",
    "weight_decay": "weight_decay",
    "trainable": "frozen",
    "clipnorm": "clipping",
    "clipvalue": "clipping",
    "global_clipnorm": "clipping",
    "loss_scale": "loss_scale",
    "drop_remainder": "drop_remainder",
    "drop_last": "drop_remainder",
    "kernel_initializer": "initialisation",
    "bias_initializer": "initialisation",
    "weights_initializer": "initialisation",
    "biases_initializer": "initialisation",
    "initializer": "initialisation",
    "kernel_regularizer": "regularisation",
    "bias_regularizer": "regularisation",
    "activity_regularizer": "regularisation",
    "weights_regularizer": "regularisation",
    "biases_regularizer": "regularisation",
    "regularizer": "regularisation",
}
"""The part of a recipe that parameters of these names belong to, whatever has them."""

_APPLIED = frozenset(("layer", "operation", "dropout", "loss", "regularisation", "transform", "initialisation"))
_HALF = frozenset("float16 half bfloat16 fp16 bf16".split())
_WHOLE = frozenset("bool bool_ int int8 int16 int32 int64 long short uint8 uint16 uint32 uint64".split())
_ELEMENT = lazy_compile(r"^(.+)\[(-?\d+)\]$")
_ROOT = lazy_compile(r"^\??[^.:()\[\]]*")


class RecipeCall(msgspec.Struct, frozen=True):
    """What a call of `name` adds to a recipe: `part` is a word of `npulint.facts.recipe.ITEMS`, empty for a call that
    only gives on an argument. Parameters are named as the callee names them; under which name each is compared, and
    how its value is converted for that, says `renamed`. `defaults` are the ones that are plain values; the first
    `positional` parameters can be given by place, `rest` takes all others (``*args``). `through` is the argument that
    the call gives on, and whose place it takes (``self``: the object whose method it is). `host` calls belong to a
    recipe only in code that prepares data; `adapter` calls are the NPU adapter's."""

    name: str
    part: str
    same_as: str
    neutral: str = ""
    parameters: tuple[str, ...] = ()
    defaults: dict[str, Plain] = {}
    positional: int = 0
    rest: str = ""
    ignored: frozenset[str] = NEVER
    roles: dict[str, str] = {}
    renamed: dict[str, tuple[str, str]] = {}
    neutral_names: dict[str, str] = {}
    neutral_how: dict[str, str] = {}
    host: bool = False
    adapter: bool = False
    through: str = ""

    @property
    def transparent(self) -> bool:
        """Whether the call only gives on one of its arguments, and decides nothing itself."""
        return bool(self.through) and not self.part

    def parameter(self, place: int) -> str:
        """The parameter that takes the argument at this place; the place itself where that is not known."""
        if place < self.positional:
            return self.parameters[place]
        return self.rest or str(place)

    def compared(self, parameter: str) -> str:
        """The name under which a parameter is compared; empty for one that changes no number."""
        if parameter in self.ignored or "*" in self.ignored:
            return ""
        return self.renamed.get(parameter, (parameter, ""))[0]

    def role(self, parameter: str) -> str:
        """The part of the recipe that an argument belongs to, by the callee's name of the parameter."""
        return self.roles.get(parameter) or USUAL.get(parameter, self.part)

    def effective(self, given: Mapping[str, object]) -> dict[str, object]:
        """The values that the call has, by compared name, from the `given` ones by parameter: defaults are filled in,
        values converted, parameters without influence left out."""
        found: dict[str, object] = {}
        for parameter, value in (*self.defaults.items(), *given.items()):
            name = self.compared(parameter)
            if name and not (value is None and parameter not in given and name in found):
                found[name] = converted(self.renamed.get(parameter, ("", ""))[1], value)
        return found

    def neutral_values(self, effective: Mapping[str, object]) -> dict[str, object]:
        """The values of `effective` that have a name without framework, by that name."""
        known = neutral_parameters().get(self.neutral, ())
        found = {name: value for name, value in effective.items() if name in known and name not in self.neutral_names}
        for name, neutral in self.neutral_names.items():
            element = _ELEMENT.match(name)
            if name in effective:
                found[neutral] = converted(self.neutral_how.get(name, ""), effective[name])
            elif element and isinstance(whole := effective.get(element[1]), (tuple, list)):
                at = int(element[2])
                if -len(whole) <= at < len(whole):
                    found[neutral] = whole[at]
        return found


def converted(how: str, value: object) -> object:
    """A value as it is compared; one that cannot be converted stays as it is. `how`: ``complement`` 1 - x, ``negated``
    not x, ``reciprocal`` 1 / x, ``caseless`` text in lower case, ``named`` the last part of a dotted name without case
    (``tensorflow.nn.relu``, ``ReLU`` and ``relu`` are one), ``equal`` a sequence of equal values is one of them,
    ``sequence`` a single value is a sequence, ``flag`` none is false, ``averaged`` and ``reduced`` the old flags of
    losses as the word that stands for them now."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if how == "complement":
            return round(1 - value, 12)
        if how == "reciprocal" and value:
            return 1 / value
    if how == "negated" and isinstance(value, bool):
        return not value
    if isinstance(value, str) and how in ("caseless", "named"):
        text = value.removesuffix("()").rpartition(".")[2].replace("_", "") if how == "named" else value
        return text.lower()
    if how == "equal" and isinstance(value, (tuple, list)) and value and all(v == value[0] for v in value):
        return value[0]
    if how == "sequence" and isinstance(value, (int, float, str)):
        return (value,)
    if isinstance(value, bool) and how in _REDUCTIONS:
        return _REDUCTIONS[how][value]
    return False if how == "flag" and value is None else value


_REDUCTIONS = {"averaged": ("sum", "mean"), "reduced": ("none", "mean")}


def is_half(value: object) -> bool:
    """Whether a value names a type of numbers with 16 bits: an argument with the role ``half_cast`` has that role
    only then."""
    return isinstance(value, str) and value.rpartition(".")[2].lower() in _HALF


def is_whole(value: object) -> bool:
    """Whether a value names a type of whole numbers or truth values: between these no number is rounded."""
    return isinstance(value, str) and value.rpartition(".")[2].strip("'\"").lower() in _WHOLE


@lru_cache(maxsize=1 << 14)
def recipe_call(name: str, framework: str = "") -> RecipeCall | None:
    """What is known of calls of the canonical `name`; none if they decide no numbers or are not known. A method of an
    unknown object is one of `framework`, if that is one of `FRAMEWORKS`, or of a host library. An object that was made
    by a known call and is itself called (``torch.nn.Conv2d()``) is the application of that: its `same_as` ends in
    ``()``."""
    for source in _sources(name, framework):
        found = sheet(source).find(name)
        if found is not None:
            return _known(source, name, *found)
    if name.endswith("()"):
        made = recipe_call(name[:-2], framework)
        if made is not None and made.through == "self":
            return recipe_call(name[:-2].rpartition(".")[0], framework)
        if made is not None and not made.through and made.part in _APPLIED:
            return RecipeCall(name, made.part, made.same_as + "()", host=made.host, adapter=made.adapter)
    return None


@cache
def neutral_parameters() -> dict[str, tuple[str, ...]]:
    """The parameters that each name without framework has."""
    found = {}
    for line in table("recipe_neutral.txt").decode().split("\n"):
        name, colon, parameters = line.partition(":")
        if colon and not line.startswith("#"):
            found[name.strip()] = tuple(parameters.split())
    return found


@cache
def setting_parts() -> dict[str, str]:
    """The part of a recipe that a setting of the adapter, the session or the run belongs to (facts of kind
    ``setting``, by their name)."""
    rows = csv.DictReader(io.StringIO(table("recipe_settings.csv").decode()))
    return {row["setting"]: row["part"] for row in rows}


def _sources(name: str, framework: str) -> tuple[str, ...]:
    matched = _ROOT.match(name)
    root = matched[0] if matched else ""
    if root in _TORCH:
        return ("torch",)
    if root in _TENSORFLOW:
        return ("tensorflow",)
    own = framework == "torch" and ":" in name and ")" in name  # a member of what the project's own code gives
    if own or name.startswith("?"):
        return (framework, "host") if framework in FRAMEWORKS else _TABLES
    return ("host",)


def _known(source: str, name: str, row: Row, word: str) -> RecipeCall | None:
    if row.part == SPELLING:
        return recipe_call(canonical(row.same_as.replace("*", word)), source)
    return _call(source, name, row, word) if row.part != NOTHING or "through=" in row.flags else None


def _call(source: str, name: str, row: Row, word: str) -> RecipeCall:
    last = name.rpartition(".")[2]
    own = "?." + last if row.pattern.startswith("?.") else name  # whatever the object is called
    same_as = row.same_as.replace("*", word).replace("$", last) or own
    flags = dict(_pair(flag) for flag in row.flags.split())
    neutral, *neutral_names = row.neutral.replace("*", word).split() or [""]
    signature = signature_of(source, row, name, same_as)
    renamed = dict(_renaming(text) for text in row.renamed.split())
    return RecipeCall(
        name=name,
        part="" if row.part == NOTHING else row.part,
        same_as=same_as,
        neutral=neutral,
        parameters=signature.parameters,
        positional=signature.positional,
        rest=signature.rest,
        defaults=signature.defaults,
        ignored=NEVER.union(row.ignored.split()),
        roles=_roles(row, signature.parameters, renamed),
        renamed=renamed,
        neutral_names={name: right.partition(":")[0] for name, right in map(_pair, neutral_names)},
        neutral_how={name: right.partition(":")[2] for name, right in map(_pair, neutral_names) if ":" in right},
        host="host" in flags,
        adapter="adapter" in flags,
        through=flags.get("through", ""),
    )


def _roles(row: Row, parameters: tuple[str, ...], renamed: dict[str, tuple[str, str]]) -> dict[str, str]:
    """The parts of the parameters that have one of their own, by their own and by their compared names."""
    usual = {parameter: USUAL[parameter] for parameter in parameters if parameter in USUAL}
    found = usual | dict(_pair(role) for role in row.roles.split())
    return {renamed[parameter][0]: part for parameter, part in found.items() if parameter in renamed} | found


def _pair(text: str) -> tuple[str, str]:
    left, _, right = text.partition("=")
    return left, right


def _renaming(text: str) -> tuple[str, tuple[str, str]]:
    parameter, right = _pair(text)
    name, _, how = right.partition(":")
    return parameter, (name or parameter, how)

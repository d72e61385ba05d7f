"""Which calls affect the numbers of a training, and through which parameters.

`recipe_call` looks up a call by the canonical name of its callee; `npulint.data.recipe_tables` describes the tables."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache, lru_cache

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import table
from npulint.data.names import canonical
from npulint.data.recipe_tables import NOTHING, SPELLING, Plain, RecipeRow, sheet, signature_of

FRAMEWORKS = ("tensorflow", "torch")
_TABLES = (*FRAMEWORKS, "host")
_TORCH = frozenset(
    "torch torchvision torch_npu apex timm albumentations nvidia pytorch_lightning lightning mmcv mmdet mmengine mmcls "
    "mmseg transformers ignite fairseq kornia torchaudio torchtext accelerate deepspeed warmup_scheduler diffusers "
    "pytorch_pretrained_bert torch_optimizer adamp madgrad lion_pytorch bitsandbytes torch_ema torchmetrics monai "
    "lightning_fabric fairscale fvcore detectron2 segmentation_models_pytorch efficientnet_pytorch catalyst "
    "torch_geometric datasets prefetch_generator imgaug audiomentations torch_audiomentations".split()
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
"""Parameters that never affect numbers, in any callee."""

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
"""The part of parameters of these names, in any callee."""

_APPLIED = frozenset(("layer", "operation", "dropout", "loss", "regularisation", "transform", "initialisation"))
_HALF = frozenset("float16 half bfloat16 fp16 bf16".split())
_WHOLE = frozenset("bool bool_ int int8 int16 int32 int64 long short uint8 uint16 uint32 uint64".split())
_ELEMENT = lazy_compile(r"^(.+)\[(-?\d+)\]$")
_ROOT = lazy_compile(r"^\??[^.:()\[\]]*")


class RecipeCall(msgspec.Struct, frozen=True):
    """What a call of `name` contributes to a training config: `part` is a part in `npulint.facts.recipe.ITEMS`, empty
    for a call that only returns an argument. Parameters have the callee's names; `renamed` has the names for comparison
    and the conversions of values. `defaults` are the plain ones; the first `positional` parameters can be passed by
    position, `rest` takes all others (``*args``). `through` is the argument that the call returns (``self``: the object
    of the method). `host` calls count only in code that prepares data; `adapter` calls are the NPU adapter's."""

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
        """Whether the call only returns one of its arguments, and has no effect of its own."""
        return bool(self.through) and not self.part

    def parameter(self, place: int) -> str:
        """The parameter at a position; the position itself if unknown."""
        if place < self.positional:
            return self.parameters[place]
        return self.rest or str(place)

    def compared(self, parameter: str) -> str:
        """The comparison name of a parameter; empty if it does not affect numbers."""
        if "*" in self.ignored or (parameter in self.ignored and parameter not in self.renamed):
            return ""
        return self.renamed.get(parameter, (parameter, ""))[0]

    def role(self, parameter: str) -> str:
        """The part of an argument, by the callee's name of the parameter."""
        return self.roles.get(parameter) or USUAL.get(parameter, self.part)

    def effective(self, arguments: Mapping[str, object]) -> dict[str, object]:
        """The effective values of a call by comparison name: `arguments` by parameter plus defaults, converted, without
        parameters that do not affect numbers."""
        values: dict[str, object] = {}
        for parameter, value in (*self.defaults.items(), *arguments.items()):
            name = self.compared(parameter)
            if name and not (value is None and parameter not in arguments and name in values):
                values[name] = converted(self.renamed.get(parameter, ("", ""))[1], value)
        return values

    def neutral_values(self, effective: Mapping[str, object]) -> dict[str, object]:
        """The values of `effective` that have a framework-neutral name, by that name."""
        parameters = neutral_parameters().get(self.neutral, ())
        values = {
            name: value for name, value in effective.items() if name in parameters and name not in self.neutral_names
        }
        for name, neutral in self.neutral_names.items():
            element = _ELEMENT.match(name)
            if name in effective:
                values[neutral] = converted(self.neutral_how.get(name, ""), effective[name])
            elif element and isinstance(sequence := effective.get(element[1]), (tuple, list)):
                at = int(element[2])
                if -len(sequence) <= at < len(sequence):
                    values[neutral] = sequence[at]
        return values


def converted(how: str, value: object) -> object:
    """A value converted for comparison; unchanged if that is not possible. `how`: ``complement`` 1 - x, ``negated`` not
    x, ``reciprocal`` 1 / x, ``caseless`` lower case, ``named`` the lower-case last part of a dotted name
    (``tensorflow.nn.relu``, ``ReLU`` and ``relu`` are equal), ``equal`` a sequence of equal values is one of them,
    ``sequence`` a single value is a sequence, ``flag`` None is false, ``averaged`` and ``reduced`` the legacy flags of
    losses as the `reduction` that replaces them."""
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
    """Whether a value names a 16-bit floating-point type: an argument with the role ``half_cast`` has it only then."""
    return isinstance(value, str) and value.rpartition(".")[2].lower() in _HALF


def is_whole(value: object) -> bool:
    """Whether a value names an integer or boolean type: casts between these do not round."""
    return isinstance(value, str) and value.rpartition(".")[2].strip("'\"").lower() in _WHOLE


@lru_cache(maxsize=1 << 14)
def recipe_call(name: str, framework: str = "") -> RecipeCall | None:
    """The record for calls of the canonical `name`; None if they do not affect numbers or are unknown. A method of an
    unknown object is looked up in `framework`, if that is one of `FRAMEWORKS`, or in a host library. Applying the
    result of a known call (``torch.nn.Conv2d()``) has a `same_as` that ends in ``()``."""
    for source in _sources(name, framework):
        match = sheet(source).find(name)
        if match is not None:
            return _known(source, name, *match)
    if name.endswith("()"):
        made = recipe_call(name[:-2], framework)
        if made is not None and made.through == "self":
            return recipe_call(name[:-2].rpartition(".")[0], framework)
        if made is not None and not made.through and made.part in _APPLIED:
            return RecipeCall(name, made.part, made.same_as + "()", host=made.host, adapter=made.adapter)
    return None


@cache
def neutral_parameters() -> dict[str, tuple[str, ...]]:
    """The parameters of each framework-neutral name."""
    by_name = {}
    for line in table("recipe_neutral.txt").decode().split("\n"):
        name, colon, parameters = line.partition(":")
        if colon and not line.startswith("#"):
            by_name[name.strip()] = tuple(parameters.split())
    return by_name


@cache
def setting_parts() -> dict[str, str]:
    """The part of settings of the adapter, the session or the run (`setting` facts, by name)."""
    rows = csv.DictReader(io.StringIO(table("recipe_settings.csv").decode()))
    return {row["setting"]: row["part"] for row in rows}


def _sources(name: str, framework: str) -> tuple[str, ...]:
    matched = _ROOT.match(name)
    root = matched[0] if matched else ""
    if root in _TORCH:
        return ("torch",)
    if root in _TENSORFLOW:
        return ("tensorflow",)
    own = framework == "torch" and ":" in name and ")" in name  # a member of a result of project code
    if own or name.startswith("?"):
        return (framework, "host") if framework in FRAMEWORKS else _TABLES
    return ("host",)


def _known(source: str, name: str, row: RecipeRow, word: str) -> RecipeCall | None:
    if row.part == SPELLING:
        return recipe_call(canonical(row.same_as.replace("*", word)), source)
    return _call(source, name, row, word) if row.part != NOTHING or "through=" in row.flags else None


def _call(source: str, name: str, row: RecipeRow, word: str) -> RecipeCall:
    last = name.rpartition(".")[2]
    own = "?." + last if row.pattern.startswith("?.") else name  # whatever the object is named
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


def _roles(row: RecipeRow, parameters: tuple[str, ...], renamed: dict[str, tuple[str, str]]) -> dict[str, str]:
    """The parts of parameters that have their own, by parameter name and by comparison name."""
    usual = {parameter: USUAL[parameter] for parameter in parameters if parameter in USUAL}
    roles = usual | dict(_pair(role) for role in row.roles.split())
    return {renamed[parameter][0]: part for parameter, part in roles.items() if parameter in renamed} | roles


def _pair(text: str) -> tuple[str, str]:
    left, _, right = text.partition("=")
    return left, right


def _renaming(text: str) -> tuple[str, tuple[str, str]]:
    parameter, right = _pair(text)
    name, _, how = right.partition(":")
    return parameter, (name or parameter, how)

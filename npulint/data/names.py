"""Canonical names: one name for every spelling of a framework or adapter member (PyTorch: `torch_names`).

The canonical name is the short TensorFlow 1.15 spelling below ``tensorflow``: ``tensorflow.reduce_sum``
for ``tf.math.reduce_sum``, ``tensorflow.nn.top_k`` for ``tf.math.top_k``. Two spellings are one only if 1.15
defines both in the same place and 2.x agrees. ``tf.contrib`` and plain ``keras`` keep their own names, ``tf_slim``
is ``tensorflow.contrib.slim``. ``tf.compat.v2`` names stay apart where the leading parameters differ from 1.x.
What ``npu_bridge.npu_init`` exports is named after it, but for members of hccl and TensorFlow.
"""

from __future__ import annotations

from functools import cache, lru_cache

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import known_prefix, lazy_table

# Canonical names of PyTorch, torch_npu and apex members.

ROOTS = frozenset(("torch", "torch_npu", "apex", "deepspeed"))
# Modules of one class each, named after it: the parent package exports the class.
_HOMES = lazy_compile(
    r"^(torch\.nn)\.modules\.(?:[a-z_0-9]+\.)?([A-Z]\w*)"
    r"|^((?:torch|apex|torch_npu)\.optim(?:izers)?)\.(?!lr_scheduler|swa_utils)[a-z_0-9]+\.([A-Z]\w*)"
)


class _TorchNames(msgspec.Struct, frozen=True):
    aliases: dict[str, str]
    stars: dict[str, list[str]]
    npu: list[str]


_torch_names = lazy_table("torch_names.json", _TorchNames)


@lru_cache(maxsize=1 << 15)
def canonical_torch(name: str) -> str:
    """The canonical form of a dotted name below one of `ROOTS`; anything after a call or subscript is kept."""
    end = min((at for at in (name.find("("), name.find("[")) if at >= 0), default=len(name))
    head, tail = name[:end], name[end:]
    aliases = _torch_names().aliases
    prefix = known_prefix(head, aliases)
    head = aliases[prefix] + head[len(prefix) :] if prefix else head
    return _HOMES.sub(r"\1\3.\2\4", head) + tail


@cache
def star_names(module: str) -> frozenset[str]:
    """Names that ``from module import *`` binds; empty for an unrecorded module."""
    return frozenset(_torch_names().stars.get(canonical_torch(module), ()))


@cache
def npu_members() -> frozenset[str]:
    """Members of ``torch.npu`` in any recorded release of torch_npu."""
    return frozenset(_torch_names().npu)


_ROOTS = frozenset(
    (
        "tensorflow",
        "tensorflow_core",
        "tensorflow_estimator",
        "tf_slim",
        "tf_keras",
        "keras",
        "npu_bridge",
        "npu_device",
    )
)
_V2 = "tensorflow.compat.v2."
_KERAS = "tensorflow.python.keras"
_STEPS = 6

Members = dict[str, dict[str, str]]


class _Names(msgspec.Struct, frozen=True):
    aliases: dict[str, str]
    spellings: dict[str, str]
    separate: frozenset[str]
    adapter: dict[str, str]
    keras: Members


_names = lazy_table("names.json", _Names)


_private = lazy_table("private_names.json", Members)


_exports = lazy_table("star_exports.json", dict[str, list[str]])


@lru_cache(maxsize=1 << 16)
def canonical(name: str) -> str:
    """The canonical form of a dotted name; names of unknown frameworks are returned unchanged.

    Anything after a call or subscript (``tf.data.Dataset.range().map``) is kept."""
    root = name.partition(".")[0]
    if root not in _ROOTS:
        return canonical_torch(name) if root in ROOTS else name
    end = min((at for at in (name.find("("), name.find("[")) if at >= 0), default=len(name))
    head, tail = name[:end], name[end:]
    for _ in range(_STEPS):
        better = _step(head)
        if better == head:
            break
        head = better
    return head + tail


@lru_cache(maxsize=256)
def star_exports(module: str) -> frozenset[str]:
    """Names that ``from module import *`` binds; empty for an unrecorded module."""
    if module.partition(".")[0] in ROOTS:
        return star_names(module)
    exports = _exports()
    names = exports.get(module)
    if names is None:
        name = canonical(module)
        name = "tensorflow" if name == _V2[:-1] else name
        names = exports.get(f"tensorflow.{name}" if name.startswith("keras") else name, [])
    return frozenset(names)


def _step(name: str) -> str:
    names = _names()
    if name.startswith("npu_bridge."):
        return _replaced(_replaced(name, names.adapter), names.aliases)
    if name.startswith("keras"):
        native = _keras(f"tensorflow.{_replaced(name, names.aliases)}")
        return native.removeprefix("tensorflow.") if native.startswith("tensorflow.keras") else name
    if _is_private(name):
        public = _member(name, _private())
        if public != name:
            return public
    name = _replaced(name, names.aliases)
    if name.startswith("tensorflow.keras."):
        return _keras(name)
    if name.startswith(_V2):
        return _second_version(name)
    return _replaced(name, names.spellings)


def _is_private(name: str) -> bool:
    if name.startswith("tensorflow.contrib."):
        return ".python." in name
    return name.startswith(("tensorflow.python.", "tensorflow.core.", "tensorflow_estimator."))


def _keras(name: str) -> str:
    """Keras members by private module, or by alias."""
    if name.count(".") > 2:
        probe = _KERAS + name.removeprefix("tensorflow.keras")
        public = _member(probe, _names().keras)
        if public != probe:
            return public
    return _replaced(name, _names().spellings)


def _second_version(name: str) -> str:
    rest = name.removeprefix(_V2)
    separate = _names().separate
    prefixes = (rest[:at] for at in range(len(rest) + 1) if at == len(rest) or rest[at] == ".")
    if any(prefix in separate for prefix in prefixes) or rest in _parents():
        return name
    return f"tensorflow.{rest}"


@cache
def _parents() -> frozenset[str]:
    """Modules below compat.v2 with a member that keeps its v2 name; they keep theirs too."""
    return frozenset(name.rpartition(".")[0] for name in _names().separate)


def _replaced(name: str, prefixes: dict[str, str]) -> str:
    """The name with its longest known dotted prefix replaced."""
    prefix = known_prefix(name, prefixes)
    return prefixes[prefix] + name[len(prefix) :] if prefix else name


def _member(name: str, members: Members) -> str:
    """The public name for the longest prefix that is a recorded member of a private module."""
    end = len(name)
    while (dot := name.rfind(".", 0, end)) > 0:
        public = members.get(name[:dot], {}).get(name[dot + 1 : end])
        if public is not None:
            return public + name[end:]
        end = dot
    return name

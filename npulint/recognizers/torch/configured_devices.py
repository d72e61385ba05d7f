"""Devices and backends in configuration files of a project, which its code loads and uses as such."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.code import Op, Ref
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.model.running.code_facts import CallFact
from npulint.model.running.code_places import options_named
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.loaded import FileText, loaded
from npulint.recognizers.registry import recognizes_in_modules

What = Literal["device", "backend"]
_TAKERS: dict[str, tuple[str, int, What]] = {
    "device": ("device", 0, "device"),
    "to": ("device", 0, "device"),
    "to_empty": ("device", 0, "device"),
    "load": ("map_location", 1, "device"),
    "set_default_device": ("device", 0, "device"),
    "set_device": ("device", 0, "device"),
    "autocast": ("device_type", 0, "device"),
    "Generator": ("device", 0, "device"),
    "init_process_group": ("backend", 0, "backend"),
    "new_group": ("backend", -1, "backend"),
    **dict.fromkeys(
        "tensor as_tensor zeros ones empty full rand randn randint arange eye linspace zeros_like ones_like".split(),
        ("device", -1, "device"),
    ),
}
"""Functions and methods that take a device or a backend, by their last names: the argument and its position."""
_OF_TORCH = lazy_compile(r"^torch\.")
_METHODS = frozenset(("to", "to_empty"))
_LOADERS = lazy_compile(r"(?:^|\.)(?:yaml|json|toml|tomllib|OmegaConf|YAML\(\)|mmengine|mmcv)\.(?:\w+_)?loads?$")
_TAKING = frozenset(("get", "pop"))
_MOST = 8  # keys of a value


@fact_kind("configured_device")
class ConfiguredDevice(Fact, dict=True):
    """A configuration file that the project's own code loads names the device, or the backend of process groups, that
    the code uses; the name is the value."""

    name: str
    path: str
    span: Span
    what: What
    """What it is used as."""
    used_at: str
    """The place in the code that uses it, as path:line."""
    _user: CallFact | None = None

    @property
    def used_by(self) -> CallFact | None:
        """The call that takes it, unless that may take the value of another file."""
        return self._user

    @attribute
    def of(self) -> Literal["cuda", "npu"]:
        """Whose device or backend it is."""
        return "cuda" if self.name.startswith(("cuda", "nccl")) else "npu"

    @attribute
    def counterpart(self) -> str:
        """The value that means the same on the NPU."""
        return self.name.replace("cuda", "npu").replace("nccl", "hccl")


@recognizes_in_modules
def configured_devices(module: Scope) -> Iterator[ConfiguredDevice]:
    """The values of configuration files that calls of a module take as a device or a backend."""
    if module.context.held_under is None:
        return
    for call in module.calls_named(*_TAKERS):
        name, place, what = _TAKERS[call.last]
        value = call.argument(name, place) if call.last in _METHODS or _OF_TORCH.search(call.name) else None
        texts = [] if value is None else _texts(value) or (_of_same_name(value) if what == "backend" else [])
        user = CallFact(call, call.name) if len({text.path for text in texts}) == 1 else None
        for text in texts:
            if str(text.value).endswith("ccl") == (what == "backend"):
                yield ConfiguredDevice(str(text.value), text.path, text.span, what, f"{call.path}:{call.line}", user)


def _texts(value: Expr) -> list[FileText]:
    """The texts of files that an expression may be."""
    file_texts = [text for expr in loaded(value) for text in _placed(expr)]
    under = value.context.held_under
    if file_texts or under is None:
        return file_texts
    values = (
        [assignment.value for assignment in value.assignments]
        if value.written and "." not in value.written
        else [value]
    )
    keys = [key for key in map(_keys, values) if key]
    return [text for key in keys for text in under(key) if isinstance(text, FileText)]


def _of_same_name(value: Expr) -> list[FileText]:
    """The texts that files have under the name of an attribute of which nothing else is known: classes and functions of
    a project often pass on the entries of a file."""
    context = value.context
    if context.held_as is None or value.known.values or not value.written:
        return []
    holder, _, key = value.written.rpartition(".")
    if not holder or options_named(context, key) or _is_assigned(context, key):
        return []
    return [text for text in context.held_as(key) if isinstance(text, FileText)]


def _is_assigned(context: Context, key: str) -> bool:
    """Whether some code of the project gives an attribute of this name a value."""
    return any(target.endswith(f".{key}") for module in module_scopes(context) for target in module.module.dotted)


def _placed(value: Expr) -> list[FileText]:
    if isinstance(value.value, FileText):
        return [value.value]
    operands = value.value.operands if isinstance(value.value, Op) and value.value.op == "if" else ()
    return [operand for operand in operands if isinstance(operand, FileText)]


def _keys(value: Expr) -> tuple[str, ...]:
    """The keys of an entry in what a call loads from a file that is not known; empty for all else."""
    keys: list[str] = []
    while len(keys) < _MOST:
        if keys and _is_loaded(value):
            return tuple(reversed(keys))
        holder, key = _step(value)
        if holder is None or not key:
            return ()
        keys.append(key)
        value = holder
    return ()


def _step(value: Expr) -> tuple[Expr | None, str]:
    """The holder of an entry, and the key."""
    head, _, last = value.written.rpartition(".")
    if head:
        return value.sibling(Ref(head)), last
    if value.operator in ("[]", "."):
        holder, key = value.operands()[:2]
        return holder, key.text
    call: CallSite | None = value.call
    if call is not None and call.last in _TAKING and call.args and call.receiver is not None:
        return call.receiver, call.args[0].text
    return None, ""


def _is_loaded(value: Expr) -> bool:
    """Whether a value is what a call loads from a file."""
    sites = value.sites
    return bool(sites) and all(_LOADERS.search(site.name) for site in sites)

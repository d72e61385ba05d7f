"""Parses operator names in dumps into operator, tensor and type."""

from __future__ import annotations

import msgspec

from npulint.core.lazy_regex import lazy_compile

_API_TENSOR = lazy_compile(
    r"(.*[._](?:forward|backward)(?:[._]\d+)?)[._](input|output|parameters_grad|parameters|kwargs)(?:[._](.*))?$"
)
_ANY_TENSOR = lazy_compile(r"(.+)[:._](input|output)(?:[:._]([^:]*))?$")
_API = lazy_compile(r"[A-Za-z]+[._](.+?)(?:[._]\d+)?[._](?:forward|backward)(?:[._]\d+)?$")
_NODE = lazy_compile(r"([A-Z][A-Za-z0-9]*)(?:_\d+)?$")
_DUMP = lazy_compile(
    r"(\w+)\.(.+?)\.(\d+)(?:\.(\d+))?\.(\d{10,20})"
    r"(?:\.(input|output)\.(\d+))?(?:\.[a-z]+)*$"
)
_FRAME = lazy_compile(r"File ([^,\n]{1,500}), line (\d{1,9})")
_LIBRARIES = ("site-packages", "dist-packages", "/lib/python", "<frozen", "/torch/nn/modules/")
_CUT = 1000


class DumpName(msgspec.Struct, frozen=True):
    """The parts of a dump name. `timestamp` is in µs, `stream` is -1 where the release does not write it, `direction`
    is ``input``, ``output`` or empty."""

    type: str
    op: str
    task: int
    stream: int
    timestamp: int
    direction: str
    index: int


def dump_name(name: str) -> DumpName | None:
    """The parts of a dump's file name (``Type.name.task[.stream].timestamp[.output.0.npy]``), None for another file.

    The overflow record of a run has the type ``Opdebug``."""
    match = _DUMP.match(name[:_CUT])
    if match is None:
        return None
    kind, op, task, stream, stamp, direction, index = match.groups()
    return DumpName(kind, op, int(task), int(stream or -1), int(stamp), direction or "", int(index or 0))


def tensor_of(name: str) -> tuple[str, str, str]:
    """(operator, direction, number) of a tensor's name: ``Torch_relu_0_forward_output`` is the output of
    ``Torch_relu_0_forward``. The direction is empty if the name does not contain it."""
    head, _, last = name.rpartition(".")
    if last.isdecimal():  # fast path without a pattern
        op, _, side = head.rpartition(".")
        if side in ("input", "output") and op:
            return op, side, last
    match = _API_TENSOR.match(name) or _ANY_TENSOR.match(name)
    return (match[1], match[2], match[3] or "") if match else (name, "", "")


def indexed(tensor: str) -> tuple[str, str]:
    """(direction, number) of a ``TensorIndex`` cell: ``conv1:output:0``. The direction is empty for another text."""
    parts = tensor.rsplit(":", 2)
    return (parts[-2], parts[-1]) if len(parts) > 1 and parts[-2] in ("input", "output") else ("", "")


def type_of(op: str) -> str:
    """The type in an operator's name: the function or module class of a recorded API, the default name of a graph node;
    ``-`` if there is none."""
    match = _API.match(op[:_CUT])
    if match:
        module = op.startswith("Module")
        inner = match[1].rpartition("." if "." in match[1] else "_")[2] if module else match[1]
        return inner or "-"
    match = _NODE.match(op[:_CUT].rpartition("/")[2])
    return match[1] if match else "-"


def user_line(stack: str) -> tuple[str, int]:
    """File and line of the innermost frame (``File a.py, line 3, in f``) outside installed packages; else ("", 0)."""
    for file, line in _FRAME.findall(stack):
        if not any(part in file for part in _LIBRARIES):
            return file.strip(' "'), int(line)
    return "", 0

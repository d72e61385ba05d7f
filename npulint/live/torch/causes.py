"""What in the source makes the host read a value: ``.item()``, ``if tensor``, ``print`` …"""

from __future__ import annotations

import dis
import linecache
import os
import re
from collections.abc import Sequence
from itertools import islice
from types import CodeType
from typing import Any

from npulint.live.torch.sites import line_at

_METHODS = "item tolist cpu numpy to equal allclose nonzero".split()
_CONVERTED = {  # builtin or function: what it asks a tensor for
    "float": "float",
    "int": "int",
    "range": "int",
    "round": "float",
    "bool": "bool",
    "any": "bool",
    "all": "bool",
    "max": "bool",
    "min": "bool",
    "sorted": "bool",
    "assert": "bool",
    "print": "print",
    "str": "print",
    "repr": "print",
    "list": "tolist",
}
_METHOD = re.compile(rf"\.({'|'.join(_METHODS)})\s*\((?:[^()]|\([^()]*\))*\)\s*$")
_FUNCTION = re.compile(rf"\s*(?:(math\.)\w+|({'|'.join(_CONVERTED)}))\s*\(")
_ANY = re.compile(rf"\.({'|'.join(_METHODS)})\s*\(|\b(math\.)\w+\(|\b({'|'.join(_CONVERTED)})\s*\(")
_SCALERS = os.sep + "grad_scaler.py"
_PRINTING = os.sep + "_tensor_str.py"
_OPCODES = (
    (("POP_JUMP", "JUMP_IF", "UNARY_NOT", "TO_BOOL"), "bool"),
    (("BINARY_S", "STORE_S", "DELETE_S", "BUILD_SLICE"), "index"),
    (("FORMAT", "CONVERT_VALUE"), "format"),
    (("CONTAINS",), "contains"),
)


_READS = frozenset(f"aten.{name}.default" for name in "_local_scalar_dense is_nonzero equal".split())
"""Operators that read values."""


def cause_of(op: str, copies: bool, readers: Sequence[tuple[CodeType, int]]) -> str:
    """What lets an operator read a value at the innermost of these instructions; empty if the source does not show
    it. `copies`: it copies to the host."""
    cause = _cause(readers)
    if cause == "print" or copies or op in _READS:
        return cause
    return "mask" if cause == "index" and ".nonzero" in op else ""  # an index of a boolean tensor is one


def _cause(readers: Sequence[tuple[CodeType, int]]) -> str:
    if any(code.co_filename.endswith(_PRINTING) for code, _ in readers):
        return "print"
    if not readers:
        return ""
    code, last = readers[0]
    if os.path.basename(code.co_filename) == "_tensor.py":
        return code.co_name.strip("_")
    return "found_inf" if code.co_filename.endswith(_SCALERS) else _read_by(code, last)


def _read_by(code: CodeType, last: int) -> str:
    opcode = dis.opname[code.co_code[last]] if last < len(code.co_code) else ""
    for begins, cause in _OPCODES:
        if opcode.startswith(begins):
            return cause
    text = _expression(code, last)
    if text is None:
        found = _ANY.findall(linecache.getline(code.co_filename, line_at(code, last)))
        words = {_word(*parts) for parts in found}
        return words.pop() if len(words) == 1 else ""
    method, function = _METHOD.search(text), _FUNCTION.match(text)
    if method is not None:
        return _word(method[1], "", "")
    return _word("", function[1] or "", function[2] or "") if function is not None else ""


def _word(method: str, mathematical: str, function: str) -> str:
    if method:
        return "cpu" if method == "to" else method
    return "float" if mathematical else _CONVERTED.get(function, "")


def _expression(code: CodeType, last: int) -> str | None:
    """The text of the expression of an instruction; None where Python does not record it (3.10)."""
    positions: Any = getattr(code, "co_positions", None)
    found = next(islice(positions(), last // 2, None), None) if positions is not None else None
    if found is None or None in found:
        return None
    first, end, begin, stop = found
    lines = [linecache.getline(code.co_filename, number).encode() for number in range(first, min(end, first + 20) + 1)]
    if not lines or not all(lines):
        return None
    lines[-1] = lines[-1][:stop]
    lines[0] = lines[0][begin:]
    return b"".join(lines).decode(errors="replace")

"""Parses files of TorchScript code into classes with typed attributes, and functions with their lines."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.core.lazy_regex import lazy_compile

_CLASS = lazy_compile(r"class ([\w\x80-\xff]+)")
_FUNCTION = lazy_compile(r"( {0,2})def ([\w\x80-\xff]+)\(")
_ATTRIBUTE = lazy_compile(r'  (?:([\w\x80-\xff]+) : |__annotations__\["([^"]*)"\] = )(?:Final\[)?([\w.\x80-\xff]+)')
_SELF = lazy_compile(r" *def [\w\x80-\xff]+\(([\w\x80-\xff]+): ([\w.\x80-\xff]+)")


class ScriptFunction(msgspec.Struct):
    """A function or method: its qualified name, the type of its first parameter, and (byte offset, text) of the lines
    of its body."""

    name: str
    own: tuple[str, str]
    lines: list[tuple[int, str]]


class ScriptModule(msgspec.Struct):
    """One file: its functions, and the attribute types of its classes. Names are spelled as in the code."""

    functions: list[ScriptFunction] = []
    attributes: dict[str, dict[str, str]] = {}


def read_module(data: bytes, name: str) -> ScriptModule:
    """The classes and functions of a file; `name` is the dotted module name. Each byte is one character, so that
    offsets match the source tables."""
    script_module = ScriptModule()
    owner = indent = ""
    function: ScriptFunction | None = None
    heading = False
    for start, line in _lines(data):
        match = _FUNCTION.match(line)
        if match is not None:
            owner, indent = owner if match[1] else "", f"{match[1]}  "
            scope = f"{name}.{owner}" if owner else name
            typed = _SELF.match(line)
            function = ScriptFunction(f"{scope}.{match[2]}", (typed[1], typed[2]) if typed else ("", ""), [])
            script_module.functions.append(function)
            heading = not line.rstrip().endswith(":")
        elif line[:1] not in (" ", ""):
            function, heading = None, False
            named = _CLASS.match(line)
            owner = named[1] if named else ""
        elif heading:
            heading = not line.rstrip().endswith(":")
        elif function is not None and line.startswith(indent):
            function.lines.append((start, line))
        elif owner and (typed := _ATTRIBUTE.match(line)):
            script_module.attributes.setdefault(f"{name}.{owner}", {})[typed[1] or typed[2]] = typed[3]
    return script_module


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        yield start, data[start:end].decode("latin-1")
        start = end + 1

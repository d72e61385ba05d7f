"""Paths of files of the project, of which the folder that the project lies in is not known."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from npulint.values.value import Const, Obj, Value, const, unknown

if TYPE_CHECKING:
    from npulint.values.heap import Heap


def path_value(heap: Heap, path: str) -> Value:
    """The absolute path of a file or folder below the project's root ("" for the root itself)."""
    made = heap.symbols.get(f"<path> {path}")
    if made is None:
        made = heap.symbols[f"<path> {path}"] = Obj("path", heap.store.new_serial(), path)
    return Value((made,))


def relative_path(value: Value, working_folder: str) -> str | None:
    """The path below the project's root that a text or path means; None outside of it, or where it is not known."""
    one = value.single
    if isinstance(one, Obj) and one.kind == "pathlib":
        return relative_path(one.data, working_folder)
    if isinstance(one, Obj) and one.kind == "path":
        return one.name
    if not isinstance(one, Const) or not isinstance(one.value, str) or one.value.startswith(("/", "~")):
        return None
    path = posixpath.normpath(posixpath.join(working_folder, one.value))
    return None if path.startswith("..") else "" if path == "." else path


def joined_path(heap: Heap, parts: list[Value]) -> Value | None:
    """What ``os.path.join`` gives if one of the parts is a path of the project; None else."""
    base: str | None = None
    for part in parts:
        one = part.single
        if isinstance(one, Obj) and one.kind == "path":
            base = one.name
        elif base is not None:
            if not isinstance(one, Const) or not isinstance(one.value, str) or one.value.startswith("/"):
                return unknown(part.reason, "str")
            base = posixpath.join(base, one.value)
    return None if base is None else _normalized(heap, base)


def extended_path(heap: Heap, one: Obj, text: str) -> Value:
    """The text of a path of the project with more text after it."""
    if not one.name and not text.startswith("/"):
        return unknown("", "str")  # of another folder beside the project
    return _normalized(heap, f"{one.name}{text}".lstrip("/"))


def _normalized(heap: Heap, path: str) -> Value:
    plain = posixpath.normpath(path) if path else ""
    return unknown("", "str") if plain.startswith("..") else path_value(heap, "" if plain == "." else plain)


def parent_path(heap: Heap, one: Obj) -> Value:
    """The folder of a path of the project."""
    return unknown("", "str") if not one.name else path_value(heap, posixpath.dirname(one.name))


def last_part(one: Obj) -> Value:
    """The name of a file of the project."""
    return const(posixpath.basename(one.name)) if one.name else unknown("", "str")

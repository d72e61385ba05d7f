"""Paths of files of the project, of which the folder that the project lies in is not known. The folders around it are
``..``, ``../..``; what else they hold is not known."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from npulint.model.abstract_values.value import Const, Obj, Value, const, unknown

if TYPE_CHECKING:
    from npulint.model.abstract_values.heap import Heap


def path_value(heap: Heap, path: str) -> Value:
    """The absolute path of a file or folder below the project's root ("" for the root itself)."""
    made = heap.symbols.get(f"<path> {path}")
    if made is None:
        made = heap.symbols[f"<path> {path}"] = Obj("path", heap.store.new_serial(), path)
    return Value((made,))


def relative_path(value: Value, working_folder: str) -> str | None:
    """The path below the project's root that a text or path means; None outside of it, or where it is not known."""
    single = value.single
    if isinstance(single, Obj) and single.kind == "pathlib":
        return relative_path(single.data, working_folder)
    if isinstance(single, Obj) and single.kind == "path":
        return None if is_outside(single.name) else single.name
    if not isinstance(single, Const) or not isinstance(single.value, str) or single.value.startswith(("/", "~")):
        return None
    path = posixpath.normpath(posixpath.join(working_folder, single.value))
    return None if path.startswith("..") else "" if path == "." else path


def joined_path(heap: Heap, parts: list[Value]) -> Value | None:
    """What ``os.path.join`` gives if one of the parts is a path of the project; None else."""
    base: str | None = None
    for part in parts:
        single = part.single
        if isinstance(single, Obj) and single.kind == "path":
            base = single.name
        elif base is not None:
            if not isinstance(single, Const) or not isinstance(single.value, str) or single.value.startswith("/"):
                return unknown(part.reason, "str")
            base = posixpath.join(base, single.value)
    return None if base is None else _normalized(heap, base)


def extended_path(heap: Heap, obj: Obj, text: str) -> Value:
    """The text of a path of the project with more text after it."""
    if not obj.name and not text.startswith("/"):
        return unknown("", "str")  # of another folder beside the project
    return _normalized(heap, f"{obj.name}{text}".lstrip("/"))


def _normalized(heap: Heap, path: str) -> Value:
    plain = posixpath.normpath(path) if path else ""
    is_known = not is_outside(plain) or posixpath.basename(plain) == ".."  # else it may lead back into the project
    return path_value(heap, "" if plain == "." else plain) if is_known else unknown("", "str")


def is_outside(path: str) -> bool:
    """Whether it is a folder around the project."""
    return path == ".." or path.startswith("../")


def parent_path(heap: Heap, obj: Obj) -> Value:
    """The folder of a path of the project."""
    if not obj.name or is_outside(obj.name):
        return path_value(heap, posixpath.join(obj.name, ".."))
    return path_value(heap, posixpath.dirname(obj.name))


def last_part(obj: Obj) -> Value:
    """The name of a file of the project."""
    return const(posixpath.basename(obj.name)) if obj.name and not is_outside(obj.name) else unknown("", "str")


def between(obj: Obj, start: Obj) -> Value:
    """The way from a folder to a path of the project; unknown where it leads through folders around the project."""
    if is_outside(obj.name) or is_outside(start.name):
        return const(".") if obj is start else unknown("", "str")
    return const(posixpath.relpath(obj.name or ".", start.name or "."))

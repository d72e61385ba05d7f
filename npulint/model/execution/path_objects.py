"""Paths of ``pathlib``."""

from __future__ import annotations

import ast
import posixpath
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from npulint.model.abstract_values.paths import is_outside, joined_path, parent_path, path_value, relative_path
from npulint.model.abstract_values.value import EITHER, NONE, TRUE, UNKNOWN, Obj, Value, const, unknown
from npulint.model.execution import files, texts
from npulint.model.execution.machine import Arguments, Machine

_AROUND: Final = 8  # folders around the project
_METHODS: Final = frozenset(
    "exists is_file is_dir read_text open joinpath resolve absolute as_posix with_suffix with_name mkdir is_absolute"
    " write_text unlink touch __fspath__".split()
)


def make_path(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``pathlib.Path(...)`` gives."""
    parts = [_inner(part) for part in arguments.positional]
    if not arguments.is_exact or any(part is None for part in parts):
        return unknown("pathlib.Path()")
    return _path(m, [part for part in parts if part is not None])


def _inner(value: Value) -> Value | None:
    """The text, or path of the project, that a value or path object stands for."""
    obj = value.single
    if isinstance(obj, Obj) and obj.kind == "pathlib":
        inner: Value = obj.data
        return inner
    if isinstance(obj, Obj) and obj.kind == "path":
        return value
    return value if texts.known_text(value) is not None else None


def plain_path(value: Value) -> Value:
    """What a path object stands for; other values as they are."""
    inner = _inner(value)
    return value if inner is None else inner


def _path(m: Machine, parts: list[Value]) -> Value:
    joined_parts = joined_path(m.heap, parts)
    if joined_parts is None:
        words = [texts.known_text(part) or "" for part in parts]
        joined_parts = const(str(PurePosixPath(*words)))
    if joined_parts.is_open:
        return unknown("pathlib.Path()")
    return Value((m.heap.make("pathlib", data=joined_parts),))


def divided(m: Machine, left: Value, right: Value) -> Value | None:
    """What ``path / part`` gives; None where neither is a path object."""
    parts = [_inner(left), _inner(right)]
    if parts[0] is None or parts[1] is None:
        return None
    return _path(m, [part for part in parts if part is not None])


def path_attribute(m: Machine, obj: Obj, name: str) -> Value:
    """An attribute of a path object."""
    inner: Value = obj.data
    held = inner.single
    if name in _METHODS:
        return Value((m.heap.make("pathlib_method", name, data=obj),))
    if isinstance(held, Obj):
        if name == "parent":
            return _path(m, [parent_path(m.heap, held)])
        if name == "parents":
            return m.heap.sequence("tuple", list(_parents(m, held)))
        plain = PurePosixPath("/", held.name)
        is_root = not held.name or is_outside(held.name)
    else:
        plain = PurePosixPath(texts.known_text(inner) or "")
        is_root = False
        if name == "parent":
            return _path(m, [const(str(plain.parent))])
        if name == "parts":
            return m.heap.sequence("tuple", [const(part) for part in plain.parts])
    if name in ("name", "stem", "suffix") and not is_root:
        return const(getattr(plain, name))
    return UNKNOWN


def _parents(m: Machine, held: Obj) -> Iterator[Value]:
    """The folders around a path of the project, as far as programs ask for them."""
    for _ in range(held.name.count("/") + _AROUND):
        above = parent_path(m.heap, held)
        yield _path(m, [above])
        assert isinstance(above.single, Obj)
        held = above.single


def call_path_method(m: Machine, method: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a method of a path object gives."""
    obj: Obj = method.data
    inner: Value = obj.data
    name = method.name
    if name in ("exists", "is_file"):
        return files.exists(m, Arguments([inner]), site)
    if name in ("resolve", "absolute"):
        path = relative_path(inner, m.working_folder)
        return unknown("pathlib.Path()") if path is None else _path(m, [path_value(m.heap, path)])
    if name == "joinpath":
        return make_path(m, Arguments([inner, *arguments.positional], {}, arguments.rest), site)
    if name == "open":
        return files.open_file(m, Arguments([inner, *arguments.positional], arguments.keywords), site)
    if name == "read_text":
        opened = files.open_file(m, Arguments([inner]), site).single
        text = opened.data if isinstance(opened, Obj) else None
        return const(text) if isinstance(text, str) else unknown("", "str")
    if name == "write_text":
        files.open_file(m, Arguments([inner, const("w")]), site)
        return unknown("", "int")
    if name in ("with_suffix", "with_name") and arguments.positional:
        return _renamed(m, inner, name, arguments)
    if name in ("as_posix", "__fspath__"):
        return inner if texts.known_text(inner) is not None else unknown("", "str")
    if name == "is_absolute":
        return TRUE if isinstance(inner.single, Obj) else const((texts.known_text(inner) or "").startswith("/"))
    return NONE if name in ("mkdir", "touch", "unlink") else EITHER


def _renamed(m: Machine, inner: Value, name: str, arguments: Arguments) -> Value:
    given, held = texts.known_text(arguments.positional[0]), inner.single
    plain = PurePosixPath(held.name if isinstance(held, Obj) else texts.known_text(inner) or "")
    if given is None:
        return unknown("pathlib.Path()")
    try:
        changed = str(getattr(plain, name)(given))
    except ValueError as error:
        m.throw_new("ValueError", str(error))
    return _path(m, [path_value(m.heap, posixpath.normpath(changed)) if isinstance(held, Obj) else const(changed)])

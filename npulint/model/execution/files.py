"""Files of the project that a program reads."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from typing import Final

from npulint.model.abstract_values.hosted import Unhosted, adopted
from npulint.model.abstract_values.objects import HAPPENED
from npulint.model.abstract_values.paths import relative_path
from npulint.model.abstract_values.value import ABSENT, EITHER, NONE, TRUE, UNKNOWN, Obj, Value, const, unknown
from npulint.model.execution import texts
from npulint.model.execution.iterators import read_once
from npulint.model.execution.loops import repeat
from npulint.model.execution.machine import Arguments, Machine

_WRITTEN: Final = "<written>"


def project_path(m: Machine, value: Value) -> str | None:
    """The path below the project's root that a path means; None outside, or where it is not known."""
    if m.heap.get(m.heap.symbol("os"), "<chdir>").single is not ABSENT:
        obj = value.single
        return obj.name if isinstance(obj, Obj) and obj.kind == "path" else None
    return relative_path(value, m.working_folder)


def is_written(m: Machine, path: str) -> bool:
    """Whether the program has written a file, or ("") one that is not known."""
    return m.store.read(m.marks, (_WRITTEN, path)) is not None


def _text(m: Machine, path: str) -> str | None:
    """The content of a file that the program has not written before."""
    if is_written(m, path) or is_written(m, ""):
        return None
    text = m.sources.content(path)
    if text is not None:
        m.read_texts[text] = path
    return text


def note_changes(m: Machine) -> None:
    """Note that any file may have been changed."""
    m.store.write(m.marks, (_WRITTEN, ""), HAPPENED)


def open_file(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``open(path)`` gives."""
    name = arguments.get(0, "file") or UNKNOWN
    mode = arguments.get(1, "mode") or const("r")
    text = texts.known_text(mode)
    path = project_path(m, name)
    if set(arguments.keywords) - {"file", "mode"} and not _is_utf8(arguments):
        return m.unseen("open()", arguments.all())
    if text is None or "b" in text:
        m.may_throw()
        if text is None or set(text) & set("wax+"):
            m.store.write(m.marks, (_WRITTEN, path or ""), HAPPENED)
        return unknown("open()")
    if set(text) & set("wax+"):
        m.may_throw()
        m.store.write(m.marks, (_WRITTEN, path or ""), HAPPENED)
        return Value((m.heap.make("file", "", data=None),))
    if is_written(m, ""):
        m.may_throw()  # it may be removed
    if path is None or not m.sources.exists(path):
        m.may_throw()
        return Value((m.heap.make("file", "", data=None),))
    return Value((m.heap.make("file", path, data=_text(m, path)),))


def _is_utf8(arguments: Arguments) -> bool:
    """Whether only the encoding is named, and it is that of the texts."""
    encoding = texts.known_text(arguments.keywords.get("encoding", UNKNOWN))
    return set(arguments.keywords) <= {"file", "mode", "encoding"} and (encoding or "").lower() in ("utf-8", "utf8")


def enter_file(m: Machine, obj: Obj, body: Callable[[Value], None]) -> None:
    """Execute a block with an open file."""
    body(Value((obj,)))
    m.heap.put(obj, "<moved>", TRUE)


def file_attribute(m: Machine, obj: Obj, name: str) -> Value:
    """The methods of an open file."""
    if name in ("read", "readlines", "readline", "write", "close", "flush", "seek", "writelines"):
        return Value((m.heap.make("file_method", name, data=obj),))
    return unknown(name)


def call_file_method(m: Machine, method: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
    """What a method of an open file gives."""
    obj: Obj = method.data
    if method.name in ("readline", "seek", "read", "readlines") and not (
        method.name in ("read", "readlines") and not arguments.positional
    ):
        m.heap.put(obj, "<moved>", TRUE)
    if m.heap.get(obj, "<moved>").single is not ABSENT:
        m.may_throw()
        return unknown("", "str" if method.name != "readlines" else "")
    if method.name == "close":
        m.heap.put(obj, "<moved>", TRUE)
    if method.name == "read" and not arguments.positional and isinstance(obj.data, str):
        return const(obj.data) if read_once(m, obj) else const("")
    if method.name == "readlines" and isinstance(obj.data, str):
        lines = obj.data.splitlines(True) if read_once(m, obj) else []
        return m.heap.sequence("list", [const(line) for line in lines], site)
    if method.name in ("write", "close", "flush", "writelines", "seek"):
        return NONE
    return unknown("", "str" if method.name == "read" else "")


def iterate_file(m: Machine, obj: Obj, consume: Callable[[Value], object]) -> None:
    """The lines of an open file."""
    if m.heap.get(obj, "<moved>").single is not ABSENT:
        repeat(m, lambda: consume(unknown("", "str")))
        return
    if isinstance(obj.data, str) and read_once(m, obj):
        m.heap.put(obj, "<moved>", TRUE)
        for line in obj.data.splitlines(True):
            consume(const(line))
    elif not isinstance(obj.data, str):
        repeat(m, lambda: consume(unknown("", "str")))


def exists(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``os.path.exists(path)`` gives."""
    path = project_path(m, arguments.positional[0]) if arguments.positional else None
    if is_written(m, ""):
        return EITHER
    return TRUE if path is not None and m.sources.exists(path) else EITHER


def parsed_json(m: Machine, text: str, site: ast.AST | None) -> Value:
    """The value of a JSON text."""
    try:
        return adopted(json.loads(text), m.heap, site)
    except Unhosted:
        return UNKNOWN
    except RecursionError:
        return UNKNOWN
    except ValueError as error:
        m.throw_new("json.JSONDecodeError", str(error))


def _content(m: Machine, value: Value) -> str | None:
    obj = value.single
    if isinstance(obj, Obj) and obj.kind == "file":
        is_whole = isinstance(obj.data, str) and m.heap.get(obj, "<moved>").single is ABSENT
        return obj.data if is_whole and read_once(m, obj) else None
    return texts.known_text(value)


def load_json(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``json.load(file)`` gives."""
    content = _content(m, arguments.positional[0]) if arguments.positional and not arguments.keywords else None
    if content is None:
        m.may_throw()
        if arguments.keywords:
            return m.unseen("json.load()", arguments.all())
        return unknown("json.load()")
    return parsed_json(m, content, site)


def load_yaml(m: Machine, arguments: Arguments, site: ast.AST | None) -> Value:
    """What ``yaml.safe_load(file)`` gives."""
    content = _content(m, arguments.positional[0]) if arguments.positional else None
    if content is None:
        m.may_throw()
        return unknown("yaml.load()")
    plain = m.parse_yaml(content)
    try:
        return UNKNOWN if plain is None else adopted(plain[0], m.heap, site)
    except Unhosted:
        return UNKNOWN

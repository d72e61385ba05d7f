"""Imports: which module a name means, and what runs when it is imported."""

from __future__ import annotations

import ast
import posixpath
import sys
from typing import Final

from npulint.model.abstract_values.value import ABSENT, ABSENT_VALUE, TRUE, UNKNOWN, Const, Obj, Value, const, unknown
from npulint.model.execution import files
from npulint.model.execution.exceptions import attribute_or_absent
from npulint.model.execution.machine import Dead, Frame, Machine
from npulint.model.execution.names import bind
from npulint.model.execution.scopes import MODULE
from npulint.model.execution.sources import ModuleData

_BUILT_IN_MODULES: Final = frozenset(sys.builtin_module_names) | frozenset(
    (
        "_collections_abc _sitebuiltins abc codecs encodings genericpath io ntpath os posixpath runpy site stat"
        " zipimport"
    ).split()
)
"""Modules that are part of the interpreter, or that it has imported before the program: no other of the name is."""
_STANDARD: Final = frozenset(sys.stdlib_module_names)
_DISTRIBUTIONS: Final = ("pyproject.toml", "setup.py", "setup.cfg")
_LOADED: Final = "<loaded>"


# -- finding


def _find(m: Machine, name: str) -> str | None:
    """The file (or, for a package without ``__init__``, the folder with a slash) of a top-level module; None if the
    project has none."""
    if name in _BUILT_IN_MODULES:
        return None
    for folder in m.search_path():
        for path in (posixpath.join(folder, name, "__init__.py"), posixpath.join(folder, f"{name}.py")):
            if m.sources.exists(path):
                return path
    if name in _STANDARD:
        return None
    for folder in m.search_path():
        package = posixpath.join(folder, name)
        if m.sources.has_folder(package):
            return f"{package}/"
    return _installed(m, name)


def _installed(m: Machine, name: str) -> str | None:
    """The file of a top-level module that the project itself installs (``pip install -e .``): the only one of the name
    beside a file that makes it a distribution, or in ``src`` there. A script that imports it elsewhere only runs where
    it is installed."""
    tails = (f"{name}/__init__.py", f"{name}.py")
    paths = []
    for path in m.sources.ending_with(tails):
        folder = next(path[: -len(tail)].rstrip("/") for tail in tails if f"/{path}".endswith(f"/{tail}"))
        outer = posixpath.dirname(folder) if posixpath.basename(folder) == "src" else folder
        if any(m.sources.exists(posixpath.join(outer, file)) for file in _DISTRIBUTIONS):
            paths.append(path)
    return paths[0] if len(paths) == 1 else None


def _file_in(m: Machine, package: Obj, name: str) -> str | None:
    folder = package.data.path.rstrip("/") if package.data.path.endswith("/") else posixpath.dirname(package.data.path)
    for path in (posixpath.join(folder, name, "__init__.py"), posixpath.join(folder, f"{name}.py")):
        if m.sources.exists(path):
            return path
    inner = posixpath.join(folder, name)
    return f"{inner}/" if m.sources.has_folder(inner) else None


# -- importing


def load(m: Machine, dotted: str) -> Value | None:
    """Import a module by its full name, its packages first; the last one, or None where it is of no project."""
    first, *rest = dotted.split(".")
    replaced = m.replaced_module(dotted)
    if replaced is not None:
        return replaced
    path = _find(m, first)
    if m.searches_elsewhere() and first not in _BUILT_IN_MODULES and _is_ambiguous(m, first, path):
        m.lost = True
    if path is None:
        return None
    module = _module(m, first, path)
    for index, part in enumerate(rest):
        name = ".".join((first, *rest[: index + 1]))
        inner = _file_in(m, module, part) if module.data.is_package else None
        if inner is None:
            m.throw_new("ModuleNotFoundError", f"No module named '{name}'")
        outer, module = module, _module(m, name, inner)
        m.heap.set(outer, part, m.replaced_module(name) or Value((module,)))
    return m.replaced_module(dotted) or Value((module,))


def _is_ambiguous(m: Machine, name: str, path: str | None) -> bool:
    """Whether the project has other modules of this name than the one that is found."""
    return any(other != path for other in m.sources.ending_with((f"{name}.py", f"{name}/__init__.py")))


def _module(m: Machine, name: str, path: str) -> Obj:
    """The module of a file, executed unless it was before."""
    module = m.modules.get((name, path))
    if module is None:
        is_package = path.endswith(("/", "/__init__.py")) or path == "__init__.py"
        module = Obj("module", 0, name, data=ModuleData(path, name, is_package))
        m.modules[name, path] = module
    if m.store.read(m.heap.symbol("sys.modules"), name) is not None:  # it was taken out
        m.heap.delete(m.heap.symbol("sys.modules"), name)
        module = m.modules[name, path] = Obj("module", 0, name, data=module.data)
    loaded = m.heap.get(module, _LOADED)
    if loaded.single is ABSENT:
        execute_module(m, module, name)
    elif loaded.may_be_absent:
        m.branch([lambda: None, lambda: execute_module(m, module, name)])
    return module


def execute_module(m: Machine, module: Obj, name: str) -> None:
    """Execute the statements of a module."""
    m.store.write(module, _LOADED, TRUE)
    data: ModuleData = module.data
    heap = m.heap
    heap.set(module, "__name__", const(name))
    package = name if data.is_package else name.rpartition(".")[0]
    heap.set(module, "__package__", const(package))
    heap.set(module, "__file__", m.file_text(data.path))
    heap.set(module, "__doc__", UNKNOWN)
    if data.path.endswith("/"):
        return
    if files.is_written(m, data.path):
        m.lost = True
    tree = m.sources.tree(data.path)
    if tree is None:
        m.throw_new("SyntaxError", data.path)
    caller, m.frame = m.frame, Frame(module, MODULE, module, None)
    try:
        m.execute(tree.body)
    except Dead:
        m.store.write(module, _LOADED, Value((ABSENT,)))
        raise
    finally:
        m.frame = caller


def absolute(m: Machine, module: str, level: int) -> str | None:
    """The full name that a relative import means; None outside of packages."""
    if not level:
        return module
    package = m.heap.get(m.frame.module, "__package__").single
    if not isinstance(package, Const) or not isinstance(package.value, str) or not package.value:
        return None
    parts = package.value.split(".")
    if level > len(parts):
        return None
    base = ".".join(parts[: len(parts) - level + 1])
    return f"{base}.{module}" if module else base


def import_(m: Machine, node: ast.Import) -> None:
    """Execute ``import a.b as c``."""
    for alias in node.names:
        last = imported(m, alias.name)
        if alias.asname:
            bind(m, alias.asname, last)
        else:
            first = alias.name.partition(".")[0]
            bind(m, first, last if first == alias.name else imported(m, first))


def imported(m: Machine, name: str) -> Value:
    """The module of this name, of the project or of a library."""
    value = load(m, name)
    return value if value is not None else _library(m, name)


def _library(m: Machine, name: str) -> Value:
    first = name.partition(".")[0]
    if first not in _STANDARD and m.is_missing(first):
        m.throw_new("ModuleNotFoundError", f"No module named '{name}'")
    if first not in _STANDARD and not m.is_installed(first):
        m.may_throw("ImportError", "ModuleNotFoundError")
    return Value((m.heap.symbol(name),))


def import_from(m: Machine, node: ast.ImportFrom) -> None:
    """Execute ``from a import b as c``."""
    name = absolute(m, node.module or "", node.level)
    if name is None:
        m.throw_new("ImportError", "attempted relative import with no known parent package")
    if name == "__future__":
        return
    module = imported(m, name)
    for alias in node.names:
        if alias.name == "*":
            _import_all(m, module)
        else:
            bind(m, alias.asname or alias.name, _member(m, module, name, alias.name))


def _member(m: Machine, module: Value, name: str, member: str) -> Value:
    obj = module.single
    if not isinstance(obj, Obj):
        m.may_throw("ImportError")
        return unknown(f"{name}.{member}")
    if obj.kind == "symbol":
        own = m.heap.get(obj, member)
        return own if own.single is not ABSENT else m.library_attribute(obj.name, member)
    value = m.heap.get(obj, member) if obj.kind == "module" else ABSENT_VALUE
    if value.single is ABSENT:
        if obj.kind == "module" and obj.data.is_package:
            path = _file_in(m, obj, member)
            if path is not None:
                inner = load(m, f"{obj.data.name}.{member}")
                assert inner is not None
                return inner
        if obj.kind != "module" or m.heap.get(obj, "__getattr__").single is not ABSENT:
            value = attribute_or_absent(m, obj, member)
    if value.single is ABSENT:
        m.throw_new("ImportError", f"cannot import name '{member}' from '{name}'")
    if value.may_be_absent:
        m.may_throw("ImportError")
    return value.without(ABSENT)


def _import_all(m: Machine, module: Value) -> None:
    obj = module.single
    if not isinstance(obj, Obj) or obj.kind != "module":
        m.star_of_library(obj.name if isinstance(obj, Obj) else "")
        return
    listed = m.heap.get(obj, "__all__")
    names: list[str] | None = None
    if listed.single is not ABSENT:
        content = listed.without(ABSENT).single
        items = m.heap.items_of(content).items if isinstance(content, Obj) else None
        singles = [item.single for item in items or ()]
        if items is not None and all(isinstance(single, Const) for single in singles):
            names = [str(single.value) for single in singles if isinstance(single, Const)]
    if names is None and listed.single is not ABSENT:
        m.heap.set_any(m.frame.module, UNKNOWN)
        return
    if names is None:
        keys = [key for key in m.heap.layout_of(obj).keys if isinstance(key, str)]
        names = [key for key in keys if not key.startswith(("_", "<"))]
    for name in names:
        value = m.heap.get(obj, name)
        if value.single is ABSENT and listed.single is not ABSENT:
            value = _member(m, module, obj.name, name)
        if value.single is ABSENT:
            continue
        if value.may_be_absent:
            m.maybe(lambda name=name, value=value: bind(m, name, value.without(ABSENT)))  # type: ignore[misc]
        else:
            bind(m, name, value)

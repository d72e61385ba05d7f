"""Adaptors of a project: what redirects the functions of CUDA to the NPU, for which packages, and what it replaces.

An adaptor works for all that is imported after it. So a package whose ``__init__`` imports one runs under it as a
whole, whichever of its modules a program imports, and so does the package that an adaptor is a part of.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import cache

from npulint.data.adaptor_patches import patches
from npulint.data.frameworks import adaptors
from npulint.facts.code import Import
from npulint.model.code.module import Module
from npulint.model.values.context import Context, once
from npulint.model.values.script_role import is_test_file

TRANSFER = "torch_npu.contrib.transfer_to_npu"


@once
def transferred(context: Context) -> bool:
    """Whether code of the project imports an adaptor that redirects the functions of CUDA, or is one."""
    return any(_imports_adaptor(module) for module in context.project.modules.values()) or bool(_own(context))


@once
def packages_under_adaptor(context: Context) -> tuple[str, ...]:
    """The folders, with a slash at the end, of the packages of which all modules run under an adaptor."""
    folders = {_top_package(context, module) for _, module in _own(context)}
    applying = _applying(context)
    folders |= {posixpath.dirname(path) for path in applying if posixpath.basename(path) == "__init__.py"}
    return tuple(sorted(f"{folder}/" for folder in folders if folder))


def patched(context: Context, name: str) -> str | None:
    """What the adaptors of the project put in place of a canonical name; None if they keep it."""
    return _patches(context).get(name)


def stands_in_for(context: Context, library: str) -> bool:
    """Whether the adaptors of the project bring their own in place of a library, or of this member of it."""
    return any(f"{name}.".startswith(f"{library}.") for name in _patches(context))


@once
def _patches(context: Context) -> dict[str, str]:
    if not transferred(context):
        return {}
    names = {_dotted(record) for module in context.project.modules.values() for record in module.code.imports}
    names.add(TRANSFER)  # every adaptor imports it
    own = {name for name, _ in _own(context)}
    return {
        name: gives
        for package, replaced in patches().items()
        if any(f"{imported}.".startswith(f"{package}.") for imported in names | own)
        for name, gives in replaced.items()
    }


@once
def _own(context: Context) -> list[tuple[str, Module]]:
    """The recorded adaptors that are modules of the project, with their names."""
    modules = [module for module in context.project.modules.values() if not is_test_file(module.path)]
    return [(name, module) for name in adaptors() for module in modules if f".{module.name}".endswith(f".{name}")]


def _top_package(context: Context, module: Module) -> str:
    """The folder of the outermost package that a module is a part of; empty if it is in none."""
    package, folder = "", module.folder
    while folder and posixpath.join(folder, "__init__.py") in context.project.modules:
        package, folder = folder, posixpath.dirname(folder)
    return package


def _applying(context: Context) -> set[str]:
    """The modules that import an adaptor when they are imported, directly or through other modules."""
    modules = context.project.modules
    queue = [
        module.path
        for module in modules.values()
        if _imports_adaptor(module, at_once=True) and not is_test_file(module.path)
    ]
    users = _users(context) if queue else {}
    applying = set[str]()
    while queue:
        path = queue.pop()
        if path not in applying:
            applying.add(path)
            queue += users.get(path, ())
    return applying


def _users(context: Context) -> dict[str, list[str]]:
    """From each module to those that import it when they are imported."""
    users: dict[str, list[str]] = {}
    for module in context.project.modules.values():
        for record in module.code.imports:
            for target in context.project.imported(module, record) if _is_at_once(module, record) else ():
                users.setdefault(target.path, []).append(module.path)
    return users


def _imports_adaptor(module: Module, at_once: bool = False) -> bool:
    """Whether a module imports an adaptor; `at_once`: when it is imported itself."""
    return any(not at_once or _is_at_once(module, record) for record in _of_adaptors(module))


def _of_adaptors(module: Module) -> Iterator[Import]:
    for record in module.code.imports:
        if not record.level and record.module and f"{_dotted(record)}.".startswith(_dotted_adaptors()):
            yield record


@cache
def _dotted_adaptors() -> tuple[str, ...]:
    return tuple(f"{adaptor}." for adaptor in adaptors())


def _is_at_once(module: Module, record: Import) -> bool:
    return module.function_of(record.block) < 0


def _dotted(record: Import) -> str:
    if record.name in ("", "*"):
        return record.module
    return f"{record.module}.{record.name}" if record.module else record.name

"""Libraries that need a GPU or an Ascend build: their imports, and whether they are used."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.data.libraries import LibraryGroup, Works, library, library_roots
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.code import Import
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.running.adaptors import stands_in_for
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.code_places import written_values
from npulint.model.running.import_failures import Failure, on_failure
from npulint.model.running.npu_server import npu_server
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch.device_uses import is_guarded
from npulint.recognizers.torch.execution_order import Placed, placed

_SHARED_LIBRARY = lazy_compile(r"(?:^|/)lib([\w-]+)\.so(?:\.\d+)*$")


@fact_kind("library")
class LibraryImport(PlaceFact):
    """A library that needs a GPU, or an Ascend build, is imported; the name is the library."""

    member: str
    """The imported member."""
    group: LibraryGroup
    """The purpose: libraries of one group have the same substitute."""
    works: Works
    """Whether it works on the NPU."""
    substitute: str
    """What replaces it, or nothing."""
    record: Import

    @attribute
    def placed(self) -> Placed:
        """Where the import is: at the top, or in code that may not run or may catch its failure."""
        return placed(self.scope)

    @attribute
    def failure(self) -> Failure:
        """What follows where the import fails: the program stops, the failure is handled, or it passes unnoticed until
        the name is used."""
        outcome = on_failure(self.scope)
        tried = self.scope.block  # what stands in the same block is not reached
        if outcome == "unnoticed" and all(tried in use.scope.module.ancestors(use.scope.block) for use in _uses(self)):
            return "handled"
        return outcome

    @attribute
    def runs(self) -> Flag:
        """Whether the import runs on an NPU server, as far as that depends on the machine."""
        return npu_server(self.scope.context).runs(self.scope, self.span.line)

    @attribute
    def used(self) -> Flag:
        """Whether the module uses the imported name."""
        if self.record.name == "*":
            return "unknown"
        module, written = self.scope.module, self.record.alias or self.member
        if any(_is_of(name, self.member) for name in self.scope.context.names.of_calls(module)):
            return "yes"
        return flag(any(_is_of(name, written) for name in _names(self.scope.at(0))))


@fact_kind("library_use")
class LibraryUse(PlaceFact):
    """Something of such a library is called or assigned where its import binds a name; the name is the library."""

    group: LibraryGroup
    """The purpose: libraries of one group have the same substitute."""
    works: Works
    """Whether it works on the NPU."""
    _imported: Scope

    @attribute
    def placed(self) -> Placed:
        """Where the import is: at the top, or in code that may not run or may catch its failure."""
        return placed(self._imported)


@fact_kind("shared_library")
class SharedLibrary(CallFact):
    """A shared library is loaded with ctypes; the name is that of its file without folder, `lib` and release:
    ``cudart``."""

    @attribute
    def guarded(self) -> bool:
        """Whether it is in a try, in the CUDA branch of a conditional expression, or in a project's ``cuda`` method."""
        return is_guarded(self.scope, self.span)


@recognizes("ctypes.CDLL", "ctypes.PyDLL", "ctypes.cdll.LoadLibrary", "ctypes.pydll.LoadLibrary")
def shared_libraries(call: CallSite) -> list[SharedLibrary]:
    """A fact for each shared library that is loaded by a certain name."""
    path = call.argument("name", 0)
    match = None if path is None else _SHARED_LIBRARY.search(str(path.single))
    return [] if match is None else [SharedLibrary(call, match[1])]


def _is_of(name: str, library: str) -> bool:
    """Whether a dotted name is a library or one of its members."""
    return name == library or name.startswith(f"{library}.")


def _names(module: Scope) -> Iterator[str]:
    """The names that a module uses without a call: in values, as base classes and decorators."""
    yield from (name_use.name for name_use in module.module.code.name_uses)
    yield from (name for value in written_values(module) for name in value.written_names)
    for scope in module.blocks_of("class", "function"):
        yield from (expr.written for expr in (*scope.bases, *scope.decorators))


@recognizes_in_modules
def libraries(module: Scope) -> Iterator[LibraryImport | LibraryUse]:
    """The imports of recorded libraries that are not modules of the project, and where they are used."""
    for library_import in _library_imports(module):
        yield library_import
        if library_import.works != "yes" and library_import.record.name != "*":
            yield from _uses(library_import)


def _uses(library_import: LibraryImport) -> Iterator[LibraryUse]:
    """The calls and assignments of what an import binds, in its function or module."""
    written, around = library_import.record.alias or library_import.member, library_import.scope.routine
    module = library_import.scope.at(0)
    uses = [(call.scope, call.span) for call in module.all_calls if _is_of(call.written, written)]
    uses += [
        (assignment.scope, assignment.span)
        for assignment in module.assignments
        if _is_of(assignment.value.written, written)
    ]
    for scope, span in uses:
        if scope.is_inside(around):
            yield LibraryUse(
                scope, span, library_import.name, library_import.group, library_import.works, library_import.scope
            )


def _library_imports(module: Scope) -> Iterator[LibraryImport]:
    """The imports of recorded libraries that are not modules of the project, and that no adaptor stands in for."""
    seen: set[tuple[str, int]] = set()
    for record in module.module.code.imports:
        if record.level or record.module.partition(".")[0] not in library_roots():
            continue
        name = record.module if record.name in ("", "*") else f"{record.module}.{record.name}"
        recorded = library(name)
        if recorded is None or (recorded.name, record.line) in seen or _is_in_project(module, record, recorded.name):
            continue
        seen.add((recorded.name, record.line))
        if recorded.works == "no" and stands_in_for(module.context, name):
            continue
        span = Span.of(record)
        scope = module.at(record.block)
        yield LibraryImport(
            scope, span, recorded.name, name, recorded.group, recorded.works, recorded.substitute, record
        )


def _is_in_project(module: Scope, record: Import, library: str) -> bool:
    """Whether an import resolves to the project, or the project contains a package of that name: a stub, or an adapted
    copy."""
    context, root = module.context, library.partition(".")[0]
    key = ("library in project", module.module.folder, root)
    package = context.memoize(key, lambda: context.project.find(root, module.module))
    if package is not None and _is_submodule(module, package.path):
        return False
    return bool(context.project.imported(module.module, record)) or (root != "torch" and package is not None)


def _is_submodule(module: Scope, path: str) -> bool:
    """Whether the file at `path` belongs to a package other than the one of `module`: its plain name does not import
    it (``accelerate/utils/transformer_engine.py``)."""
    holder = posixpath.dirname(path.removesuffix("/__init__.py"))
    return holder != module.module.folder and posixpath.join(holder, "__init__.py") in module.context.project.modules

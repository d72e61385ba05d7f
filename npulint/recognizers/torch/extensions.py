"""Custom CUDA operators: how a project compiles them, and where it imports the compiled modules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.running.code_places import ImportPlace, imports, names_used
from npulint.model.running.reach import HowReached
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch.execution_order import Placed, placed

_HOME = "torch.utils.cpp_extension."
_BUILDER = _HOME + "CUDAExtension"
_BUILDS: dict[str, Literal["build", "load", "inline", "ffi"]] = {
    _BUILDER: "build",
    _HOME + "load": "load",
    _HOME + "load_inline": "inline",
    "torch.utils.ffi.create_extension": "ffi",
}
_CUDA_FILE = (".cu", ".cuh")
_PREDICATE = lazy_compile(r"_?(?:is|has|use|supports|on|to)_")
_BUILT = lazy_compile(r"_cuda\d*$|_gpu$|(?:^|_)(?:ext|C)$")


@fact_kind("cuda_extension")
class BuilderCall(CallFact):
    """An extension is built, or compiled at run time; the name is the building function."""

    reached: HowReached = "maybe"
    """Whether training programs that load its file reach it on an NPU server: surely, maybe (also where there is none)
    or not; set when the programs are known."""

    @attribute
    def what(self) -> Literal["build", "load", "inline", "ffi"]:
        """How it is built: by a setup script, at run time from files or from texts, or by torch.utils.ffi."""
        return _BUILDS[self.name]

    @attribute
    def cuda(self) -> Flag:
        """Whether it contains CUDA code."""
        return "yes" if self.what == "build" else _has_cuda(self.call, self.what)

    @attribute
    def placed(self) -> Placed:
        """Whether it runs whenever its file is loaded, or what surrounds it."""
        return placed(self.scope)

    @attribute
    def builds(self) -> str:
        """The name of the compiled module; empty if unknown."""
        return _module_name(self.call)


@fact_kind("cuda_extension")
class ExtensionUse(PlaceFact):
    """A builder is passed on (the name is its canonical name), or a compiled module is imported (the name is the
    module's)."""

    what: Literal["build", "import"] = "build"
    """What is done."""
    cuda: Flag = "yes"
    """Whether it contains CUDA code."""
    builds: str = ""
    """The imported module."""

    @attribute
    def placed(self) -> Placed:
        """Whether it runs whenever its file is loaded, or what surrounds it."""
        return placed(self.scope)


@recognizes(*_BUILDS)
def builder_calls(call: CallSite) -> list[BuilderCall]:
    """Calls of builders; for a builder chosen by a variable the fact is at the choice."""
    return [] if _is_chosen(call) else [BuilderCall(call, call.name)]


@recognizes_in_modules
def extensions(module: Scope) -> Iterator[Fact]:
    """Builders that are passed on, imports of compiled modules."""
    yield from _handed_on(module)
    yield from _compiled_imports(module)


def _handed_on(module: Scope) -> Iterator[ExtensionUse]:
    """``extension = CUDAExtension`` and the like: called under another name, or by other code."""
    if any(record.name.endswith("CUDAExtension") for record in module.module.code.name_uses):
        for use in names_used(module, _HOME):
            if use.name in _BUILDS and use.record.name.rpartition(".")[2] == "CUDAExtension":
                yield ExtensionUse(use.scope, use.span, use.name)


def _has_cuda(call: CallSite, what: str) -> Flag:
    """Whether an extension that is compiled at run time has CUDA sources."""
    with_cuda = call.argument("with_cuda")
    if with_cuda is None and what == "ffi":
        return "no"
    if with_cuda is not None and isinstance(with_cuda.single, bool):
        return flag(with_cuda.single)
    if what == "inline":
        return flag(call.argument("cuda_sources", 2) is not None)
    sources = call.argument("sources", 1)
    texts = [] if sources is None else _texts(sources)
    if any(text.endswith(_CUDA_FILE) for text in texts):
        return "yes"
    complete = sources is not None and sources.is_display and len(texts) >= len(sources.items)
    return "no" if complete and texts else "unknown"


@walker(depth=8, otherwise=list)
def _texts(value: Expr) -> list[str]:
    """The texts in a list of sources, also within ``os.path.join(here, "x.cu")``."""
    texts = [] if value.is_display else [text for text in value.known.values if isinstance(text, str)]
    if texts:
        return texts
    call = value.call
    parts = value.parts if call is None else value.parts[-1:] if call.args else []
    return [text for part in parts for text in _texts(part)]


def _module_name(call: CallSite) -> str:
    value = call.argument("name", 0)
    name = None if value is None else value.single
    return name if isinstance(name, str) else ""


@once
def _built(context: Context) -> frozenset[str]:
    """The last name segments of the modules that the project's CUDA extensions are compiled to."""
    names: set[str] = set()
    for module in module_scopes(context):
        if any(record.module.startswith("torch.utils") for record in module.module.code.imports):
            calls = (call for call in module.all_calls if call.name == _BUILDER)
            names.update(_module_name(call).rpartition(".")[2] for call in calls if not _may_be_host_code(call))
    return frozenset(names - {""})


def _is_chosen(call: CallSite) -> bool:
    """Whether a builder is called through a variable bound to a mention of it: ``extension(…)``."""
    name = call.written
    return name != "" and any(
        assignment.target == name and assignment.value.written for assignment in call.scope.assignments
    )


def _may_be_host_code(call: CallSite) -> bool:
    """Whether the variable may also be the builder for host C++, so that the module exists without CUDA."""
    return _is_chosen(call) and any(record.name.endswith("CppExtension") for record in call.module.code.name_uses)


def _compiled_imports(module: Scope) -> Iterator[ExtensionUse]:
    """Imports of modules that only a compiler creates: those that the project builds, and those without a file and with
    a customary name (``from . import roi_pool_cuda``)."""
    built_names = _built(module.context)
    for import_place in imports(module):
        record = import_place.record
        last = (record.name or record.module).rpartition(".")[2]
        home = record.module.rpartition(".")[2]
        built = last in built_names or home in built_names
        looks = record.level and (_BUILT.search(last) or _BUILT.search(home))
        named = last.endswith("_cuda") and not _is_predicate(record.name)
        compiled = record.name != "*" and (built or looks or named)
        if compiled and not _is_python(import_place):
            name = last if built or _BUILT.search(last) else home
            cuda: Flag = "yes" if built or "cuda" in name else "unknown"
            yield ExtensionUse(import_place.scope, import_place.span, name, "import", cuda, name)


def _is_predicate(member: str) -> bool:
    """Whether a member of a module asks for the device: ``from library import is_cuda``."""
    return _PREDICATE.match(member) is not None


def _is_python(place: ImportPlace) -> bool:
    """Whether the imported name is, or is defined in, a Python file of the project."""
    record, module, project = place.record, place.scope.module, place.scope.context.project
    base = project.find(record.module, module, record.level) if record.module or record.level else None
    if not record.name:
        return base is not None
    dotted = f"{record.module}.{record.name}" if record.module else record.name
    return project.find(dotted, module, record.level) is not None or (
        base is not None and bool(place.scope.context.names.exported(base, record.name))
    )

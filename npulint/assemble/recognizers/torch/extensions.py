"""Operators compiled for CUDA: how a project builds them, and where it imports what was built."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.execution_order import placed
from npulint.facts.code import Call, Import, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact, Span
from npulint.lazy_regex import lazy_compile

_HOME = "torch.utils.cpp_extension."
_WHAT = {
    _HOME + "CUDAExtension": "build",
    _HOME + "load": "load",
    _HOME + "load_inline": "inline",
    "torch.utils.ffi.create_extension": "ffi",
}
_KERNELS = ("triton.jit", "triton.autotune", "triton.heuristics")
_CUDA_FILE = (".cu", ".cuh")
_BUILT = lazy_compile(r"_cuda\d*$|_gpu$|(?:^|_)(?:ext|C)$")
_DEPTH = 6


def matches(name: str) -> bool:
    """Builders of extensions."""
    return name in _WHAT


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``cuda_extension`` fact: what is built, and whether there is CUDA in it."""
    call = module.code.calls[index]
    if _chosen(module, call):  # where it is chosen it is reported
        return []
    what = _WHAT[name]
    cuda = "yes" if what == "build" else _has_cuda(context, module, call, what)
    return [
        context.call_fact(
            "cuda_extension",
            name,
            module,
            index,
            what=what,
            cuda=cuda,
            placed=placed(module, call.block),
            builds=lambda: _name(context, module, call),
        )
    ]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """Builders that are handed on, imports of built modules, Triton kernels."""
    return [*_handed_on(context, module), *_imports(context, module), *_triton(context, module)]


def _handed_on(context: Context, module: Module) -> list[Fact]:
    """``extension = CUDAExtension`` and the like: called under another name, or by somebody else."""
    found = []
    for record in module.code.name_uses:
        if record.name.rpartition(".")[2] == "CUDAExtension":
            name = context.names.of_name(module, record.name, record.block, record.line)
            if name in _WHAT:
                span = Span(record.line, record.column, record.line, record.end_column)
                attrs = {"what": "build", "cuda": "yes", "placed": placed(module, record.block), "builds": ""}
                around = context.around(module, record.block)
                found.append(Fact("cuda_extension", name, module.path, span, attrs, None, around))
    return found


def _has_cuda(context: Context, module: Module, call: Call, what: str) -> str:
    """Whether an extension that is compiled at run time has CUDA sources."""
    if what == "ffi" and argument(call, "with_cuda", -1) is None:
        return "no"
    if argument(call, "with_cuda", -1) is not None:
        answer = context.known(module, argument(call, "with_cuda", -1), call).single  # type: ignore[arg-type]
        if isinstance(answer, bool):
            return "yes" if answer else "no"
    if what == "inline":
        return "yes" if argument(call, "cuda_sources", 2) is not None else "no"
    value = argument(call, "sources", 1)
    texts = [] if value is None else _texts(context, module, value, call)
    if any(text.endswith(_CUDA_FILE) for text in texts):
        return "yes"
    value = value if isinstance(value, SequenceDisplay) else None
    return "no" if value is not None and texts and len(texts) >= len(value.items) else "unknown"


def _texts(context: Context, module: Module, value: Value, call: Call, depth: int = 0) -> list[str]:
    """The texts that stand in a list of sources, also within ``os.path.join(here, "x.cu")``."""
    if isinstance(value, SequenceDisplay):
        return [t for item in value.items for t in _texts(context, module, item, call, depth + 1)]
    known = [v for v in context.known(module, value, call).values if isinstance(v, str)]
    if known or depth > _DEPTH:
        return known
    if isinstance(value, Op):
        return [t for item in value.operands for t in _texts(context, module, item, call, depth + 1)]
    if hasattr(value, "call"):
        args = module.code.calls[value.call].args
        return _texts(context, module, args[-1], call, depth + 1) if args else []
    return []


def _name(context: Context, module: Module, call: Call) -> str:
    value = argument(call, "name", 0)
    known = None if value is None else context.known(module, value, call).single
    return known if isinstance(known, str) else ""


def _built(context: Context) -> frozenset[str]:
    """The modules that the project's CUDA extensions are built as, by their last names."""

    def look() -> frozenset[str]:
        names = set()
        for module in context.project.modules.values():
            if any(record.module.startswith("torch.utils") for record in module.code.imports):
                for index, name in enumerate(context.names.of_calls(module)):
                    if name == _HOME + "CUDAExtension" and not _may_be_host_code(module, module.code.calls[index]):
                        names.add(_name(context, module, module.code.calls[index]).rpartition(".")[2])
        return frozenset(names - {""})

    return context.memoize("cuda extensions", look)


def _chosen(module: Module, call: Call) -> bool:
    """Whether a builder is called by a variable that a mention of it was bound to: ``extension(…)``."""
    return isinstance(call.callee, Ref) and any(
        bind.target == call.callee.name and isinstance(bind.value, Ref) for bind in module.code.assignments
    )


def _may_be_host_code(module: Module, call: Call) -> bool:
    """Whether the variable may be the builder of C++ for the host as well: then the module exists without CUDA."""
    return _chosen(module, call) and any(record.name.endswith("CppExtension") for record in module.code.name_uses)


def _imports(context: Context, module: Module) -> list[Fact]:
    """Imports of modules that only a compiler makes: those that the project builds, and those of no file that
    are named like one (``from . import roi_pool_cuda``)."""
    found = []
    for record in module.code.imports:
        last = (record.name or record.module).rpartition(".")[2]
        home = record.module.rpartition(".")[2]
        built = last in _built(context) or home in _built(context)
        looks = record.level and (_BUILT.search(last) or _BUILT.search(home))
        compiled = record.name != "*" and (built or looks or last.endswith("_cuda"))
        if compiled and not _is_python(context, module, record):
            span = Span(record.line, record.column, record.line, record.end_column)
            name = last if built or _BUILT.search(last) else home
            attrs = {"what": "import", "cuda": "yes" if built or "cuda" in name else "unknown"}
            attrs |= {"placed": placed(module, record.block), "builds": name}
            around = context.around(module, record.block)
            found.append(Fact("cuda_extension", name, module.path, span, attrs, None, around))
    return found


def _is_python(context: Context, module: Module, record: Import) -> bool:
    """Whether a file of the project is, or defines, what is imported."""
    project = context.project
    base = project.find(record.module, module, record.level) if record.module or record.level else None
    if not record.name:
        return base is not None
    dotted = f"{record.module}.{record.name}" if record.module else record.name
    return project.find(dotted, module, record.level) is not None or (
        base is not None and bool(context.names.exported(base, record.name))
    )


def _triton(context: Context, module: Module) -> list[Fact]:
    """``triton_kernel``: functions compiled by Triton."""
    if not any(record.module.partition(".")[0] == "triton" for record in module.code.imports):
        return []
    found = []
    for block in module.blocks:
        names = [context.names.of_value(module, one, block.parent, block.line) for one in block.decorators]
        if any(name.removesuffix("()") in _KERNELS for name in names):
            name = block.name.rpartition(".")[2]
            span = Span(block.line, 1, block.line, 1)
            around = context.around(module, block.parent)
            found.append(Fact("triton_kernel", name, module.path, span, {}, None, around))
    return found

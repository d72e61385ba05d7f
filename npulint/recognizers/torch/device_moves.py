"""How a fix moves CUDA code to the NPU: attributes of ``cuda`` facts for the rules of fixes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.names import npu_members
from npulint.facts.model import Span
from npulint.model.running.code_places import imports_package, options_named, returned_values
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import Expr, Scope, module_scopes
from npulint.model.values.walker import walker
from npulint.recognizers.torch import device_names as known
from npulint.recognizers.torch.device_texts import device_text, is_device_name

Move = Literal["name", "text", "default", "none"]
DEFAULT_TYPE = "torch.set_default_tensor_type"
_BUILDS = "torch.utils.cpp_extension"
# A captured graph has another class name on the NPU, and its capture needs review.
_CAPTURED = frozenset("graph graphs graph_pool_handle make_graphed_callables is_current_stream_capturing".split())
# Their objects have a method of that name, but none for the NPU.
_OWN_OBJECTS = (
    "torch_geometric",
    "dgl",
    "pytorch3d",
    "kaolin",
    "spconv",
    "torchsparse",
    "MinkowskiEngine",
    "torchtext",
)
_DATA = frozenset(("batch", "data", "graph", "g", "bg", "sample", "item"))
_SOURCES = (".cu", ".cuh")
_KERNELS = lazy_compile(r"(?:^|[._])(?:_?C|cuda|ext)$|^mmcv\.ops(?:\.|$)")


def move_of_member(name: str) -> Move:
    """How a use of a member of torch.cuda is moved: by renaming if the NPU has the same member."""
    member, counterpart = known.part(name), known.counterpart(name)
    if member in _CAPTURED or known.covered(name) != "yes" or member not in npu_members():
        return "none"
    return "name" if counterpart == name.replace("cuda", "npu", 1) else "none"


def is_default_type(scope: Scope, span: Span) -> bool:
    """Whether an expression is the type that a call makes the default. No type of torch_npu can be it."""
    here = (span.line, span.column)
    calls = (call.span for call in scope.calls if call.name == DEFAULT_TYPE)
    return any((call.line, call.column) < here < (call.end_line, call.end_column) for call in calls)


def move_of_default_type(name: str) -> Move:
    """How the default type is moved: the NPU becomes the default device, which keeps the element type float32 only."""
    return "default" if name == "torch.cuda.FloatTensor" else "none"


@once_per_file
def has_kernels(module: Scope) -> bool:
    """Whether a file imports kernels built for CUDA, or has them compiled, which ``is_cuda`` may select."""
    names = (
        name
        for import_record in module.module.code.imports
        for name in (import_record.module, f"{import_record.module}.{import_record.name}")
    )
    if any(_KERNELS.search(name) for name in names if name != "torch.cuda"):
        return True
    given = (value for call in module.all_calls for value in (*call.args, *call.keywords.values()) if value.is_display)
    return any(item.text.endswith(_SOURCES) for value in given for item in value.items)


def is_given_here(scope: Scope, name: str, line: int) -> bool:
    """Whether the code itself assigns the text of a CUDA device to a name, or passes it for that parameter: both change
    together; not an option that is another device by default."""
    here = scope.named(name, line)
    if any(_gives_device(name, assignment.value) for assignment in here.assignments):
        return True
    function = here.passed_to
    if function is not None and any(
        value is not None and _gives_device(name, value) for _, value in function.passed(name)
    ):
        return True
    holder, _, last = name.rpartition(".")
    options = options_named(scope.context, last) if holder else []
    own = [option for option in options if option.scope.module is scope.module]
    if own:
        return any(_gives_device(last, option.default) for option in own)
    return last.lstrip("_") in _device_names(scope.context)


def _gives_device(name: str, value: Expr) -> bool:
    """Whether a value that a name gets is the text of a CUDA device that is moved with it: of other names (``impl``,
    ``backend``) "cuda" may be one of several implementations."""
    text = device_text(value)
    return text.startswith("cuda") and (":" in text or is_device_name(name))


@once
def _device_names(context: Context) -> set[str]:
    """The last segments of the names to which the project assigns the text of a CUDA device."""
    table = context.options.table
    names = {
        name for name in table if any(_gives_device(name, option.default) for option in options_named(context, name))
    }
    for module in module_scopes(context):
        if not module.module.code.devices:
            continue
        for assignment in module.assignments:
            value = assignment.value
            if not value.is_dict and not value.is_display and _gives_device(assignment.target, value):
                names.add(assignment.target.rpartition(".")[2].lstrip("_"))
        for function in module.blocks_of("function", "lambda"):
            names.update(name for name, value in function.defaults if _gives_device(name, value))
    return names


def may_be_own_method(scope: Scope, holder: str) -> bool:
    """Whether a ``.cuda()`` may be a method of a project class, or of an object without ``npu``, by the receiver's
    name."""
    name = holder.rpartition(".")[2].lstrip("?").lower().replace("_", "")
    if not name:
        return False
    if name in _DATA and imports_package(scope, *_OWN_OBJECTS):
        return True
    return any(name in owner or owner in name for owner in _owners(scope.context))


@once
def _owners(context: Context) -> list[str]:
    """The classes with a ``cuda`` method of their own, in lower case."""
    functions = (function for module in module_scopes(context) for function in module.blocks_of("function"))
    names = [function.record.name.split(".") for function in functions]
    return sorted({path[-2].lower().replace("_", "") for path in names if path[-1] == "cuda" and len(path) > 1})


def chooses_itself(scope: Scope) -> bool:
    """Whether a file distinguishes several devices: it also supports the NPU, or builds for CUDA. Renaming CUDA there
    would move one of its branches to two devices."""
    imported = (
        name
        for import_record in scope.module.code.imports
        for name in (import_record.module, f"{import_record.module}.{import_record.name}")
    )
    return _BUILDS in imported or knows_npu(scope)


@once_per_file
def keeps_table(module: Scope) -> bool:
    """Whether a file has a table with CUDA as one of its keys."""
    return any(map(_is_keyed, _values(module)))


@once_per_file
def knows_npu(scope: Scope) -> bool:
    """Whether a file tests for the NPU, with branches for it."""
    checked = "torch.npu.is_available" in scope.call_names
    return checked or any(_compares_npu(block.test) for block in scope.blocks_of("if"))


@walker(depth=7, otherwise=bool)
def _compares_npu(value: Expr) -> bool:
    return value.text.partition(":")[0] == "npu" or any(map(_compares_npu, value.operands() or value.items))


def _values(module: Scope) -> Iterator[Expr]:
    """The values that a module assigns, returns and passes on, except map_location, which names the device of the
    checkpoint."""
    for assignment in module.assignments:
        if "map_location" not in assignment.target:
            yield assignment.value
    yield from returned_values(module)
    for call in module.all_calls:
        if call.last not in ("load", "print"):
            yield from call.args
            yield from (call.expr(value) for key, value in call.record.keywords if key != "map_location")


def _is_keyed(value: Expr) -> bool:
    """Whether a value is a table with a CUDA device as one of its keys."""
    return any(key is not None and key.text == "cuda" for key, _ in value.entries)

"""How the code at a place that says CUDA is moved to the NPU: what the rules of fixes ask of a ``cuda`` fact."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch import device_names as known
from npulint.assemble.recognizers.torch.device_strings import device_text
from npulint.data.torch_names import npu_members
from npulint.facts.code import Const, Op, SequenceDisplay, Table, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_NAMED = frozenset(("method", "is_cuda"))
_CHOICES = frozenset(("text", "available", "compare", "is_cuda"))
_BUILDS = "torch.utils.cpp_extension"
_DEPTH = 6
_DEVICES = frozenset(("tensor", "type", "device"))
# A captured graph is an object of another name, and captures what a person has to look at.
_CAPTURED = frozenset("graph graphs graph_pool_handle make_graphed_callables is_current_stream_capturing".split())
_SHOWN = frozenset(("shown", "properties"))
# Their objects have a method of that name, and none for the NPU.
_OWN_OBJECTS = frozenset("torch_geometric dgl pytorch3d kaolin spconv torchsparse MinkowskiEngine torchtext".split())
_DATA = frozenset(("batch", "data", "graph", "g", "bg", "sample", "item"))
_KERNELS = lazy_compile(r"(?:^|[._])(?:_?C|cuda|ext)$|^mmcv\.ops(?:\.|$)")


def move(context: Context, module: Module, fact: Fact) -> str:
    """``name`` where another name does, ``text`` where another text does, ``none`` where that is not enough."""
    form = fact.attrs["form"]
    if fact.get("in_test") == "yes" or (form in _CHOICES and _chooses_itself(context, module)):
        return "none"
    if _may_be_key(fact) and _keeps_table(context, module):
        return "none"
    if fact.get("behind") == "cuda" and (_knows_npu(context, module) or _keeps_table(context, module)):
        return "none"
    if form in _NAMED:
        if form == "is_cuda":
            return "none" if _has_kernels(module) else "name"
        unsure = fact.get("receiver") == "unknown" and _own_method(context, module, str(fact.attrs.get("holder", "")))
        return "none" if unsure else "name"
    if form == "text":
        return "text"
    if form == "compare":
        return _of_comparison(context, module, fact)
    if form == "capability":
        return "name" if fact.get("use") in _SHOWN else "none"
    if form in ("api", "type", "available"):
        return _of_member(fact)
    return "none"


def imports_torch(module: Module) -> str:
    """Whether a file imports torch by itself."""
    found = any(record.module.partition(".")[0] == "torch" for record in module.code.imports)
    return "yes" if found else "no"


def _has_kernels(module: Module) -> bool:
    """Whether a file imports kernels built for CUDA: ``is_cuda`` may choose them."""
    records = module.code.imports
    return any(
        _KERNELS.search(name) for r in records for name in (r.module, f"{r.module}.{r.name}") if name != "torch.cuda"
    )


def _of_member(fact: Fact) -> str:
    name = fact.name
    if known.part(name) in _CAPTURED:
        return "none"
    if fact.get("covered") != "yes" or known.part(name) not in npu_members() or known.counterpart(name) == "none":
        return "none"
    if known.counterpart(name) != name.replace("cuda", "npu", 1):
        return "none"
    return "text" if "within" in fact.attrs else "name"


def _of_comparison(context: Context, module: Module, fact: Fact) -> str:
    """A text is compared with what is certainly a device, or with a name that this project gives a device's text."""
    if "within" not in fact.attrs:
        return "none"
    if fact.get("of") in _DEVICES:
        return "text"
    subject = fact.attrs.get("subject")
    if fact.get("of") != "choice" or not isinstance(subject, str):
        return "none"
    if subject.endswith(".type"):
        return "text"
    block = fact.around.block if fact.around is not None else 0
    return "text" if _given_here(context, module, subject, block, fact.span.line) else "none"


def _given_here(context: Context, module: Module, subject: str, block: int, line: int) -> bool:
    """Whether the code itself gives a name the text of a CUDA device, so that both change together. An option that is
    another device unless somebody says otherwise does not."""
    if any(_says_cuda(home, bind.value) for home, bind in context.flow.bindings(module, subject, block, line)):
        return True
    holder, _, last = subject.rpartition(".")
    own = [option for option in context.options.table.get(last, ()) if option.module is module] if holder else []
    if own:
        return any(_says_cuda(option.module, option.value) for option in own)
    given: set[str] = context.memoize("names of CUDA devices", lambda: set(_given(context)))
    return last.lstrip("_") in given


def _given(context: Context) -> Iterator[str]:
    """The last segments of the names that the project gives the text of a CUDA device."""
    for name, options in context.options.table.items():
        if any(_says_cuda(option.module, option.value) for option in options):
            yield name
    for home in context.project.modules.values():
        if not home.code.devices:
            continue
        for bind in home.code.assignments:
            if _says_cuda(home, bind.value) and not isinstance(bind.value, Table | SequenceDisplay):
                yield bind.target.rpartition(".")[2].lstrip("_")
        for record in home.blocks:
            if record.defaults:
                pairs = zip(record.params[-len(record.defaults) :], record.defaults, strict=True)
                yield from (name for name, value in pairs if _says_cuda(home, value))


def _says_cuda(module: Module, value: Value) -> bool:
    return device_text(module, value).startswith("cuda")


def _own_method(context: Context, module: Module, holder: str) -> bool:
    """Whether a ``.cuda()`` may be a method of a class of the project, or of an object that has none for the NPU: as
    the name tells by which it is called."""
    name = holder.rpartition(".")[2].lstrip("?").lower().replace("_", "")
    if not name:
        return False
    if name in _DATA and any(record.module.partition(".")[0] in _OWN_OBJECTS for record in module.code.imports):
        return True
    owners: list[str] = context.memoize("own cuda methods", lambda: _owners(context))
    return any(name in owner or owner in name for owner in owners)


def _owners(context: Context) -> list[str]:
    """The classes that have a ``cuda`` of their own, in small letters."""
    names = [
        b.name.split(".") for home in context.project.modules.values() for b in home.blocks if b.kind == "function"
    ]
    return sorted({path[-2].lower().replace("_", "") for path in names if path[-1] == "cuda" and len(path) > 1})


def _chooses_itself(context: Context, module: Module) -> bool:
    """Whether a file knows several devices apart: it takes the NPU as well, or builds for CUDA. To rename CUDA there
    would give one branch of it to two devices."""

    def look() -> bool:
        if any(_BUILDS in (record.module, f"{record.module}.{record.name}") for record in module.code.imports):
            return True
        return _knows_npu(context, module)

    return bool(context.memoize(("chooses itself", module.path), look))


def _may_be_key(fact: Fact) -> bool:
    """Whether a device's text, or what chooses it, does not go to torch at once: other code may look it up."""
    form = str(fact.attrs["form"])
    if form == "text":
        return not str(fact.attrs.get("callee", "")).startswith(("torch.", ".to"))
    return form == "available" or (form == "compare" and str(fact.get("of")) == "choice")


def _keeps_table(context: Context, module: Module) -> bool:
    """Whether a file keeps a table with CUDA as one of its keys."""
    return bool(context.memoize(("table of devices", module.path), lambda: any(map(_is_keyed, _values(module)))))


def _knows_npu(context: Context, module: Module) -> bool:
    """Whether a file asks for the NPU: it has branches for it."""

    def look() -> bool:
        if "torch.npu.is_available" in context.names.of_calls(module):
            return True
        return any(_compares_npu(block.test) for block in module.blocks if block.kind == "if")

    return bool(context.memoize(("knows the NPU", module.path), look))


def _compares_npu(value: Value, depth: int = 0) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value.partition(":")[0] == "npu"
    if depth > _DEPTH:
        return False
    parts = value.operands if isinstance(value, Op) else value.items if isinstance(value, SequenceDisplay) else ()
    return any(_compares_npu(part, depth + 1) for part in parts)


def _values(module: Module) -> Iterator[Value]:
    """What a module assigns, returns and passes on; a checkpoint's mapping tells where it was saved."""
    for bind in module.code.assignments:
        if "map_location" not in bind.target:
            yield bind.value
    for returned in module.code.returns:
        yield returned.value
    for index, call in enumerate(module.code.calls):
        if module.callee_name(index) not in ("load", "print"):
            yield from call.args
            yield from (value for key, value in call.keywords if key != "map_location")


def _is_keyed(value: Value) -> bool:
    """Whether a value is a table with a CUDA device as one of its keys."""
    return isinstance(value, Table) and any(isinstance(key, Const) and key.value == "cuda" for key in value.keys)

"""How the code at a place that says CUDA is moved to the NPU: what the rules of fixes ask of a ``cuda`` fact."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.recognise.torch import device_names as known
from npulint.assemble.recognise.torch.device_texts import device_text
from npulint.data.torch_names import npu_members
from npulint.facts.code import Const, Items, Op, Table, Value
from npulint.facts.model import Fact

_NAMED = frozenset(("method", "is_cuda"))
_CHOICES = frozenset(("text", "available", "compare", "is_cuda"))
_BUILDS = "torch.utils.cpp_extension"
_DEPTH = 6
_DEVICES = frozenset(("tensor", "type", "device"))
_SHOWN = frozenset(("shown", "properties"))
# Their objects have a method of that name, and none for the NPU.
_OWN_OBJECTS = frozenset("torch_geometric dgl pytorch3d kaolin spconv torchsparse MinkowskiEngine torchtext".split())


def move(context: Context, module: Module, fact: Fact) -> str:
    """``name`` where another name does, ``text`` where another text does, ``none`` where that is not enough."""
    form = fact.attrs["form"]
    if fact.get("in_test") == "yes" or (form in _CHOICES and _chooses_itself(context, module)):
        return "none"
    if fact.get("behind") == "cuda" and _knows_npu(context, module):
        return "none"
    if form in _NAMED:
        unsure = form == "method" and fact.get("receiver") == "unknown" and _own_method(context, module)
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


def _of_member(fact: Fact) -> str:
    name = fact.name
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
    """Whether the code itself gives a name the text of a CUDA device, so that both change together."""
    if any(_says_cuda(home, bind.value) for home, bind in context.flow.bindings(module, subject, block, line)):
        return True
    holder, _, last = subject.rpartition(".")
    if holder:
        options = context.options.table.get(last, [])
        own = [option for option in options if option.module is module] or options
        return any(_says_cuda(option.module, option.value) for option in own)
    function = module.function_of(block)
    if function < 0:
        return False
    record = module.blocks[function]
    defaults = zip(record.params[-len(record.defaults) :], record.defaults, strict=True) if record.defaults else ()
    return any(name == subject and _says_cuda(module, value) for name, value in defaults)


def _says_cuda(module: Module, value: Value) -> bool:
    return device_text(module, value).startswith("cuda")


def _own_method(context: Context, module: Module) -> bool:
    """Whether a ``.cuda()`` may be a method of the project's own, or of objects that have none for the NPU."""
    if any(record.module.partition(".")[0] in _OWN_OBJECTS for record in module.code.imports):
        return True
    return context.once("own cuda methods", lambda: _defined(context))


def _defined(context: Context) -> bool:
    homes = context.project.modules.values()
    return any(b.kind == "function" and b.name.endswith(".cuda") for home in homes for b in home.blocks)


def _chooses_itself(context: Context, module: Module) -> bool:
    """Whether a file knows several devices apart: it takes the NPU as well, keeps a table with CUDA as its key, or
    builds for CUDA. To rename CUDA there would give one branch of it to two devices."""

    def look() -> bool:
        if any(_BUILDS in (record.module, f"{record.module}.{record.name}") for record in module.code.imports):
            return True
        return _knows_npu(context, module) or any(_is_keyed(value) for value in _values(module))

    return bool(context.once(("chooses itself", module.path), look))


def _knows_npu(context: Context, module: Module) -> bool:
    """Whether a file asks for the NPU: it has branches for it."""

    def look() -> bool:
        if "torch.npu.is_available" in context.names.of_calls(module):
            return True
        return any(_compares_npu(block.test) for block in module.blocks if block.kind == "if")

    return bool(context.once(("knows the NPU", module.path), look))


def _compares_npu(value: Value, depth: int = 0) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value.partition(":")[0] == "npu"
    if depth > _DEPTH:
        return False
    parts = value.operands if isinstance(value, Op) else value.items if isinstance(value, Items) else ()
    return any(_compares_npu(part, depth + 1) for part in parts)


def _values(module: Module) -> Iterator[Value]:
    """What a module assigns, returns and passes on; a checkpoint's mapping tells where it was saved."""
    for bind in module.code.binds:
        if "map_location" not in bind.target:
            yield bind.value
    for returned in module.code.returns:
        yield returned.value
    for index, call in enumerate(module.code.calls):
        if module.written(index) not in ("load", "print"):
            yield from call.args
            yield from (value for key, value in call.keywords if key != "map_location")


def _is_keyed(value: Value) -> bool:
    """Whether a value is a table with a CUDA device as one of its keys."""
    return isinstance(value, Table) and any(isinstance(key, Const) and key.value == "cuda" for key in value.keys)

"""Code that makes the shapes of a training step depend on data, or pads batches to their longest sample."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.code import Ref
from npulint.facts.kinds import fact_kind
from npulint.model.code.module import Module
from npulint.model.running.code_facts import AssignmentFact, CallFact, PlaceFact
from npulint.model.running.code_places import expressions
from npulint.model.running.surroundings import surroundings_of
from npulint.model.running.training import training_of
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at, module_scopes
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch.tensors import depends_on_data, is_host_tensor, is_mask, method_of, on_host, short_text

# Classes of a project that are never instantiated: unused heads in a copied model file.


def is_idle(scope: Scope) -> bool:
    """Whether code is in a class that nothing names, in a file of which another class is used by name. Registered
    (decorated) classes count as used, and so do all classes of a project that looks up classes by name."""
    context, owner = scope.context, scope.owner
    if owner is None or owner.decorators or owner.last_name in _used(context):
        return False
    return any(other.last_name in _used(context) for other in scope.blocks_of("class")) and not _looks_up(context)


@once
def _used(context: Context) -> frozenset[str]:
    """The last segments of what the project calls, passes on or derives from."""
    return frozenset().union(*(module.derive(_used_in) for module in context.project.modules.values()))


def _used_in(module: Module) -> set[str]:
    code = module.code
    names = {module.callee_name(index) for index in range(len(code.calls))}
    for call in code.calls:
        if isinstance(call.callee, Ref):
            names.update(call.callee.name.split("."))
    for written, block in {(record.name, record.block) for record in code.name_uses}:
        owner = module.class_of(block)
        own = module.blocks[owner].name.rpartition(".")[2] if owner >= 0 else ""  # super(Net, self) is no use of Net
        names.update([part for part in written.split(".") if part != own])
    bases = (base for block in module.blocks if block.kind == "class" for base in block.bases)
    names.update(base.name.rpartition(".")[2] for base in bases if isinstance(base, Ref))
    return names


@once
def _looks_up(context: Context) -> bool:
    """Whether an attribute of a module is looked up by a computed name."""
    return any(_is_lookup(call) for module in module_scopes(context) for call in module.calls_named(*_LOOKUPS))


_LOOKUPS = ("getattr", "globals")


def _is_lookup(call: CallSite) -> bool:
    code = call.module.code
    if call.last == "globals":
        return not any(
            assignment.line == call.line and assignment.target.endswith("]") for assignment in code.assignments
        )
    if len(call.args) < 2 or call.args[1].is_literal or not call.args[0].written:
        return False
    return call.args[0].written in {
        import_record.alias or import_record.name or import_record.module for import_record in code.imports
    }


_ALWAYS = {
    "torch.masked_select": "masked_select",
    "torch.nonzero": "nonzero",
    "torch.argwhere": "nonzero",
    "torch.unique": "unique",
    "torch.unique_consecutive": "unique",
    "torch.bincount": "bincount",
    "torch.nn.utils.rnn.pack_padded_sequence": "pack_padded",
    "torch.nn.utils.rnn.pack_sequence": "pack_padded",
    "torch.nn.utils.rnn.pad_sequence": "pad_sequence",
    "torchvision.ops.nms": "nms",
    "torchvision.ops.batched_nms": "nms",
    "torchvision.ops.boxes.nms": "nms",
    "torchvision.ops.boxes.batched_nms": "nms",
}
_METHODS = {
    "masked_select": "masked_select",
    "nonzero": "nonzero",
    "argwhere": "nonzero",
    "unique": "unique",
    "unique_consecutive": "unique",
    "bincount": "bincount",
}
_SOMETIMES = frozenset(("torch.where", "torch.topk", "torch.repeat_interleave", "torch.split"))
_SOMETIMES_METHODS = frozenset(("topk", "repeat_interleave", "split"))
_DECIDED = {"topk": ("k", "dynamic_topk"), "split": ("split_size_or_sections", "split_by_lengths")}
_SIZES = frozenset(("size", "numel", "__len__"))
_COLLATE = lazy_compile(r"(?:^|[._])\w*collat\w*$|[Cc]ollat\w*\.__call__$", re.IGNORECASE)
_PADS = lazy_compile(
    r"(?:^|[.:_])pad(?:_(?:lists?|sequences?|batch|tensors?|collate|to_longest|samples?|items|and_\w+))?$|collate_tokens$"
)
_BATCHES = lazy_compile(r":(?:\w+\.)*\w*(?:collat|batch|nested|stack|merge)\w*$")  # project functions that create one
_NO_BATCH = ("tensorflow.", "numpy.", "torch.nn.functional.", "cv2.", "?self.")
_LENGTH = lazy_compile(r"len|size|max|width", re.IGNORECASE)
_NUMBERS = lazy_compile(r"(?:math|numpy|torch)\.(?:inf|nan|pi|e|finfo\(\)\.\w+|iinfo\(\)\.\w+)$")
_BARE = 2  # maximum arguments of an unknown padding function: the samples and the fill value
_IN_STEP = ("yes", "gated")
_COUNTS = (".item()", ".size()", ".dim()", ".numel()")


@fact_kind("dynamic_shape")
class ShapeFromData(CallFact):
    """A call in a training step returns a tensor whose shape depends on data, or a collate function pads to the longest
    sample. The name is the cause: boolean_mask, masked_select, nonzero, unique, nms, dynamic_topk, pad_in_collate …"""

    @attribute
    def written(self) -> str:
        """The callee, shortened for the message."""
        text = short_text(self.call.callee)
        return "max(…)" if text == "max" else text


@fact_kind("dynamic_shape")
class MaskSelection(PlaceFact):
    """A tensor is indexed by a boolean mask (``boolean_mask``)."""

    _selection: Expr

    @attribute
    def written(self) -> str:
        """The subscript, shortened for the message."""
        return short_text(self._selection)


@fact_kind("dynamic_shape")
class MaskedStore(AssignmentFact):
    """Elements selected by a boolean mask are set: to one number (``masked_store``) or to a tensor, whose shape must
    fit (``masked_assign``)."""

    @attribute
    def written(self) -> str:
        """The assignment target, shortened for the message."""
        return f"{self.assignment.holder.written}[{short_text(self.assignment.key)}]"


# -- which calls -------------------------------------------------------------------------------------


def _may_have_dynamic_shape(name: str) -> bool:
    """Whether the shape of a call's result may depend on data; for collate functions also padding functions and
    ``max``."""
    if name in _ALWAYS or name in _SOMETIMES or name == "max":
        return True
    last = name.rpartition(".")[2]
    if last in _METHODS or last in _SOMETIMES_METHODS:
        return bool(method_of(name))
    return _joins(name) and not name.startswith(_NO_BATCH)


def _joins(name: str) -> bool:
    """Whether a name is customary for a function that makes a batch of samples."""
    if ":" in name and _BATCHES.search(name) is not None:
        return True
    return ("pad" in name or name.endswith("collate_tokens")) and _PADS.search(name) is not None


@recognizes(matching=_may_have_dynamic_shape)
def shapes_from_data(call: CallSite) -> list[ShapeFromData]:
    """Calls in a training step whose result has a shape that depends on data; padding in collate functions."""
    name = call.name
    if _is_in_collate(call.scope):
        return [ShapeFromData(call, "pad_in_collate")] if _pads_to_longest(call, name) else []
    if name == "max" or not _is_in_step(call.scope) or call.target is not None:
        return []
    cause = _cause(call, name)
    return [ShapeFromData(call, cause)] if cause else []


def _is_in_step(scope: Scope) -> bool:
    return surroundings_of(scope).step in _IN_STEP and not is_idle(scope)


def _cause(call: CallSite, name: str) -> str:
    """Why the shape of a result depends on data; empty if it does not."""
    method = "" if name in _ALWAYS or name in _SOMETIMES else method_of(name)
    tensor = call.receiver if method else call.args[0] if call.record.args else None
    if tensor is not None and (on_host(tensor) or is_host_tensor(tensor)):
        return ""
    cause = _ALWAYS.get(name) or _METHODS.get(method)
    if cause == "nonzero":
        return "count_by_nonzero" if _is_only_counted(call) else cause
    if cause:
        return cause
    if name == "torch.where":
        return "where_one_argument" if len(call.arguments) == 1 and call.record.args else ""
    return _by_argument(call, method or name.rpartition(".")[2], 0 if method else 1)


def _by_argument(call: CallSite, function: str, position: int) -> str:
    """The cause if an argument determines it: k, the repeats, the sections."""
    if function == "repeat_interleave":
        return function if _repeats_by_tensor(call, position) else ""
    if function not in _DECIDED:
        return ""
    keyword, cause = _DECIDED[function]
    value = call.argument(keyword, position)
    return cause if value is not None and depends_on_data(value) else ""


def _repeats_by_tensor(call: CallSite, position: int) -> bool:
    """Whether the repeats of ``repeat_interleave`` are a tensor, and no output size is passed."""
    if call.has_keyword("output_size"):
        return False
    if position and len(call.args) == 1 and not (call.has_keyword("repeats") or call.has_keyword("dim")):
        return True
    repeats = call.argument("repeats", position)
    if repeats is None or repeats.known.values or repeats.name.endswith(_COUNTS):
        return False
    return repeats.name.startswith("torch.") and repeats.name.endswith("()")


def _is_only_counted(call: CallSite) -> bool:
    """Whether only the number of ones is used: ``nonzero(m).size(0)``, ``len(m.nonzero())``."""
    if call.method is not None:
        return call.method.last in _SIZES
    return call in _counted(call.scope)


@once_per_file
def _counted(module: Scope) -> frozenset[CallSite | None]:
    """The calls of whose results only the length is taken."""
    return frozenset(value.call for other in module.calls_named("len", "numel") for value in other.args)


# -- masks -------------------------------------------------------------------------------------------


@recognizes_in_modules
def mask_selections(module: Scope) -> Iterator[MaskSelection]:
    """Reads of elements by a boolean mask in a training step."""
    for place in expressions(module, "mask"):
        subscript = place.expression.subscript
        if subscript is not None and _is_in_step(place.scope) and _selects(*subscript):
            yield MaskSelection(place.scope, place.span, "boolean_mask", place.expression)


@recognizes_in_modules
def masked_stores(module: Scope) -> Iterator[MaskedStore]:
    """Assignments to elements by a boolean mask in a training step."""
    dotted = module.module.dotted.items()
    stores = [record for target, records in dotted if target.endswith("]") for record in records]
    for store in (assignment_at(module.context, module.module, record) for record in stores):
        if store.key.is_unknown or store.value.operator == "+=" or not _is_in_step(store.scope):
            continue
        if _selects(store.holder, store.key):
            yield MaskedStore(store, "masked_store" if _is_number(store) else "masked_assign")


def _selects(holder: Expr, key: Expr) -> bool:
    """Whether a subscript indexes a tensor by a boolean mask, neither of them on the host."""
    if not is_mask(key) or on_host(holder):
        return False
    parts = key.operands() or (key.items if key.is_display else [key])
    return not any(on_host(part) for part in parts if not part.is_literal)


def _is_number(assignment: AssignmentSite) -> bool:
    """Whether the assigned value is a single number."""
    value = assignment.value
    value = value.operands()[0] if value.operator == "neg" else value
    if value.call is not None:
        return value.call.name in ("float", "int", "bool")
    return _NUMBERS.match(value.name) is not None or value.is_literal or bool(value.known.values)


# -- padding -----------------------------------------------------------------------------------------


def _is_in_collate(scope: Scope) -> bool:
    """Whether code is in a function that makes batches of samples."""
    function = scope.function
    if function is None:
        return False
    return bool(_COLLATE.search(function.record.name)) or function in training_of(scope.context).collating


def _pads_to_longest(call: CallSite, name: str) -> bool:
    """Whether a call in a collate function pads to the longest sample of a batch."""
    if name == "torch.nn.utils.rnn.pad_sequence":
        return True
    if name == "max":
        return _is_over_lengths(call) and not _is_replaced_by_number(call)
    if not _joins(name) or any(_LENGTH.search(key) for key in call.keywords):
        return False
    passed, target = len(call.args), call.target
    if target is None:
        return 1 <= passed <= _BARE and _PADS.search(name) is not None
    longest = any("max" in other.last and _is_over_lengths(other) for other in target.calls)
    return longest and not any(_LENGTH.search(parameter) for parameter in target.parameters[:passed])


def _is_replaced_by_number(call: CallSite) -> bool:
    """Whether the variable with the longest length is set to a constant afterwards."""
    here = [
        local_assignment
        for local_assignment in call.scope.routine.local_assignments
        if local_assignment.scope is call.scope
    ]
    targets = {assignment.target for assignment in here if assignment.line <= call.line <= assignment.span.end_line}
    return any(
        assignment.target in targets and assignment.line > call.line and assignment.value.is_literal
        for assignment in here
    )


def _is_over_lengths(call: CallSite) -> bool:
    """``max(len(x) for x in batch)``, ``max([x.shape[0] …])``, ``max(lengths)``."""
    if len(call.args) != 1:
        return False
    value = call.args[0]
    if value.operator != "each":
        return bool(_LENGTH.search(value.written))
    element = value.operands()[0]
    made = element.call
    if made is None:
        return any(".shape" in name or _LENGTH.search(name) for name in element.written_names)
    if made.last in ("list", "tuple"):
        return any(".shape" in name for part in made.args for name in part.written_names)
    return made.last in ("len", "size", "numel", "__len__")

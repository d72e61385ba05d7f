"""The parameter maps of custom optimizers: ``op.parameter_map["k"].s = v``, also by another name of the map
(``pm = op.parameter_map``) or of one of its entries (``mode = op.parameter_map["k"]``)."""

from __future__ import annotations

from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.data.options import legal_keys
from npulint.facts.code import Const, Op, Ref
from npulint.model.code.module import Module
from npulint.model.running.conditions import ANY, Situation, situations
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import AssignmentSite, Expr, module_scopes
from npulint.model.values.walker import walker

_MAP = "parameter_map"
_FIELDS = (".s", ".b", ".i", ".f")
_DIRECT = lazy_compile(r"^(?P<root>.+)\.parameter_map\[(?P<key>[^\]]*)\]\.(?P<field>\w+)$")
_ENTRY = lazy_compile(r"^(?P<map>[^\[\]]+)\[(?P<key>[^\]]*)\]\.(?P<field>[sbif])$")
_MOST = 8  # sources of a name that are followed


class MapEntry(NamedTuple):
    """An entry of a parameter map that is assigned to: its key in a situation, the field, and the custom optimizers
    that it may belong to; `root` is the optimizer as written at this place, empty where another name stands there."""

    key: str
    situation: Situation
    field: str
    optimizers: list[Expr]
    root: str


def map_entries(assignment: AssignmentSite) -> list[MapEntry] | None:
    """The entries of parameter maps that an assignment sets; None if it sets something else."""
    target = assignment.target
    match = _DIRECT.match(target) if f".{_MAP}[" in target else None
    if match:
        keys, owners = _keys(match["key"], assignment), [assignment.leading(match["root"])]
        return [MapEntry(key, situation, match["field"], owners, match["root"]) for key, situation in keys]
    if not target.endswith(_FIELDS) or not _has_maps(assignment.scope.context):
        return None
    match = _ENTRY.match(target)
    if match:
        maps = assignment.leading(match["map"])
        owners = _owners(maps)
        is_map = owners or _is_given_map(maps)
        keys = _keys(match["key"], assignment) if is_map else []
        return [MapEntry(key, situation, match["field"], owners, "") for key, situation in keys] if is_map else None
    return _of_entry(assignment) if "[" not in target else None


def _keys(written: str, assignment: AssignmentSite) -> list[tuple[str, Situation]]:
    return [(written, ANY)] if written != "*" else situations(assignment.computed_key)


def _of_entry(assignment: AssignmentSite) -> list[MapEntry] | None:
    """The same where a name stands for the entry of a map."""
    head, _, field = assignment.target.rpartition(".")
    entries = []
    for assigned in assignment.leading(head).assignments[:_MOST]:
        holder = assigned.value.subscript
        owners = [] if holder is None else _owners(holder[0])
        if holder is not None and owners:
            entries += [
                MapEntry(key, situation, field, owners, "") for key, situation in _keys_at(assignment, holder[1])
            ]
    return entries or None


def _keys_at(assignment: AssignmentSite, key: Expr) -> list[tuple[str, Situation]]:
    """The keys of an entry that has a name, where an assignment to it runs: the branches around it are those that
    count, and not those around the name."""
    if key.text:
        return [(key.text, ANY)]
    same = key.module is assignment.scope.module and key.scope.routine is assignment.scope.routine
    return situations(assignment.value.sibling(key.value)) if same else []


@walker(depth=5, otherwise=list)
def _owners(value: Expr) -> list[Expr]:
    """The custom optimizers whose parameter map an expression may be."""
    if value.written.endswith(f".{_MAP}"):
        return [value.sibling(Ref(value.written.removesuffix(f".{_MAP}")))]
    attribute = value.attribute
    if attribute is not None:
        return [attribute[0]] if attribute[1] == _MAP else []
    return [owner for source in value.sources[:_MOST] for owner in _owners(source)]


def _is_given_map(value: Expr) -> bool:
    """Whether a parameter that no call of the project gives is used as such a map: other entries of it have the names
    of options of the adapter."""
    function = value.passed_to
    if function is None or function.passed(value.written):
        return False
    heads = {f"{value.written}[{key}]" for key in legal_keys("session_key")}
    return any(local_assignment.target.rpartition(".")[0] in heads for local_assignment in function.local_assignments)


@once
def _has_maps(context: Context) -> bool:
    """Whether some module of a project mentions a parameter map or a custom optimizer of the adapter."""
    return any(module.module.derive(_mentions_map) for module in module_scopes(context))


def _mentions_map(module: Module) -> bool:
    values = [assignment.value for assignment in module.code.assignments]
    values += [
        value for call in module.code.calls for value in (*call.args, *(argument for _, argument in call.keywords))
    ]
    values += [return_record.value for return_record in module.code.returns]
    if any(_is_map(value) for value in values) or any(f".{_MAP}[" in target for target in module.dotted):
        return True
    return any("npu_bridge" in record.module for record in module.code.imports)


def _is_map(value: object) -> bool:
    """Whether an expression is a parameter map or one of its entries, as it is written."""
    if isinstance(value, Op) and value.op == "[]":
        value = value.operands[0]
    if isinstance(value, Op) and value.op == ".":
        return value.operands[1] == Const(_MAP)
    return isinstance(value, Ref) and value.name.endswith(f".{_MAP}")

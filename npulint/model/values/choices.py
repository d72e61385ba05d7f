"""Choices: the functions and classes that a computed callee may be: those of a dict or list (also one that decorators
fill), of a module by ``getattr``, and of modules that are imported by computed names."""

from __future__ import annotations

import itertools
import re

from npulint.facts.code import Function, Ref
from npulint.model.code.module import Module
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.mappings import mappings
from npulint.model.values.walker import walker

IMPORTERS = ("import_module", "__import__")
_LOOKING_UP = ("get", "pop", "getattr", "get_class", *IMPORTERS)
_MOST = 24  # functions and classes that one callee may be; with more it is unknown
_FRAMEWORKS = ("tensorflow.", "tf_slim.", "keras.", "npu_bridge.", "torch.")


def choices(callee: Expr) -> list[str]:
    """The canonical names of the functions and classes that are looked up for a call; empty where the callee is not
    looked up, or what it may be is not known. A name ends in ``.?`` if it may be any member of a framework's module."""
    if not _is_looked_up(callee):
        return []
    names = list(dict.fromkeys(_choices(callee)))
    return names if len(names) <= _MOST else []


@walker(depth=5, otherwise=bool)
def _is_looked_up(value: Expr) -> bool:
    call = value.call
    if call is not None:
        target = call.target
        if call.last in _LOOKING_UP or target is None or target.kind == "class":
            return call.last in _LOOKING_UP
        return any(map(_is_looked_up, target.returns))
    if value.written:
        if _imported(value):
            return True
        head = value.written.rpartition(".")[0]
        assigned = [assignment.value for assignment in value.assignments]
        return any(map(_is_looked_up, assigned)) or (bool(head) and _is_looked_up(value.sibling(Ref(head))))
    attribute = value.attribute
    return value.operator == "[]" or (attribute is not None and _is_looked_up(attribute[0]))


@walker(depth=9, otherwise=list, steps=400)
def _choices(value: Expr) -> list[str]:
    name = value.name
    if ":" in name and not name.startswith("?") and "(" not in name and value.context.names.function(name):
        return [name]
    if name.startswith(_FRAMEWORKS) and "()" not in name and "[]" not in name:
        return [name]
    if imported := _imported(value):
        return imported
    if value.subscript is not None:
        return _elements(*value.subscript)
    if value.call is not None:
        return _of_call(value.call)
    attribute = value.attribute or _split(value)
    if attribute is not None:
        members = [_member(value.context, holder, attribute[1]) for holder in _choices(attribute[0])]
        if any(members):
            return [member for member in members if member]
    return [choice for source in (*value.sources[:_MOST], *_decorated_with(value)) for choice in _choices(source)]


def _imported(value: Expr) -> list[str]:
    """What a name may mean that is imported in the branches of a condition."""
    if value.name != f"?{value.written}" or "." in value.written:
        return []
    scope = value.scope
    return value.context.names.imported.choices(scope.module, value.written, scope.block)


def _split(value: Expr) -> tuple[Expr, str] | None:
    """The object and the attribute of a dotted name."""
    head, _, last = value.written.rpartition(".")
    return (value.sibling(Ref(head)), last) if head else None


def _elements(holder: Expr, key: Expr) -> list[str]:
    """What may stand under a key."""
    tables = mappings(holder)
    single = key.known.single if key.known.exact and not key.known.symbol else None
    values = [expr for table in tables if (expr := table.get(single)) is not None] if single is not None else []
    values = values or [value for table in tables for _, value in table.last_entries]
    if not tables:
        values = [item for display in holder.displays for item in display.items]
    return [name for source in (*values, *_stored(holder)) for name in _choices(source)]


def _stored(holder: Expr) -> list[Expr]:
    """What functions store in a dict of a module or class: ``REGISTRY[name] = cls``."""
    exprs = []
    for bound in holder.assignments:
        head = f"{bound.target}["
        for assignment in bound.scope.at(0).assignments:
            inside = assignment.scope.module.function_of(assignment.scope.block) > 0
            if inside and assignment.target.startswith(head) and assignment.target.endswith("]"):
                exprs.append(assignment.value)
    return exprs


def _of_call(call: CallSite) -> list[str]:
    if call.last in ("get", "pop") and call.receiver is not None and call.args:
        return _elements(call.receiver, call.args[0])
    if call.written == "getattr" and len(call.args) > 1:
        return [name for holder in _choices_of_holder(call.args[0]) for name in _members(call, holder)]
    if call.last in IMPORTERS and call.args:
        return [f"{module.name}:" for module in imported_by_name(call)]
    target = call.target
    return [] if target is None or target.kind == "class" else [n for expr in target.returns for n in _choices(expr)]


def _choices_of_holder(value: Expr) -> list[str]:
    name = value.name
    return [name] if name.endswith(":") or name.startswith(_FRAMEWORKS) or name == "tensorflow" else _choices(value)


def _members(call: CallSite, holder: str) -> list[str]:
    """What ``getattr`` may give of a module."""
    key = call.args[1].known
    names = [value for value in key.values if isinstance(value, str)] if key.exact and not key.symbol else []
    if names:
        return [member for name in names if (member := _member(call.context, holder, name))]
    if not holder.endswith(":"):
        return [f"{holder}.?"]
    module = call.context.names.named(holder[:-1])
    return [] if module is None else _defined(call.context, module)


def _member(context: Context, holder: str, name: str) -> str:
    member = context.names.member(holder, name)
    if not holder.endswith(":"):
        return member
    return member if ":" not in member or context.names.function(member) is not None else ""


def _defined(context: Context, module: Module) -> list[str]:
    """The functions and classes that a module defines or imports from the project."""
    names = [name for name, binds in module.names.get(0, {}).items() if isinstance(binds[-1].value, Function)]
    exported = [context.names.exported(module, name) for name in (*names, *module.imports.get(0, ()))]
    return [name for name in exported if context.names.function(name) is not None]


def _decorated_with(value: Expr) -> list[Expr]:
    """What decorators get as a parameter: the functions and classes that they decorate."""
    function = value.passed_to
    if function is None or not function.parameters or function.parameters[0] != value.written:
        return []
    scopes = _decorated(value.context).get((function.path, function.block), [])
    return [Expr(Function(scope.block), scope.parent or scope, scope.record.line) for scope in scopes]


@once
def _decorated(context: Context) -> dict[tuple[str, int], list[Scope]]:
    """The functions and classes that each function of the project decorates."""
    decorated: dict[tuple[str, int], list[Scope]] = {}
    for module in module_scopes(context):
        for block in module.blocks_of("function", "class"):
            for decorator in block.decorators:
                for function in decorator.functions if ":" in decorator.name else ():
                    decorated.setdefault((function.path, function.block), []).append(block)
    return decorated


def imported_by_name(call: CallSite) -> list[Module]:
    """The modules that ``importlib.import_module("prefix." + name)`` and the like may import."""
    project, name = call.context.project, call.args[0]
    values = name.known
    named = [value for value in values.values if isinstance(value, str)]
    modules: list[Module] = []
    certain = values.exact and not values.symbol and not name.alternatives  # an option may choose another branch
    for prefix in dict.fromkeys(named if certain else named + prefixes(name)):
        if prefix.endswith("."):
            modules += project.below(prefix.strip("."), call.module)
        elif prefix:
            target = project.find(prefix, call.module)
            modules += [target] if target else []
    return modules


@walker(depth=5, otherwise=list)
def prefixes(text: Expr) -> list[str]:
    """The literal prefixes that a text may have."""
    if text.alternatives:
        return [prefix for branch in text.alternatives for prefix in prefixes(branch)]
    if text.written:
        assigned = (assignment.value for assignment in text.scope.assignments if assignment.target == text.written)
        return [prefix for value in assigned for prefix in prefixes(value)]
    call = text.call
    if (
        call is not None
        and call.last == "join"
        and call.receiver is not None
        and call.receiver.text == "."
        and call.args
    ):
        begin = list(itertools.takewhile(bool, (part.text for part in call.args[0].items)))
        return ["".join(f"{part}." for part in begin)] if begin else []
    first = call.callee if call is not None and call.last == "format" else text
    second = ""
    while first.operator in ("+", "join", "%", ".") and first.operands():
        second = first.operands()[1].text if first.operator in ("+", "join") and len(first.operands()) > 1 else ""
        first = first.operands()[0]
    begun = [first.text] if first.text else [f"{part}{second}" for part in _gone_through(first)]
    return [re.split(r"[%{]", beginning)[0] for beginning in begun]


def _gone_through(name: Expr) -> list[str]:
    """The texts in the list that a loop goes through with this variable."""
    lists = [assignment.value.operands("iter") for assignment in name.assignments if name.written]
    displays = [display for operands in lists if operands for display in operands[0].displays]
    return [item.text for display in displays for item in display.items if item.text]

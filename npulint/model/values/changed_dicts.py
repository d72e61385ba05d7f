"""Dicts that are changed after they are made: the keys whose values statements and functions of the project replace."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from npulint.facts.code import Call, Const, Op, Ref, Scalar, Table, Value, receiver_of

if TYPE_CHECKING:
    from npulint.model.code.module import Module
    from npulint.model.values.context import Context

Keys = frozenset[str] | None
"""The last keys of the entries; None for all of them."""

EVERY: Keys = None
_UPDATES = frozenset(
    """update merge_from_file merge_from_list merge_from_dict merge_with merge_from_dotlist merge_with_dotlist
    clear""".split()
)
_OWN = ("self", "cls")
_MOST = 64  # functions that a dict is passed on to
_Name = tuple[str, int, str]
"""A name in a scope of a module, by its path."""


class _Changes(msgspec.Struct, frozen=True):
    """By the name of a dict in a module, the blocks in which it is changed, with the keys, and those in which a
    call gets it, with the number of the call, or another name, with that name."""

    writes: dict[str, list[tuple[int, Keys]]]
    given: dict[str, list[tuple[int, int]]]
    aliases: dict[str, list[tuple[int, str]]]


def changed_keys(context: Context, module: Module, block: int, name: str) -> Keys:
    """The keys under which a dict that has a name in a block, or in the blocks within its scope, gets other values."""
    start = (module.path, module.scope[block], name)
    cached: dict[object, Keys] = context.answers.setdefault(changed_keys, {})
    if start not in cached:
        cached[start] = _reached(context, start)
    return cached[start]


def is_changed(context: Context, module: Module, block: int, name: str, key: Scalar) -> bool:
    """Whether the value under a key may be replaced in a dict that has a name in a block."""
    changed = changed_keys(context, module, block, name)
    return changed is None or str(key) in changed


def _reached(context: Context, start: _Name) -> Keys:
    """The keys that are replaced under a name, or under those that functions give to what is passed to them."""
    queue, seen = [start], {start}
    reached: set[str] = set()
    while queue:
        if len(seen) > _MOST:
            return EVERY
        path, scope, name = queue.pop()
        module = context.project.modules[path]
        for home in [module] if scope or "." in name else context.project.modules.values():
            changes = home.derive(_changes)
            for at, keys in changes.writes.get(name, ()):
                if _may_mean(home, at, name, module, scope):
                    if keys is None:
                        return EVERY
                    reached |= keys
            passed = [index for at, index in changes.given.get(name, ()) if _may_mean(home, at, name, module, scope)]
            inner = {parameter for index in passed for parameter in _parameters(context, home, index, name)} - seen
            named = [
                (at, alias) for at, alias in changes.aliases.get(name, ()) if _may_mean(home, at, name, module, scope)
            ]
            inner |= {(home.path, home.scope[at], alias) for at, alias in named} - seen
            seen |= inner
            queue += inner
    return frozenset(reached)


def _may_mean(home: Module, block: int, name: str, module: Module, scope: int) -> bool:
    """Whether a name in a block may be that of a scope."""
    return home is not module or "." in name or scope in home.ancestors(block)


def _parameters(context: Context, home: Module, index: int, name: str) -> list[_Name]:
    """The parameters of an own function for which a call passes a dict."""
    target = context.names.function(context.names.of_call(home, index))
    block = -1 if target is None else target[0].called_block(target[1])
    if target is None or block < 0 or target[0].path not in context.project.modules:
        return []
    call, record = home.code.calls[index], target[0].blocks[block]
    skipped = 1 if record.params[:1] in (("self",), ("cls",)) else 0
    names = [key for key, value in call.keywords if value == Ref(name)]
    places = [at + skipped for at, value in enumerate(call.args) if value == Ref(name)]
    names += [record.params[at] for at in places if at < len(record.params)]
    return [(target[0].path, block, parameter) for parameter in names]


def _changes(module: Module) -> _Changes:
    writes: dict[str, list[tuple[int, Keys]]] = defaultdict(list)
    given: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for target, binds in module.dotted.items():
        name, key = _root(target), _last(target)
        if name != target:
            keys = EVERY if key == "*" else frozenset((key,))
            writes[name] += [(bind.block, keys) for bind in binds]
    aliases: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for bind in module.code.assignments:
        if isinstance(bind.value, Ref) and "[" not in bind.target and bind.value.name != bind.target:
            aliases[bind.value.name].append((bind.block, _root(bind.target)))
    for index, call in enumerate(module.code.calls):
        last = module.callee_name(index)
        if last in _UPDATES or last == "pop":
            holder = _holder(call)
            if holder:
                writes[_root(holder.removesuffix(".__dict__"))].append((call.block, _updated(call, last)))
        for value in (*call.args, *(argument for _, argument in call.keywords)):
            if isinstance(value, Ref):
                given[value.name].append((call.block, index))
    return _Changes(dict(writes), dict(given), dict(aliases))


def _root(target: str) -> str:
    """The dict of ``cfg[train][lr]`` and ``self.cfg.train.lr``."""
    head, dot, rest = target.partition("[")[0].partition(".")
    return f"{head}.{rest.partition('.')[0]}" if head in _OWN and dot else head


def _last(target: str) -> str:
    return target.removesuffix("]").replace("[", ".").rpartition(".")[2].rstrip("]")


def _holder(call: Call) -> str:
    """The name in which the object begins that a call changes."""
    value: Value | None = receiver_of(call)
    if isinstance(value, Ref) and value.name.rpartition(".")[2] == "OmegaConf" and call.args:
        value = call.args[0]
    while isinstance(value, Op) and value.op in ("[]", "."):
        value = value.operands[0]
    return value.name if isinstance(value, Ref) else ""


def _updated(call: Call, last: str) -> Keys:
    """The keys that ``update(…)`` or ``pop(…)`` names; all where it may be any."""
    if last == "pop":
        return frozenset((str(call.args[0].value),)) if call.args and isinstance(call.args[0], Const) else EVERY
    keys: set[str] = set()
    for key, value in (*call.keywords, *(("**", argument) for argument in call.args)):
        if key != "**":
            keys.add(key)
        elif isinstance(value, Table) and all(isinstance(constant, Const) for constant in value.keys):
            keys.update(str(constant.value) for constant in value.keys if isinstance(constant, Const))
        else:
            return EVERY
    return frozenset(keys) if last == "update" else EVERY

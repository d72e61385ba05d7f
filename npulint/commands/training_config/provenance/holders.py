"""Evaluates attributes and items of objects, wherever these were created and assigned.

An object may be a dict display, an instance of a project class, a class or module itself, or a container of a library
(``EasyDict``, ``Namespace``, ``CfgNode``); its attributes may be set through any alias."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from npulint.commands.training_config.followed import Followed
from npulint.commands.training_config.provenance.plain import CUT, Found, joined
from npulint.commands.training_config.provenance.variables import Evaluator, Variables, comes_later, entry_spot, spot
from npulint.facts.code import UNKNOWN
from npulint.facts.model import Span
from npulint.model.code.bindings import Bindings
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at, scope_at, scope_named
from npulint.model.values.walker import walker

_DEPTH = 8
_MOST = 40  # objects that are visited
_STEPS = 300  # expressions visited per query
_END = 1 << 30  # a line after all others
_CONTAINERS = frozenset(
    """dict OrderedDict EasyDict edict AttrDict Munch Dict Box DotDict dotdict AttributeDict Bunch SimpleNamespace
    Namespace HParams CN CfgNode ConfigDict Config ParamDict defaultdict Params""".split()
)
_SAME = frozenset(("deepcopy", "copy", "clone", "vars", "create", "freeze", "asdict", "edict", "to_dict", "dict"))

Key = str | int


class Holder(NamedTuple):
    """One possible identity of an object: a `display`, a `class` (also of an instance) or a `module`, whose block is
    that of `here`, the keywords of the call `here` (`spread`), or a `name` that it is assigned to in the module."""

    kind: str
    here: Followed
    name: str = ""

    @property
    def keywords(self) -> list[tuple[str, Expr]]:
        """The keywords of the call of a `spread`."""
        site = self.here.expr.call if self.kind == "spread" else None
        return [] if site is None else [(key, site.expr(value)) for key, value in site.record.keywords]

    def set_by_name(self, key: Key) -> list[AssignmentSite]:
        """The assignments of a member of the name."""
        module = self.here.expr.module
        targets = (f"{self.name}.{key}", f"{self.name}[{key}]") if self.kind == "name" else ()
        return [
            assignment_at(self.here.context, module, bind)
            for target in targets
            for bind in module.dotted.get(target, ())
        ]


class Holders:
    """Finds objects and evaluates their members."""

    def __init__(self, tracer: Evaluator, variables: Variables) -> None:
        self._tracer = tracer
        self._variables = variables
        self._bindings = Bindings(tracer.context.names)
        self._busy: set[object] = set()
        self._found: dict[Followed, list[Holder]] = {}
        self._steps = 0

    def forget(self) -> None:
        """Start a new query: forget results that were cut off by the step limit."""
        self._found.clear()
        self._busy.clear()
        self._steps = 0

    def member(self, here: Followed, key: Key) -> Found | None:
        """The value of an attribute or item of an object; None if there is no assignment to it."""
        mark = (here, key)
        if mark in self._busy:
            return None
        self._busy.add(mark)
        try:
            member = self._member(here, key)
            return member if self._steps <= _STEPS else CUT
        finally:
            self._busy.discard(mark)

    def _member(self, here: Followed, key: Key) -> Found | None:
        holders = self.all_of(here)
        parts: list[Found] = []
        binds = {id(bind.record): bind for holder in holders for bind in holder.set_by_name(key)}
        if binds:
            near = [bind for bind in binds.values() if not comes_later(bind, here.expr)]
            assigned, sure = self._variables.assigned(_nearest_first(near, here.expr), here)
            if sure:
                return joined(assigned)
            parts += assigned
        for holder in holders:
            parts += self._of(holder, key)
        return joined(parts) if parts else None

    def _of(self, holder: Holder, key: Key) -> Iterator[Found]:
        """The values that one possible identity has for a key; none for a name."""
        here = holder.here
        entry = here.expr.element(key) if holder.kind == "display" else None
        if entry is not None:
            yield self._written(here.to(entry), entry_spot(here.expr, entry) or Span.at(here.expr.line), str(key))
        elif holder.kind in ("class", "module"):
            yield from self._variables.assigned(self.binds(holder, str(key)), here)[0]
        for name, value in holder.keywords:
            if name == key:
                yield self._written(here.to(value), spot(value, here.expr.call), name)
            elif name == "**":
                member = self.member(here.to(value), key)
                if member is not None:
                    yield member

    def _written(self, here: Followed, span: Span, name: str) -> Found:
        return self._tracer.found(here).written(here.expr.module.path, span, name)

    def binds(self, holder: Holder, key: str) -> list[AssignmentSite]:
        """The assignments of a member of a class or module, last one first."""
        scope = holder.here.expr.scope
        bindings = [(scope.module, bind) for bind in scope.module.names.get(0, {}).get(key, ())]
        bindings = bindings if holder.kind == "module" else self._bindings.attribute(scope.module, scope.block, key)
        return [assignment_at(scope.context, home, bind) for home, bind in bindings[::-1]]

    # -- what an object may be

    def all_of(self, here: Followed) -> list[Holder]:
        """The possible identities of an object."""
        holders = self._found.get(here)
        if holders is None:
            self._found[here] = []  # ends a cycle
            holders = self._found[here] = self._gathered(here)
        return holders

    def _gathered(self, here: Followed) -> list[Holder]:
        gathered: list[Holder] = []
        seen: set[Expr] = set()
        queue = [(here, 0)]
        while queue and len(seen) < _MOST and self._steps <= _STEPS:
            self._steps += 1
            here, depth = queue.pop(0)
            if here.expr not in seen and depth < _DEPTH:
                seen.add(here.expr)
                for more in self._step(here):
                    if isinstance(more, Holder):
                        gathered.append(more)
                    else:
                        queue.append((more, depth + 1))
        return gathered

    def _step(self, here: Followed) -> Iterator[Holder | Followed]:
        """The identities of an expression, and further expressions to resolve."""
        expr = here.expr
        attribute = expr.attribute or expr.subscript
        if expr.is_display or expr.is_dict:
            yield Holder("display", here)
            yield from [here.to(value) for key, value in expr.entries if key is None]
        elif expr.written:
            yield from self._named(here)
        elif expr.call is not None:
            yield from self._made(here, expr.call)
        elif attribute is not None:
            key = attribute[1] if isinstance(attribute[1], str) else attribute[1].literal
            if isinstance(key, str | int):
                yield from _inside(here.to(attribute[0]), key, self)
        else:
            yield from map(here.to, expr.alternatives)

    def _named(self, here: Followed) -> Iterator[Holder | Followed]:
        expr, name = here.expr, here.expr.written
        yield Holder("name", here, name)
        yield from self._meant(here)
        binds = expr.assignments
        for bind in binds:
            if bind.scope.module is not expr.module or bind.target != name:
                yield Holder("name", here.to(bind.value), bind.target)
            yield here.to(bind.value)
        if not binds:
            yield from self._passed(here)
            head, _, last = name.rpartition(".")
            if head:
                yield from _inside(here.to(expr.scope.named(head, expr.line)), last, self)

    def _meant(self, here: Followed) -> Iterator[Holder]:
        """A project module, class or instance by its canonical name."""
        context, meaning = here.context, here.expr.name
        if meaning.endswith(":"):
            home = context.names.named(meaning[:-1])
            if home is not None:
                yield Holder("module", here.to(scope_at(context, home, 0).expr(UNKNOWN, _END)))
            return
        target = scope_named(context, meaning)
        if target is not None and target.kind == "class":
            yield Holder("class", here.to(target.expr(UNKNOWN, _END)))

    def _passed(self, here: Followed) -> Iterator[Holder | Followed]:
        """What callers pass for a parameter, or for the keywords that ``**name`` collects."""
        name = here.expr.written
        function = _taker(name, here.expr.scope)
        if function is None:
            return
        for passing, calls in self._variables.callers(function, here):
            value = passing.argument(name) if name in function.parameters else None
            if value is not None:
                yield Followed(value, calls)
            elif f"**{name}" in function.parameters:
                yield Holder("spread", Followed(passing.site.result, calls))

    def _made(self, here: Followed, site: CallSite) -> Iterator[Holder | Followed]:
        """What a call gives: an own object, a container, or what it is called with or on."""
        last, first, target = site.last, site.args[:1], site.target
        receiver = site.receiver if site.written else None
        if target is not None and target.kind != "class":
            yield from map(here.to, target.returns)
            return
        if target is not None:
            yield Holder("class", here.to(target.expr(UNKNOWN, _END)))
            if last not in _CONTAINERS:
                if target.called_block is None:  # a dataclass
                    yield Holder("spread", here)
                return
        if last in _CONTAINERS or (last in _SAME and first):
            yield Holder("spread", here)
            yield from map(here.to, first)
        elif receiver is not None and last in _SAME:
            yield here.to(receiver)
        elif receiver is not None and last == "get" and first and first[0].text:
            yield from _inside(here.to(receiver), first[0].text, self)
        elif site.record.keywords and any(call.name == "collections.namedtuple" for call in site.callee.sites):
            yield Holder("spread", here)


@walker(_DEPTH, list)
def _inside(here: Followed, key: Key, holders: Holders) -> Iterable[Holder | Followed]:
    """The possible objects under a key of an object."""
    objects: list[Holder | Followed] = []
    for holder in holders.all_of(here):
        place = holder.here
        if holder.kind == "name":
            objects += [Holder("name", place, name) for name in (f"{holder.name}.{key}", f"{holder.name}[{key}]")]
            objects += [here.to(bind.value) for bind in holder.set_by_name(key)]
        elif holder.kind == "display":
            entry = place.expr.element(key)
            objects += [place.to(entry)] if entry is not None else []
        elif holder.kind in ("class", "module"):
            for bind in holders.binds(holder, str(key)):
                objects += [Holder("name", here.to(bind.value), bind.target), here.to(bind.value)]
        objects += [place.to(value) for name, value in holder.keywords if name == key]
    return objects


def _taker(name: str, scope: Scope) -> Scope | None:
    """The innermost function around a block that has a parameter of this name or collects arguments in it."""
    function = scope.function
    while function is not None and name not in scope.module.params.get(function.block, ()):
        function = function.parent.function if function.parent is not None else None
    return function


def _nearest_first(binds: list[AssignmentSite], expr: Expr) -> list[AssignmentSite]:
    """Assignments, those in the same function before others, later lines before earlier ones."""
    routine = expr.scope.routine
    return sorted(binds, key=lambda bind: (bind.scope.routine is not routine, bind.scope.path, -bind.line))

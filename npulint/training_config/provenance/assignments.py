"""Which of several assignments determine the value of a name, under one start of a program."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property

from npulint.assemble.bindings import Bound
from npulint.assemble.launches.options import HOLDERS
from npulint.assemble.module import Module
from npulint.facts.code import Assignment
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep
from npulint.training_config.provenance.following import Following
from npulint.training_config.provenance.place import At
from npulint.training_config.provenance.plain import Found


class Assignments:
    def __init__(self, tracer: Following) -> None:
        self._tracer = tracer

    def of(self, binds: list[Bound], at: At) -> tuple[list[Found], bool]:
        """The possible values of a name from its assignments (nearest first), and whether one certainly runs."""
        groups: dict[tuple[str, int], list[Bound]] = defaultdict(list)
        for home, bind in binds:
            groups[home.path, home.function_of(bind.block)].append((home, bind))
        around = at.module.ancestors(at.block)
        found = []
        for (path, function), group in groups.items():
            parts, sure = self._in_order(group, at)
            within = function < 0 or (path == at.module.path and function in around)
            found.append((parts, sure and within))
        if len(found) > 1:  # a None that is assigned first is a placeholder
            found = [one for one in found if not all(part.values == (None,) for part in one[0])] or found
        return [part for parts, _ in found for part in parts], len(found) == 1 and found[0][1]

    def _in_order(self, group: list[Bound], at: At) -> tuple[list[Found], bool]:
        """The assignments in one function, nearest first, up to one that certainly runs."""
        home = group[0][0]
        same = home is at.module and home.function_of(group[0][1].block) == home.function_of(at.block)
        around = frozenset(at.module.ancestors(at.block)) if home is at.module else frozenset()
        parts: list[Found] = []
        sure = False
        for _, bind in group:
            later = same and bind.line >= at.line  # assigned in the previous iteration
            if sure and not later:
                continue
            runs = self._tracer.conditions.hold(at, bind.block, around, home)
            if runs is not False:
                parts.append(self._bound(home, bind, at))
                sure = sure or (runs is True and not later)
        return parts, sure

    def _bound(self, home: Module, bind: Assignment, at: At) -> Found:
        step = ProvenanceStep(home.path, Span.of(bind), bind.target)
        inner = at.moved(home, bind.block, bind.line)
        found = self._tracer.found(bind.value, inner)
        return found.written(step) if found.values else found

    def elsewhere(self, module: Module, name: str) -> bool:
        """Whether the program assigns an attribute of this name to an object other than one that holds options."""
        others = self._attributes.get(name.rpartition(".")[2], set())
        return bool(others - {(module.path, name)})

    @cached_property
    def _attributes(self) -> dict[str, set[tuple[str, str]]]:
        found: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for path in self._tracer.start.modules:
            module = self._tracer.context.project.modules[path]
            for target, binds in module.dotted.items():
                head, _, last = target.rpartition(".")
                if head and not HOLDERS.search(head) and "[" not in last:
                    root = head.partition(".")[0]
                    if any(module.owner_of_self(root, b.block) < 0 for b in binds):
                        found[last].add((path, target))
        return found

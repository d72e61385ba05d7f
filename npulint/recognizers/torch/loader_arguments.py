"""The arguments of a data loader call, including ``**options``."""

from __future__ import annotations

from functools import cached_property

from npulint.facts.values import NOTHING, PossibleValues, merge
from npulint.model.running.code_places import item_assignments
from npulint.model.values.cursors import CallSite, Expr
from npulint.model.values.walker import walker

_PARAMETERS = "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last".split()
_POSITIONS = {name: position for position, name in enumerate(_PARAMETERS)}


class LoaderArguments:
    """The arguments of a call that creates a loader. With `hidden` the loader's class may set those that the call does
    not."""

    def __init__(self, call: CallSite, hidden: bool) -> None:
        self.call, self.hidden = call, hidden

    def value(self, name: str) -> Expr | None:
        """The argument for a parameter in the call itself."""
        return self.call.argument(name, _POSITIONS.get(name, -1))

    def values(self, name: str) -> list[Expr]:
        """The possible arguments for a parameter, also by ``**options``."""
        value = self.value(name)
        return self._spread[0].get(name, []) if value is None else [value]

    def known(self, name: str) -> PossibleValues | None:
        """The possible values of a parameter; None if it is certainly not passed."""
        values = self.values(name)
        if values:
            return merge([value.known for value in values])
        starred = any(value.operator == "star" for value in self.call.args)
        return NOTHING if starred or not self._spread[1] or self.hidden else None

    @cached_property
    def _spread(self) -> tuple[dict[str, list[Expr]], bool]:
        """The keyword arguments in ``**options``, and whether all of them are known."""
        table: dict[str, list[Expr]] = {}
        whole = True
        for key, value in self.call.record.keywords:
            if key == "**":
                found = _entries(self.call.expr(value))
                whole = whole and found is not None
                for name, inner in found or ():
                    table.setdefault(name, []).append(inner)
        return table, whole


@walker(depth=12, otherwise=lambda: None)
def _entries(value: Expr) -> list[tuple[str, Expr]] | None:
    """The keys and values of a mapping that is unpacked into a call; None if some may be unknown."""
    found: list[tuple[str, Expr]] = []
    displays, made = value.displays, value.sites
    for display in displays:
        if not display.is_dict or any(key is None or not key.is_literal for key, _ in display.entries):
            return None
        found += [(str(key.literal), inner) for key, inner in display.entries if key is not None]
    for call in made:
        if call.name != "dict" or call.args or call.has_keyword("**"):
            return None
        found += call.keywords.items()
    added = _added(value) if displays or made else None
    return None if added is None else found + added


def _added(mapping: Expr) -> list[tuple[str, Expr]] | None:
    """What is added to a mapping after its creation: ``kw["a"] = 1``, ``kw.update(…)``; None if some may be unknown."""
    found = [(key, assignment.value) for key, assignment in item_assignments(mapping)]
    if any(key == "*" for key, _ in found):
        return None
    for call in mapping.scope.calls_named("update") if mapping.written else ():
        if call.written == f"{mapping.written}.update":
            found += call.keywords.items()
            for argument in call.args:
                more = _entries(argument)
                if more is None:
                    return None
                found += more
    return found

"""Actors of Ray: the classes whose objects live in processes of their own, with or without a device."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.model.values.context import Context, once
from npulint.model.values.cursors import Scope, module_scopes, scope_named


@once
def without_device(context: Context) -> frozenset[Scope]:
    """The classes of processes without a device, with their bases: of a project that gives other actors devices
    (``@ray.remote(num_gpus=1)``), those that get none."""
    given: dict[bool, set[Scope]] = {True: set(), False: set()}
    for owner, has_device in _actors(context):
        given[has_device].update(_with_bases(owner))
    return frozenset(given[False] - given[True]) if given[True] else frozenset()


def _actors(context: Context) -> Iterator[tuple[Scope, bool]]:
    """The classes of actors, and whether they are given a device."""
    for module in module_scopes(context):
        for owner in module.blocks_of("class"):
            for decorator in owner.decorators:
                call = decorator.call
                if (decorator.written if call is None else call.written) == "ray.remote":
                    count = None if call is None else call.argument("num_gpus")
                    yield owner, count is not None and count.single != 0


def _with_bases(owner: Scope) -> set[Scope]:
    """A class and those of the project that it derives from."""
    scopes, queue = set[Scope](), [owner]
    while queue:
        scope = queue.pop()
        if scope not in scopes:
            scopes.add(scope)
            bases = (scope_named(scope.context, base.name) for base in scope.bases)
            queue += [base for base in bases if base is not None and base.kind == "class"]
    return scopes

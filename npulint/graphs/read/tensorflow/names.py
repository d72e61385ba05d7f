"""Unique names of functions."""

from __future__ import annotations

import msgspec

from npulint.facts.graph import Body


def distinct(functions: list[Body]) -> list[Body]:
    """The functions of a graph; a duplicate name is replaced by a new one, which nothing calls."""
    taken: set[str] = set()
    bodies = []
    for body in functions:
        name, count = body.name, 1
        while not name or name in taken:
            count += 1
            name = f"{body.name}#{count}"
        taken.add(name)
        bodies.append(body if name == body.name else msgspec.structs.replace(body, name=name))
    return bodies

"""Programs that are no code: what is known of them from the programs beside them."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.assemble.index import FactTable
from npulint.assemble.programs import Program

_UNKNOWN = {
    "npu": "no",
    "project_npu": "no",
    "own_npu": "no",
    "evaluates": "no",
    "exports": "no",
    "patched": "no",
    "mode": "",
    "precision": "unknown",
    "multi_device": "unknown",
    "ranks": "unknown",
    "tensorflow": "",
    "torch": "",
    "migration": "none",
    "state": "not_started",
}


def home_of(near: Sequence[Program]) -> Program | None:
    """The program that something most probably comes from: one that trains, best with an entry script."""
    return max(near, key=lambda one: (one.attrs["trains"] == "yes", bool(one.entry)), default=None)


def at_work(near: Sequence[Program]) -> list[Program]:
    """The programs that left a run behind: those that train, with what no entry script reaches; all if none trains."""
    if not any(one.attrs["trains"] == "yes" for one in near):
        return list(near)
    return [one for one in near if one.attrs["trains"] == "yes" or not one.entry]


def attrs_of(home: Program | None) -> dict[str, str]:
    """The attributes of a program, or of one that nothing is known of. What is asked for by itself is judged whatever
    becomes of the script beside it."""
    attrs = dict(_UNKNOWN) if home is None else dict(home.attrs)
    if attrs["migration"] == "left":
        attrs["migration"] = _UNKNOWN["migration"]
    return attrs


def tables_of(near: Sequence[Program]) -> list[FactTable]:
    """The facts of programs, each table once."""
    return list({id(part): part for one in near for part in one.index.tables}.values())

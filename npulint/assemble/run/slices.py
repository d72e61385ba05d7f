"""Slices of one kernel table taken together: the facts that the table would give if it had not been cut.

Counts and times add up, shares are worked out anew; what is told of the longest kernel comes from the slice that has
it. Medians and what is counted per step are near the truth: a slice ends in the middle of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from npulint.facts.model import Fact
from npulint.read.artifacts.families import Families
from npulint.read.artifacts.kernel_words import idle_share
from npulint.read.artifacts.quantities import micro, share

_Attrs = dict[str, object]
_ORDER = {"run_pair": "total_us", "run_repeated": "count", "run_small": "total_us"}
_KINDS = ("run_kernels", "run_op", "run_family", "run_pair", "run_repeated", "run_small")


class _Whole(msgspec.Struct, frozen=True):
    """The table that slices are cut from: µs of computing, steps."""

    compute: float
    steps: int


def merged(facts: Sequence[Fact], groups: Iterable[set[str]]) -> list[Fact]:
    """The facts, where each group of paths (slices of one table) has one set of facts about kernels."""
    for paths in groups:
        parts = [fact for fact in facts if fact.path in paths and fact.kind in _KINDS]
        if len({fact.path for fact in parts}) > 1:
            facts = [fact for fact in facts if fact.path not in paths or fact.kind not in _KINDS] + _united(parts)
    return list(facts)


def _united(parts: Sequence[Fact]) -> list[Fact]:
    tables = [fact for fact in parts if fact.kind == "run_kernels"]
    steps = [int(_number(fact.attrs, "steps")) for fact in tables]
    whole = _Whole(_total(tables, "compute_us"), max(*steps, sum(steps) - len(steps) + 1, 0))
    found = [_table(tables, whole)]
    operators = [fact for fact in parts if fact.kind == "run_op"]
    if operators:
        united = _operators(operators, whole, found[0].path)
        found += [*united, *_families(united, found[0], whole)]
    keyed: tuple[tuple[str, tuple[str, ...], Callable[[list[Fact], _Whole], Fact]], ...] = (
        ("run_pair", ("from", "to", "between", "direct"), _pair),
        ("run_repeated", ("shapes",), _repeated),
        ("run_small", (), _small),
    )
    for kind, keys, unite in keyed:
        groups = _grouped([fact for fact in parts if fact.kind == kind], keys)
        ordered = sorted((unite(group, whole) for group in groups), key=lambda fact: -_number(fact.attrs, _ORDER[kind]))
        found += [fact if kind == "run_small" else _like(fact, {"rank": rank}) for rank, fact in enumerate(ordered, 1)]
    return found


def _table(tables: list[Fact], whole: _Whole) -> Fact:
    attrs = _summed(tables, ("kernels", "named", "communications", "aicpu"))
    attrs |= _summed(tables, ("compute_us", "communication_us", "wait_us", "layout_us", "cube_us"))
    levels = {fact.attrs["level"] for fact in tables}
    attrs["level"] = next(level for level in ("operators", "times", "none") if level in levels)
    attrs["steps"] = whole.steps
    attrs["layout_share"] = share(_total(tables, "layout_us"), whole.compute)
    attrs["cube_share"] = share(_total(tables, "cube_us"), whole.compute)
    attrs["dynamic"] = _weighted(tables, "dynamic", lambda one: _number(one, "named"))
    attrs["dynamic_repeated"] = _weighted(
        tables, "dynamic_repeated", lambda one: _number(one, "named") * _number(one, "dynamic")
    )
    attrs["cube_float"] = _weighted(tables, "cube_float", lambda one: _number(one, "cube_us")) or 0.0
    attrs["cube_hf32"] = (
        _weighted(tables, "cube_hf32", lambda one: _number(one, "cube_us") * _number(one, "cube_float")) or 0.0
    )
    return _like(max(tables, key=lambda fact: _number(fact.attrs, "named")), attrs)


def _operators(operators: list[Fact], whole: _Whole, table: str) -> list[Fact]:
    leading = [fact for fact in operators if fact.attrs["leads"] == "yes"]  # carries the sums of its type
    times = {name: _total(group, "type_us") for name, group in _by_name(leading).items()}
    counts = {name: int(_total(group, "type_count")) for name, group in _by_name(leading).items()}
    ranks = {name: rank for rank, name in enumerate(sorted(times, key=lambda name: (-times[name], name)), 1)}
    cores: dict[object, int] = {}
    for fact in operators:
        cores[fact.attrs["core"]] = max(int(_number(fact.attrs, "cores")), cores.get(fact.attrs["core"], 0))
    united = [_operator(group, whole, cores) for group in _grouped(operators, ("core", "dtype", "single"))]
    united.sort(key=lambda fact: (-_number(fact.attrs, "total_us"), fact.name, fact.path, fact.span))
    told: set[str] = set()
    found = []
    for rank, fact in enumerate(united, 1):
        name = fact.name
        attrs: _Attrs = {
            "rank": rank,
            "type_rank": ranks[name],
            "type_us": micro(times[name]),
            "type_share": share(times[name], whole.compute),
            "type_count": counts[name],
            "leads": "no" if name in told else "yes",
            "table": table,
        }
        told.add(name)
        found.append(_like(fact, attrs))
    return found


def _families(operators: Sequence[Fact], table: Fact, whole: _Whole) -> list[Fact]:
    families = Families()
    for place, fact in enumerate(operators, 1):
        core, rank, count = str(fact.attrs["core"]), int(_number(fact.attrs, "type_rank")), int(_total([fact], "count"))
        longest, node = _number(fact.attrs, "max_us"), str(fact.attrs["node"])
        families.add(fact.name, core, rank, count, _number(fact.attrs, "total_us"), longest, place, node)
    matrix = {"float_share": table.attrs["cube_float"], "hf32_share": table.attrs["cube_hf32"]}
    found = []
    for family in families.facts(table.path, "kernel_table", whole.compute, {"matrix": matrix}):
        shown = operators[family.span.line - 1]
        found.append(msgspec.structs.replace(family, path=shown.path, span=shown.span))
    return found


def _operator(group: list[Fact], whole: _Whole, widest: dict[object, int]) -> Fact:
    longest = max(group, key=lambda fact: _number(fact.attrs, "max_us"))
    attrs = _summed(group, ("count", "total_us", "wait_us"))
    count, total = _total(group, "count"), _total(group, "total_us")
    cores = widest[longest.attrs["core"]]
    attrs |= {
        "mean_us": micro(total / max(count, 1)),
        "share": share(total, whole.compute),
        "dynamic": _weighted(group, "dynamic", lambda one: _number(one, "count")),
        "cores": cores,
        "idle": idle_share(int(_number(longest.attrs, "block")), cores),
    }
    return _like(longest, attrs)


def _pair(group: list[Fact], whole: _Whole) -> Fact:
    attrs = _summed(group, ("count", "total_us"))
    return _like(_largest(group), attrs | {"share": share(_total(group, "total_us"), whole.compute)})


def _repeated(group: list[Fact], whole: _Whole) -> Fact:
    attrs = _summed(group, ("count", "total_us"))
    count, total = _total(group, "count"), _total(group, "total_us")
    wait = sum(_number(fact.attrs, "mean_wait_us") * _number(fact.attrs, "count") for fact in group)
    attrs |= {
        "steps": whole.steps,
        "per_step": round(count / max(whole.steps, 1), 1),
        "mean_us": micro(total / max(count, 1)),
        "mean_wait_us": micro(wait / max(count, 1)),
        "waits": "yes" if wait > total else "no",
        "share": share(total, whole.compute),
        "cost_share": share(total + wait, whole.compute),
    }
    return _like(_largest(group), attrs)


def _small(group: list[Fact], whole: _Whole) -> Fact:
    attrs = _summed(group, ("count", "total_us", "foreach_count"))
    total = _total(group, "total_us")
    foreach = sum(_part(fact, "foreach_share") for fact in group)
    attrs |= {
        "steps": whole.steps,
        "per_step": round(_total(group, "count") / max(whole.steps, 1), 1),
        "median_us": micro(_weighted(group, "median_us", lambda one: _number(one, "count"), 3) or 0.0),
        "share": share(total, whole.compute),
        "foreach_share": share(foreach, whole.compute),
    }
    return _like(_largest(group), attrs)


def _part(fact: Fact, key: str) -> float:
    """The time behind a share of a slice, whose own whole its other share tells."""
    part, shared = _number(fact.attrs, "total_us"), _number(fact.attrs, "share")
    return _number(fact.attrs, key) * part / shared if shared else 0.0


def _grouped(facts: Iterable[Fact], keys: Sequence[str]) -> list[list[Fact]]:
    groups: dict[tuple[object, ...], list[Fact]] = {}
    for fact in facts:
        groups.setdefault((fact.name, *(fact.attrs.get(key) for key in keys)), []).append(fact)
    return list(groups.values())


def _by_name(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    return {group[0].name: group for group in _grouped(facts, ())}


def _largest(group: Iterable[Fact]) -> Fact:
    return max(group, key=lambda fact: _number(fact.attrs, "total_us"))


def _summed(facts: Sequence[Fact], keys: Iterable[str]) -> _Attrs:
    return {key: micro(_total(facts, key)) if key.endswith("_us") else int(_total(facts, key)) for key in keys}


def _total(facts: Iterable[Fact], key: str) -> float:
    return sum(_number(fact.attrs, key) for fact in facts)


def _weighted(facts: Sequence[Fact], key: str, weight: Callable[[_Attrs], float], digits: int = 1) -> float | None:
    """The mean of figures by weight; None where no slice has the figure."""
    known = [fact.attrs for fact in facts if fact.attrs.get(key) is not None]
    whole = sum(weight(attrs) for attrs in known)
    if not known:
        return None
    return round(sum(_number(attrs, key) * weight(attrs) for attrs in known) / whole, digits) if whole else 0.0


def _number(attrs: _Attrs, key: str) -> float:
    value = attrs.get(key)
    return float(value) if isinstance(value, (int, float)) else 0.0


def _like(fact: Fact, attrs: _Attrs) -> Fact:
    return msgspec.structs.replace(fact, attrs={**fact.attrs, **attrs})

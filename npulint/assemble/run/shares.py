"""What one table of a profile says in parts of another: calls of the host as shares of the steps beside them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.facts.model import Fact
from npulint.read.artifacts.quantities import share

_OF_COMPUTING = frozenset("run_op run_op_total run_family run_pair run_small run_repeated run_line".split())


def with_step_shares(facts: Iterable[Fact]) -> list[Fact]:
    """The facts, in their order; `run_host` and `run_wait` facts without a `share` get one, the first `per_step` as
    well, where exactly one table of steps lies in their folder. A table of calls covers all steps of its profile. Facts
    whose `share` is one of computing get `of_step`: what computing takes of the step, in percent."""
    facts = list(facts)
    steps: dict[str, list[Fact]] = {}
    for fact in facts:
        if fact.kind == "run_step":
            steps.setdefault(_folder(fact.path), []).append(fact)
    return [_with_share(fact, steps.get(_folder(fact.path), [])) for fact in facts]


def _with_share(fact: Fact, steps: list[Fact]) -> Fact:
    if fact.kind in _OF_COMPUTING and len(steps) == 1 and "computing_share" in steps[0].attrs:
        return msgspec.structs.replace(fact, attrs={**fact.attrs, "of_step": steps[0].attrs["computing_share"]})
    if fact.kind not in ("run_host", "run_wait") or "share" in fact.attrs or len(steps) != 1:
        return fact
    count = steps[0].attrs["steps"]
    whole = steps[0].attrs["step_us"] * count
    if whole <= 0:
        return fact
    shares = {"share": share(fact.attrs["total_us"], whole)}
    if fact.kind == "run_host":
        shares["per_step"] = round(fact.attrs["calls"] / count, 1)
    return msgspec.structs.replace(fact, attrs={**fact.attrs, **shares})


def _folder(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[0]

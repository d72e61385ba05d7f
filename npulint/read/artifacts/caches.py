"""How often kernels found their data in the L2 cache.

Source: `l2_cache*.csv` of msprof and torch_npu. Rates are parts of one there, ``N/A`` where the chip counts none.
"""

from __future__ import annotations

from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.read.artifacts.rows import Seen, rows

_OPERATORS = 5000
_SHOWN = 3
_OFTEN = 5  # kernels of an operator, below which a mean says little where others have more


class _Rate:
    """A mean of rates; `line` is the row with the lowest."""

    def __init__(self) -> None:
        self.count = self.line = 0
        self.total = 0.0
        self.lowest = 2.0

    def add(self, rate: float, line: int) -> None:
        self.count += 1
        self.total += rate
        if rate < self.lowest:
            self.lowest, self.line = rate, line

    @property
    def percent(self) -> float:
        """The mean in percent."""
        return round(100 * self.total / self.count, 1) if self.count else 0.0


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_cache`, at the lowest rate of the operator that finds its data least often; none without a rate."""
    hit, victim = _Rate(), _Rate()
    operators: dict[str, _Rate] = {}
    for line, row in rows(stream, "l2_cache", ("hit", "victim", "name"), seen):
        rate = row.number.get("victim")
        if rate is not None and 0 <= rate <= 1:
            victim.add(rate, line)
        rate, name = row.number.get("hit"), row.text.get("name", "")[:200]
        if rate is None or not 0 <= rate <= 1:
            continue
        hit.add(rate, line)
        if name and (name in operators or len(operators) < _OPERATORS):
            operators.setdefault(name, _Rate()).add(rate, line)
    if not hit.count and not victim.count:
        return []
    attrs: dict[str, object] = {"rows": seen.rows}
    if hit.count:
        attrs["hit"] = hit.percent
    if victim.count:
        attrs["victim"] = victim.percent
    worst = _worst(operators)
    if worst:
        attrs["worst"] = ", ".join(f"{name} {rate.percent} %" for name, rate in worst)
        attrs["worst_hit"] = worst[0][1].percent
    line = worst[0][1].line if worst else hit.line or victim.line
    return [GenericFact("run_cache", "l2", path, Span.at(line), attrs)]


def _worst(operators: dict[str, _Rate]) -> list[tuple[str, _Rate]]:
    """The operators with the lowest rates; single kernels only where none runs often."""
    often = {name: rate for name, rate in operators.items() if rate.count >= _OFTEN}
    return sorted((often or operators).items(), key=lambda item: (item[1].percent, item[0]))[:_SHOWN]

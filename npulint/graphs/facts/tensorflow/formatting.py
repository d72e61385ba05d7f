"""Formats counts, shares and node names for the texts of facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from npulint.facts.graph import Node
from npulint.graphs.facts.tensorflow.placement import GraphPlacement

Style = Literal["session", "function"]

_LISTED = 5


def op_counts(nodes: Iterable[Node]) -> str:
    """The operator types of nodes with their counts, most frequent first, as Markdown."""
    counts = Counter(node.op for node in nodes)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    listed = [f"`{op}` × {count}" if count > 1 else f"`{op}`" for op, count in ranked[:_LISTED]]
    return ", ".join([*listed, *(["…"] if len(ranked) > _LISTED else [])])


def named(ops: Iterable[str]) -> str:
    """Operator types without counts, most frequent first, as Markdown."""
    ranked = [op for op, _ in Counter(ops).most_common()]
    return ", ".join([*(f"`{op}`" for op in ranked[:_LISTED]), *(["…"] if len(ranked) > _LISTED else [])])


def percent(part: int, total: int) -> int:
    """A share, rounded to whole percent."""
    return round(100 * part / total) if total else 0


def style(placement: GraphPlacement) -> Style:
    """What runs a step: a session (TensorFlow 1) or a function (TensorFlow 2)."""
    return "function" if placement.functional else "session"

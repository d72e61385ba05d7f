"""The comparison for programs: the keys of the JSON report, version 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npulint.findings import ComparedItem, ComparedPair, ComparedRow, ComparedSide, Comparison


def comparison_record(comparison: Comparison, *, rows: bool = True) -> dict[str, Any]:
    """The whole comparison; without its `rows` only the status of each item."""
    pairs = [
        {**pair_record(pair), "items": [item_record(item, rows=rows) for item in pair.items]}
        for pair in comparison.pairs
    ]
    return {**_roots(comparison), "pairs": pairs, **_alone(comparison)}


def pair_record(pair: ComparedPair) -> dict[str, Any]:
    """Both programs of a pair, without their items."""
    return {
        "reference": pair.reference,
        "migrated": pair.migrated,
        "reference_framework": pair.reference_framework,
        "migrated_framework": pair.migrated_framework,
        "reference_launcher": pair.reference_launcher,
        "migrated_launcher": pair.migrated_launcher,
    }


def item_record(item: ComparedItem, *, rows: bool = True) -> dict[str, Any]:
    """One item of the checklist."""
    told: dict[str, Any] = {
        "item": item.item,
        "title": item.title,
        "status": item.status,
        "same": item.same,
        "look": item.look,
        "failures": [
            {"path": one.path, "line": one.span.line, "check": one.check, "code": one.code} for one in item.failures
        ],
    }
    return {**told, "rows": [_row(row) for row in item.rows]} if rows else told


def lines(comparison: Comparison) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same for JSON lines: kinds and records, the roots first (``comparison``), then a line for each item of each
    pair (``compared``)."""
    yield (
        "comparison",
        {**_roots(comparison), "pairs": [pair_record(pair) for pair in comparison.pairs], **_alone(comparison)},
    )
    for pair in comparison.pairs:
        for item in pair.items:
            yield "compared", {"reference": pair.reference, "migrated": pair.migrated, **item_record(item)}


def _roots(comparison: Comparison) -> dict[str, Any]:
    return {"reference": comparison.reference, "migrated": comparison.migrated}


def _alone(comparison: Comparison) -> dict[str, Any]:
    return {"only_reference": list(comparison.only_reference), "only_migrated": list(comparison.only_migrated)}


def _row(row: ComparedRow) -> dict[str, Any]:
    return {
        "part": row.part,
        "what": row.what,
        "answer": row.answer,
        "code": row.code,
        "reference": _side(row.reference),
        "migrated": _side(row.migrated),
    }


def _side(side: ComparedSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "text": side.text,
        "path": side.path,
        "line": side.span.line if side.path else 0,
        "column": side.span.column if side.path else 0,
        "stations": [{"path": one.path, "line": one.span.line, "name": one.message} for one in side.stations],
    }

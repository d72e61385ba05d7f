"""The comparison in the JSON report, version 1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec.structs import asdict

from npulint.judge.findings import ComparedItem, ComparedPair, ComparedRow, ComparedSide, Comparison
from npulint.report.view import fields_of


def comparison_record(comparison: Comparison, *, rows: bool = True) -> dict[str, Any]:
    """The comparison as a JSON object; without `rows` only the status of each item."""
    pairs = [_pair(pair) | {"items": [_item(item, rows=rows) for item in pair.items]} for pair in comparison.pairs]
    return _plain(comparison) | {"pairs": pairs}


def _plain(comparison: Comparison) -> dict[str, Any]:
    """The comparison without its pairs; what it has not is left out."""
    record = {name: value for name, value in asdict(comparison).items() if name not in ("change", "runs")}
    for name, part in (("change", comparison.change), ("runs", comparison.runs)):
        if part is not None:
            record[name] = msgspec.to_builtins(part)
    return record


def _pair(pair: ComparedPair) -> dict[str, Any]:
    """Both programs of a pair, without items."""
    return {name: value for name, value in asdict(pair).items() if name != "items"}


def _item(item: ComparedItem, *, rows: bool = True) -> dict[str, Any]:
    record: dict[str, Any] = {
        **fields_of(item, "item title status same look"),
        "failures": [
            {"path": failure.path, "line": failure.span.line, "check": failure.check, "code": failure.code}
            for failure in item.failures
        ],
    }
    if not rows:
        return record
    parts = [
        {**fields_of(part, "part answer"), "reference": _side(part.reference), "migrated": _side(part.migrated)}
        for part in item.parts
    ]
    return {**record, "rows": [_row(row) for row in item.rows], "parts": parts}


def lines(comparison: Comparison) -> Iterator[tuple[str, dict[str, Any]]]:
    """Records for JSON lines with their kinds: the roots (``comparison``), then each item of each pair
    (``compared``)."""
    yield "comparison", _plain(comparison) | {"pairs": [_pair(pair) for pair in comparison.pairs]}
    for pair in comparison.pairs:
        for item in pair.items:
            yield "compared", {"reference": pair.reference, "migrated": pair.migrated, **_item(item)}


def _row(row: ComparedRow) -> dict[str, Any]:
    return {
        **fields_of(row, "part what answer code effect"),
        "reference": _side(row.reference),
        "migrated": _side(row.migrated),
        "also": [{"reference": _side(left), "migrated": _side(right)} for left, right in row.also],
    }


def _side(side: ComparedSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "text": side.text,
        "path": side.path,
        "line": side.span.line if side.path else 0,
        "column": side.span.column if side.path else 0,
        "stations": [
            {"path": station.path, "line": station.span.line, "name": station.message} for station in side.stations
        ],
    }

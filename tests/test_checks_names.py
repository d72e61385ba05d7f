"""Every framework name that a check asks about is spelt canonically and really exists."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest

from npulint.catalogue.check import Check, Query
from npulint.catalogue.load import load_catalogue
from npulint.data.names import canonical, star_exports

_SOURCES = Path(__file__).resolve().parent.parent / "data-src"
# Public since TensorFlow 2.x; the recorded tables are those of 1.15.
_LATER = {
    "tensorflow.keras.mixed_precision.set_global_policy",
    "tensorflow.config.set_logical_device_configuration",
    "tensorflow.config.list_logical_devices",
    "tensorflow.config.list_physical_devices",
    "tensorflow.python.client.device_lib.list_local_devices",  # private in every release, and used everywhere
}
_CHECKS = load_catalogue(use_cache=False).checks
_KINDS = ("call", "mention", "optimizer", "session", "lookup_table", "variable", "control_flow", "distribution")


def _queries(query: Query | None) -> Iterator[Query]:
    if query is None:
        return
    yield query
    for part in (*query.all, *query.any, query.negated):
        yield from _queries(part)


def _names(check: Check) -> set[str]:
    """The literal framework names in the questions of a check."""
    found: set[str] = set()
    for root in (check.find, check.needs, check.unless, check.related):
        for query in _queries(root):
            if query.kind in _KINDS:
                found.update(n for n in query.names if "*" not in n and "(" not in n and n.startswith("tensorflow."))
    return found


def _known() -> set[str]:
    """Canonical names of the recorded TensorFlow 1.15 and 2.x interfaces."""
    found = {canonical(f"tensorflow.{name}") for name in star_exports("tensorflow")}
    for table in ("tf115_api.csv", "tf_spellings.csv", "tf_private.csv", "tf_v2_separate.csv"):
        with open(_SOURCES / table, encoding="utf-8", newline="") as rows:
            for row in csv.reader(rows):
                for cell in row:
                    name = cell.replace("tf.", "tensorflow.", 1) if cell.startswith("tf.") else cell
                    found.add(canonical(name))
    return found


_KNOWN = _known()


@pytest.mark.parametrize("check", _CHECKS, ids=[c.name for c in _CHECKS])
def test_names_are_spelt_canonically(check: Check) -> None:
    assert [name for name in sorted(_names(check)) if canonical(name) != name] == []


@pytest.mark.parametrize("check", _CHECKS, ids=[c.name for c in _CHECKS])
def test_names_exist(check: Check) -> None:
    unknown = [n for n in sorted(_names(check)) if n not in _KNOWN | _LATER and not n.startswith("tensorflow.contrib.")]
    assert unknown == []

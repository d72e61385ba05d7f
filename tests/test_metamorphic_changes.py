"""Changes that mean nothing: a program prints the same after each of them, and they reach what they are for."""

from __future__ import annotations

import difflib
import zlib
from pathlib import Path

import pytest

from scripts.metamorphic_changes.source import Program, Variant
from scripts.metamorphic_changes.table import CHANGES
from tests.metamorphic_programs import PROGRAMS
from tests.metamorphic_runs import outputs

DAILY = 8  # variants of each change and program
PAIRS = [(change, name) for change in CHANGES for name in PROGRAMS]


def variants(change: str, name: str) -> list[Variant]:
    """The variants of a program, in an order that has nothing to do with their lines."""
    made = CHANGES[change](Program(PROGRAMS[name]))
    return sorted(made, key=lambda variant: (zlib.crc32(variant.location.encode()), len(variant.edits)))


def shown(name: str, variant: Variant) -> str:
    """The changed lines of a variant."""
    lines = []
    for path, data in variant.changed_files(PROGRAMS[name]).items():
        before = PROGRAMS[name].get(path, b"").decode().splitlines()
        lines += difflib.unified_diff(before, data.decode().splitlines(), path, path, lineterm="")
    return "\n".join(lines)


def print_the_same(folder: Path, name: str, chosen: list[Variant]) -> None:
    files = PROGRAMS[name]
    expected, *printed = outputs(folder, files, [variant.changed_files(files) for variant in chosen])
    assert expected and "Error: " not in expected
    for variant, output in zip(chosen, printed, strict=True):
        assert output == expected, f"{variant.location}\n{shown(name, variant)}"


@pytest.mark.parametrize(("change", "name"), PAIRS)
def test_a_program_prints_the_same(change: str, name: str, tmp_path: Path) -> None:
    print_the_same(tmp_path, name, variants(change, name)[:DAILY])


@pytest.mark.nightly
@pytest.mark.parametrize(("change", "name"), PAIRS)
def test_a_program_prints_the_same_after_every_variant(change: str, name: str, tmp_path: Path) -> None:
    print_the_same(tmp_path, name, variants(change, name))

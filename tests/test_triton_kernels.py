"""Facts about Triton kernels: the tiles that are alive together, and the programs of a grid."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.check.pipeline import facts_of
from npulint.facts.model import Fact

_HEAD = """
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    place = tl.arange(0, BLOCK)
"""
_LAUNCH = "\n\nkernel[({grid},)](a, b, 1 << 20, BLOCK=1024)\n"


def _facts(folder: Path, body: str, grid: str = "1") -> dict[str, Fact]:
    path = folder / "kernels.py"
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    path.write_text(_HEAD + lines + _LAUNCH.format(grid=grid))
    return {fact.kind: fact for fact in facts_of(str(path))}


@pytest.mark.parametrize(
    ("body", "kib"),
    [
        pytest.param("tl.store(y + place, tl.exp(tl.load(x + place).to(tl.float32)))", 4, id="in place"),
        pytest.param("a = tl.load(x + place).to(tl.float32)\ntl.store(y + place, a * tl.exp(a))", 8, id="used again"),
        pytest.param(
            "a = tl.load(x + place)\nb = tl.load(y + place)\ntl.store(y + place, a + b)", 2, id="loaded when needed"
        ),
        pytest.param(
            "a = tl.zeros((BLOCK,), tl.float32)\nfor i in range(8):\n    a += tl.load(x + place).to(tl.float32)\n"
            "    tl.store(y + place, tl.exp(a))",
            8,
            id="carried by a loop",
        ),
        pytest.param(
            "if n < 5:\n    a = tl.zeros((BLOCK,), tl.float32)\n    tl.store(y + place, a * tl.exp(a))",
            0,
            id="dead branch",
        ),
        pytest.param("tl.store(y + place, place * 2 + 1)", 0, id="indices"),
    ],
)
def test_memory_of_tiles_that_are_alive_together(tmp_path: Path, body: str, kib: int) -> None:
    assert _facts(tmp_path, body)["triton_tiles"].get("kib") == kib


@pytest.mark.parametrize(
    ("grid", "programs"),
    [
        ("1 << 20", 1 << 20),
        ("triton.cdiv(1000, 32)", 32),
        ("min(7, 9), triton.next_power_of_2(5)", 56),
        ("heads, 70000", 70000),
        ("heads", 0),
    ],
)
def test_programs_of_a_grid(tmp_path: Path, grid: str, programs: int) -> None:
    assert _facts(tmp_path, "pass", grid)["triton_launch"].get("programs") == programs

"""A comparison ends with an answer whatever it is given."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from npulint.commands import build
from npulint.commands.compare import compare_command, compare_inputs
from npulint.commands.compare.compare_command import compare
from npulint.facts.model import FileFacts
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings

_TRAIN = """\
import torch

optimizer = torch.optim.SGD(model.parameters(), lr={lr})
for epoch in range(3):
    loss.backward()
    optimizer.step()
"""


def _laid(folder: Path, **files: str | bytes) -> str:
    (folder / ".git").mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(folder)


def _compared(reference: str, migrated: str, lang: str = "en") -> RunResult:
    return compare(Settings(paths=(migrated,), cache=False, lang=lang), reference)


def _pair(tmp_path: Path) -> tuple[str, str]:
    sides = [_laid(tmp_path / side, train__py=_TRAIN.format(lr=lr)) for side, lr in (("gpu", 0.1), ("npu", 0.2))]
    return sides[0], sides[1]


@pytest.mark.parametrize("error", [RecursionError, MemoryError])
def test_code_that_leads_the_comparison_in_circles_is_named_and_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fails(*given: object) -> None:
        raise error

    monkeypatch.setattr(compare_command, "compared", fails)
    result = _compared(*_pair(tmp_path))
    assert result.comparison is not None
    (pair,) = result.comparison.pairs
    assert {item.status for item in pair.items} == {"unknown"} and len(pair.items) == 9
    assert all(item.look == result.notices[0] and item.title for item in pair.items)
    assert "nested too deeply" in result.notices[0] and "train.py" in result.notices[0]
    assert not result.findings
    monkeypatch.setattr(compare_command, "compared", fails)
    assert "嵌套过深" in _compared(*_pair(tmp_path / "zh"), lang="zh").notices[0]


def test_a_project_that_cannot_be_assembled_is_one_without_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assembled = build.assembled

    def fails(root: str, files: list[FileFacts], *declared: str) -> build.Assembled:
        if any(file.code for file in files):
            raise RecursionError
        return assembled(root, files, *declared)

    monkeypatch.setattr(compare_inputs, "assembled", fails)
    result = _compared(*_pair(tmp_path))
    assert result.comparison is not None and not result.comparison.pairs
    assert {problem.reason for problem in result.unreadable} == {"too-deep"}


def _deep_code(levels: int) -> str:
    return _TRAIN.format(lr="+".join(["0.1"] * levels))


ODD: dict[str, Callable[[Path], str]] = {
    "empty": lambda folder: _laid(folder),
    "without code": lambda folder: _laid(folder, readme__txt="nothing"),
    "a sum of thousands": lambda folder: _laid(folder, train__py=_deep_code(4000)),
    "a chain of names": lambda folder: _laid(
        folder,
        train__py="import torch\nx0 = 1\n"
        + "".join(f"x{n + 1} = x{n} + x{n}\n" for n in range(1000))
        + _TRAIN.format(lr="x1000"),
    ),
    "a chain of calls": lambda folder: _laid(
        folder,
        train__py="import torch\n"
        + "".join(f"def f{n}(x):\n    return f{n + 1}(x) * 2 + f{n + 1}(x)\n" for n in range(300))
        + _TRAIN.format(lr="f0(1)"),
    ),
    "names in circles": lambda folder: _laid(
        folder,
        train__py="import torch\na = b\nb = c\nc = a\nclass A(B): pass\nclass B(A): pass\n"
        "def f(x=None):\n    return g(f(x))\ndef g(x):\n    return f(g(x))\nm = A()\nm.m = m\n"
        + _TRAIN.format(lr="m.m.m.lr or f(g(a))"),
    ),
    "broken configurations": lambda folder: _laid(
        folder,
        train__py="import torch, yaml\n" + _TRAIN.format(lr='yaml.safe_load(open("c.yaml"))["lr"]'),
        c__yaml="a: [1, 2\n b: {" * 30,
        d__json="[" * 20_000,
        e__yaml="a: &a [*a]\nb: &b {c: *b}\n",
        f__yaml=b"\xff\xfe\x00lr: 1",
    ),
    "not text": lambda folder: _laid(folder, train__py=b"import torch\n\0\xff" + _TRAIN.format(lr=1).encode()),
    "Python 2": lambda folder: _laid(folder, train__py="print 'a'\nexec 'b'\n" + _TRAIN.format(lr=1)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ODD)
def test_odd_projects_are_compared_with_themselves_and_with_others(tmp_path: Path, name: str) -> None:
    one, same = ODD[name](tmp_path / "one"), ODD[name](tmp_path / "same")
    other = _laid(tmp_path / "other", train__py=_TRAIN.format(lr=0.5))
    for reference, migrated in ((one, same), (one, one), (one, other), (other, one)):
        result = _compared(reference, migrated)
        assert result.comparison is not None
        if reference is one and migrated is not other:
            told = [one for one in result.findings if one.code.startswith("NPU6")]
            assert not [one for one in told if not one.code.startswith(("NPU625", "NPU626"))]


def test_links_that_lead_round_in_circles_end(tmp_path: Path) -> None:
    one, other = _pair(tmp_path)
    os.symlink(".", f"{one}/again")
    os.symlink(other, f"{other}/self")
    os.symlink("train.py", f"{other}/second.py")
    assert _compared(one, other).comparison is not None

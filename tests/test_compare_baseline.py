"""The baseline of a project that is checked with and without its reference."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_TRAIN = """\
import torch
import torch_npu

learning_rate = {lr}
optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
for epoch in range(3):
    loss.backward()
    print(loss.item())
    optimizer.step()
"""


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for side, rate in (("gpu", 0.1), ("npu", 0.2)):
        (tmp_path / side / ".git").mkdir(parents=True)
        (tmp_path / side / "train.py").write_text(_TRAIN.format(lr=rate))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))


def _npulint(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "npulint", *words], capture_output=True, text=True, check=False)


def _check(*words: str) -> subprocess.CompletedProcess[str]:
    return _npulint("check", "npu", "--baseline", "known.json", *words)


def _codes() -> list[str]:
    return [entry["code"] for entry in json.loads(Path("known.json").read_text())["findings"]]


def _reported(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [one["code"] for one in json.loads(done.stdout)["findings"]]


@pytest.mark.slow
def test_a_run_without_reference_leaves_entries_of_comparisons_alone() -> None:
    with_it = _check("--reference", "gpu", "--write-baseline")
    assert with_it.returncode == 0, with_it.stderr
    codes = _codes()
    assert "NPU6201" in codes and not all(code.startswith("NPU6") for code in codes)
    assert not _check().stderr
    for word in ("--prune-baseline", "--write-baseline"):
        assert _check(word).returncode == 0
        assert _codes() == codes


@pytest.mark.slow
def test_a_run_with_reference_tells_what_is_new_known_and_fixed() -> None:
    assert _check("--write-baseline").returncode == 0
    plain = _codes()
    first = _check("--reference", "gpu", "--format", "json", "--fail-on", "warning")
    assert first.returncode == 1 and "NPU6201" in _reported(first)
    assert all(code.startswith("NPU6") for code in _reported(first))
    assert _check("--reference", "gpu", "--write-baseline").returncode == 0
    again = _check("--reference", "gpu", "--format", "json", "--fail-on", "note")
    assert again.returncode == 0 and not _reported(again)
    assert json.loads(again.stdout)["summary"]["known"] == len(_codes())
    Path("npu/train.py").write_text(_TRAIN.format(lr=0.1))
    assert "--prune-baseline" in _check("--reference", "gpu").stderr
    assert _check("--reference", "gpu", "--prune-baseline").returncode == 0
    assert set(plain) <= set(_codes()) and "NPU6201" not in _codes()


@pytest.mark.slow
def test_a_comparison_alone_leaves_the_other_entries_alone() -> None:
    assert _check("--reference", "gpu", "--write-baseline").returncode == 0
    codes = _codes()
    for words in (["--prune-baseline"], ["--prune-baseline", "--select", "all"]):
        done = _npulint("compare", "gpu", "npu", "--baseline", "known.json", *words)
        assert done.returncode == 0, done.stderr
        assert _codes() == codes


@pytest.mark.slow
def test_a_comment_about_a_comparison_is_of_use_in_a_run_without_reference() -> None:
    text = _TRAIN.format(lr=0.2).replace("= 0.2\n", "= 0.2  # npulint: ignore[learning-rate-differs] on purpose\n")
    Path("npu/train.py").write_text(text)
    for words in ([], ["--reference", "gpu"]):
        done = _npulint("check", "npu", *words, "--format", "json", "--fail-on", "never")
        assert not {"NPU0401", "NPU6201"} & set(_reported(done))
    assert "NPU0401" not in _reported(_npulint("compare", "gpu", "npu", "--format", "json", "--fail-on", "never"))
    Path("gpu/train.py").write_text(_TRAIN.format(lr=0.2))
    assert "NPU0401" in _reported(_npulint("compare", "gpu", "npu", "--format", "json", "--fail-on", "never"))

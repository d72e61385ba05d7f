"""Which programs of two projects are compared with each other, and what the report says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.compare.compare_command import compare
from npulint.core.errors import NpulintError
from npulint.judge.settings import Settings

NPU = "import torch_npu\n"
SCRIPT = """import torch
{npu}from model import Net
def main():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr={rate})
    for images, labels in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(images), labels)
        loss.backward()
        optimizer.step()
if __name__ == "__main__":
    main()
"""
OTHER = """import torch
from torch import nn
critic, maker = nn.Linear(5, 1), nn.Conv2d(3, 6, 3)
first, second = torch.optim.Adam(critic.parameters(), 2e-4), torch.optim.RMSprop(maker.parameters(), 3e-4)
for noise in stream:
    gain = critic(maker(noise).flatten(1)).mean() - critic(noise.flatten(1)).mean()
    gain.backward()
    torch.nn.utils.clip_grad_value_(critic.parameters(), 0.01)
    first.step()
    second.step()
"""
MODEL = "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
MODEL += "        self.fc = torch.nn.Linear(4, 2)\n    def forward(self, x):\n        return self.fc(x)\n"


def gpu(rate: str = "0.1") -> str:
    return SCRIPT.format(npu="", rate=rate)


def npu(rate: str = "0.1") -> str:
    return SCRIPT.format(npu=NPU, rate=rate)


@pytest.fixture
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """A function: the pairs of entry scripts of two projects, given as texts by path, with the reasons."""
    monkeypatch.chdir(tmp_path)

    def made(
        reference: dict[str, str], migrated: dict[str, str], *entries: tuple[str, str]
    ) -> list[tuple[str, str, str]]:
        for side, files in (("old", reference), ("new", migrated)):
            for name, content in files.items():
                path = tmp_path / side / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
        result = compare(Settings(paths=("new",), cache=False, entries=entries), "old")
        assert result.comparison is not None
        return [
            (pair.reference.removeprefix("old/"), pair.migrated.removeprefix("new/"), pair.why)
            for pair in result.comparison.pairs
        ]

    return made


def test_of_a_project_with_both_entries_that_for_the_npu_is_compared(pairs) -> None:  # type: ignore[no-untyped-def]
    reference = {"train.py": gpu(), "model.py": MODEL}
    both = {"train.py": gpu(), "train_npu.py": npu("0.2"), "model.py": MODEL}
    assert pairs(reference, both) == [("train.py", "train_npu.py", "code")]


def test_train_gpu_belongs_to_train_npu(pairs) -> None:  # type: ignore[no-untyped-def]
    reference = {"train_gpu.py": gpu(), "sample.py": OTHER, "model.py": MODEL}
    assert pairs(reference, {"train_npu.py": npu(), "model.py": MODEL}) == [("train_gpu.py", "train_npu.py", "code")]


def test_scripts_of_one_name_in_a_monorepo_are_paired_by_code(pairs) -> None:  # type: ignore[no-untyped-def]
    reference = {"gan/main.py": OTHER, "net/main.py": gpu(), "net/model.py": MODEL}
    migrated = {"a/main.py": npu(), "a/model.py": MODEL, "b/main.py": f"{NPU}{OTHER}"}
    found = {one[:2] for one in pairs(reference, migrated)}
    assert found == {("net/main.py", "a/main.py"), ("gan/main.py", "b/main.py")}


def test_a_script_that_resembles_none_is_compared_with_none(pairs) -> None:  # type: ignore[no-untyped-def]
    reference = {"train.py": gpu(), "model.py": MODEL, "gan.py": OTHER}
    migrated = {"train.py": npu(), "model.py": MODEL, "start.py": npu("0.3")}
    assert [one[:2] for one in pairs(reference, migrated)] == [("train.py", "train.py")]


def test_named_scripts_are_compared_and_no_others(pairs) -> None:  # type: ignore[no-untyped-def]
    reference = {"train.py": gpu(), "model.py": MODEL, "gan.py": OTHER}
    migrated = {"train.py": npu(), "start.py": npu("0.3"), "model.py": MODEL}
    assert pairs(reference, migrated, ("train.py", "start.py")) == [("train.py", "start.py", "named")]
    assert pairs(reference, migrated, ("gan.py", "new/train.py")) == [("gan.py", "train.py", "named")]


@pytest.mark.parametrize("entry", [("nothing.py", "train.py"), ("train.py", "model.py"), ("rain.py", "train.py")])
def test_a_script_that_is_no_entry_is_an_error(pairs, entry: tuple[str, str]) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(NpulintError, match="--entry"):
        pairs({"train.py": gpu(), "model.py": MODEL}, {"train.py": npu(), "model.py": MODEL}, entry)

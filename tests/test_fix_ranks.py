"""DataParallel becomes one process for each NPU, completely or not at all; files for the NPU are new ones."""

from __future__ import annotations

from textwrap import dedent
from types import SimpleNamespace

import pytest

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.plan import planned
from npulint.fix.sibling import npu_path
from npulint.judge.findings import FixEdit, FixStep

_TRAINING = """import torch

loader = torch.utils.data.DataLoader(rows, 8, shuffle=True)
if torch.npu.device_count() > 1:
    net = torch.nn.DataParallel(net)
for epoch in range(9):
    train(epoch)
    torch.save(net.state_dict(), "net.pt")
"""


def _plan(text: str, files: dict[str, str] | None = None) -> Plan:
    known = {"train.py": text, **(files or {})}
    line = next(number for number, one in enumerate(text.split("\n"), 1) if "DataParallel(" in one)
    content = text.split("\n")[line - 1]
    start = content.index("torch.nn")
    span = Span(line, start + 1, line, content.index(")", start) + 2)
    step = FixStep("ranks", "train.py", span, {"backend": "hccl"})

    def text_of(path: str) -> Text:
        return Text(path, "python" if path.endswith("y") else "shell", known.get(path, ""), path not in known)

    return planned(FixEdit("unsafe", (step,)), text_of)


def test_all_parts_are_changed_together() -> None:
    plan = _plan(_TRAINING)
    written = "\n".join(edit.text for edit in plan.edits)
    for part in ("init_process_group", "device_ids=[local_rank]", "DistributedSampler(rows)", "set_epoch(epoch)"):
        assert part in written
    assert {edit.path for edit in plan.edits} == {"train.py", "train_npu.sh"}


def test_the_batch_is_divided_and_only_one_rank_prints_and_downloads() -> None:
    code = _TRAINING.replace("loader =", "rows = Rows(download=True)\nprint(len(rows))\nloader =")
    plan = _plan(code.replace("(rows, 8,", "(rows, batch_size=args.batch + 1,"))
    written = "\n".join(edit.text for edit in plan.edits)
    assert "(args.batch + 1) // torch.distributed.get_world_size()" in written
    assert "if torch.distributed.get_rank() != 0:\n    sys.stdout = open(os.devnull" in written
    assert written.count("torch.distributed.barrier()") == 2
    assert {one.statement for one in plan.imports} == {"import os", "import sys"}


def test_without_torchrun_the_script_trains_on_one_npu() -> None:
    group = next(edit.text for edit in _plan(_TRAINING).edits if "init_process_group" in edit.text)
    environment: dict[str, str] = {}
    torch = SimpleNamespace(
        npu=SimpleNamespace(set_device=lambda number: None),
        distributed=SimpleNamespace(init_process_group=lambda backend: None),
    )
    exec(dedent(group), {"os": SimpleNamespace(environ=environment), "torch": torch})  # the text is npulint's own
    assert environment["WORLD_SIZE"] == "1" and environment["LOCAL_RANK"] == "0"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(rows, 8,", "(rows, size,"),
        ("import torch\n", "import torch\n\n\ndef rows():\n    return Rows(download=True)\n\n\n"),
        ("shuffle=True", "shuffle=mode"),
        ("shuffle=True", "sampler=mine, shuffle=True"),
        ("loader =", "loader, other ="),
        ("(rows, 8", "(make(), 8"),
        ("for epoch in range(9)", "while True"),
        ("device_count() > 1", "x > 1"),
        ("import torch\n", 'import torch\nx = x.to("npu:0")\n'),
        ("import torch\n", "import torch\nwriter = SummaryWriter()\n"),
        ("import torch\n", "import torch\nlocal_rank = 3\n"),
        ("    torch.save(", "    done = torch.save("),
    ],
    ids=[
        "a batch size that something else uses",
        "a download in a function",
        "a loader that shuffles sometimes",
        "a sampler of its own",
        "two loaders at once",
        "a data set without a name",
        "no epochs",
        "a condition on something else",
        "a device by number",
        "logs of all ranks",
        "a rank of its own",
        "a save with a result",
    ],
)
def test_where_one_part_is_not_certain_nothing_changes(old: str, new: str) -> None:
    assert old in _TRAINING
    with pytest.raises(FixRefused):
        _plan("size = 8\nstate = torch.zeros(size)\n" + _TRAINING.replace(old, new))


def test_an_existing_launcher_is_never_overwritten() -> None:
    with pytest.raises(FixRefused) as refused:
        _plan(_TRAINING, {"train_npu.sh": "python train.py\n"})
    assert refused.value.reason == "exists"


@pytest.mark.parametrize(
    ("path", "kind", "beside"),
    [
        ("train.sh", "shell", "train_npu.sh"),
        ("run/train_8gpu.sh", "shell", "run/train_8npu.sh"),
        ("gpu-train.bash", "shell", "npu-train.bash"),
        ("degpus.sh", "shell", "degpus_npu.sh"),
        ("Dockerfile", "dockerfile", "Dockerfile.npu"),
        ("docker/Dockerfile.cuda", "dockerfile", "docker/Dockerfile.npu"),
    ],
)
def test_names_beside_files_for_gpus(path: str, kind: str, beside: str) -> None:
    assert npu_path(path, kind) == beside


def test_other_files_have_no_sibling() -> None:
    with pytest.raises(FixRefused):
        npu_path("train.py", "python")

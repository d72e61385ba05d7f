"""The port of small GPU projects: what is planned, in which steps, what is left, and what is written."""

from __future__ import annotations

import ast
import itertools
import os
from pathlib import Path

import pytest

from npulint.commands.port.model import PortPlan
from npulint.commands.port.plan import plan_port
from npulint.core.errors import NpulintError
from npulint.data.port_styles import STEPS, topics
from npulint.fix.diff import unified
from npulint.fix.write import write_all
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.settings import Settings
from tests.port_samples import DDP, KERAS, OF_TENSORFLOW, PLAIN, PROJECTS, SESSION, TRAINER_CLASS

CONVERT = """\
import torch

if __name__ == "__main__":
    torch.save(torch.load("a.pth", map_location="cpu"), "b.pth")
"""
CASES = [
    (name, style)
    for name in PROJECTS
    for style in (("npu",) if name in OF_TENSORFLOW else ("transfer", "npu", "agnostic"))
]


def lay_out(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())


def planned(style: str = "npu", entries: tuple[str, ...] = (), **target: str) -> PortPlan:
    return plan_port(Settings(paths=(".",), cache=False, target=target), style, entries)


def texts(plan: PortPlan) -> dict[str, str]:
    return {one.path: one.after.decode() for one in plan.files}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# Ten styles of projects


@pytest.mark.parametrize(("name", "style"), CASES)
def test_every_program_is_ported_as_a_whole_and_once(folder: Path, name: str, style: str) -> None:
    lay_out(folder, PROJECTS[name])
    plan = planned(style)
    assert [one.status for one in plan.programs] == ["trains"]
    assert not [one for one in plan.left if one.finding.severity == "error"]
    for one in plan.files:
        if one.path.endswith(".py"):
            ast.parse(one.after)
    assert write_all(plan.fixes) == {}
    again = planned(style)
    assert (again.files, [one.status for one in again.programs]) == ([], ["trains"])


@pytest.mark.parametrize("name", [name for name in PROJECTS if name not in OF_TENSORFLOW])
def test_with_names_of_the_npu_no_name_of_cuda_is_left_in_code(folder: Path, name: str) -> None:
    lay_out(folder, PROJECTS[name])
    code = {
        path: text
        for path, text in {**PROJECTS[name], **texts(planned())}.items()
        if path.endswith(".py") and "configs/" not in path
    }
    assert not [path for path, text in code.items() if "cuda" in text.lower() or "nccl" in text]


def test_transfer_changes_entry_scripts_only(folder: Path) -> None:
    lay_out(folder, TRAINER_CLASS)
    changed = texts(planned("transfer"))
    assert "model.cuda()" in changed.get("engine/trainer.py", TRAINER_CLASS["engine/trainer.py"])
    head = ["import torch", "import torch_npu", "from torch_npu.contrib import transfer_to_npu"]
    assert changed["train.py"].split("\n")[:3] == head


def test_tensorflow_is_ported_with_its_adapter_whatever_the_style(folder: Path) -> None:
    lay_out(folder, SESSION)
    plan = planned("agnostic")
    assert (plan.style.name, plan.style.why) == ("adapter", "tensorflow")
    assert "npu_config_proto(config_proto=config)" in texts(plan)["train.py"]


def test_tensorflow_2_opens_the_device(folder: Path) -> None:
    lay_out(folder, KERAS)
    assert "npu_device.open().as_default()" in texts(planned())["train.py"]


# The style that fits


def test_a_small_project_gets_names_of_the_npu(folder: Path) -> None:
    lay_out(folder, PLAIN)
    assert (planned("").style.name, planned("").style.why, planned("").style.count) == ("npu", "few", 2)


def test_a_package_with_its_own_ci_stays_usable_on_gpus(folder: Path) -> None:
    lay_out(
        folder, {**PLAIN, "pyproject.toml": "[project]\nname = 'net'\n", ".github/workflows/test.yml": "on: push\n"}
    )
    plan = planned("")
    assert (plan.style.name, plan.style.why) == ("agnostic", "library") and "torch_device.py" in texts(plan)


def test_a_package_without_a_place_for_the_helper_gets_names_of_the_npu(folder: Path) -> None:
    code = PLAIN["train.py"].replace("from net import Net", "Net = torch.nn.Identity")
    scripts = {f"part{number}/train.py": code for number in range(13)}
    lay_out(folder, {**scripts, "setup.cfg": "[metadata]\nname = x\n", "tox.ini": "[tox]\n"})
    assert (planned("").style.name, planned("").style.why) == ("npu", "no-helper")
    with pytest.raises(NpulintError, match="helper module"):
        planned("agnostic")


def test_a_large_project_redirects_its_names(folder: Path) -> None:
    parts = {f"part{number}.py": PLAIN["net.py"] for number in range(61)}
    imports = "".join(f"import part{number}\n" for number in range(61))
    lay_out(folder, {**PLAIN, **parts, "train.py": imports + PLAIN["train.py"]})
    assert (planned("").style.name, planned("").style.why) == ("transfer", "many")


def test_a_project_keeps_the_style_that_it_has(folder: Path) -> None:
    head = "import torch\nimport torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n"
    lay_out(folder, {**PLAIN, "train.py": head + PLAIN["train.py"]})
    assert (planned("").style.name, planned("").style.why) == ("transfer", "has-transfer")


# Steps


def test_steps_are_in_order_and_together_make_the_port(folder: Path) -> None:
    lay_out(folder, {**DDP, "run.sh": PLAIN["run.sh"].replace("train.py", "main.py")})
    plan = planned()
    names = [step.name for step in plan.steps]
    assert names == [step for step in STEPS if step in names]
    assert {"device", "distribution", "precision", "launch"} <= set(names)
    now = {one.path: b"" if one.new else (folder / one.path).read_bytes() for one in plan.files}
    for step in plan.steps:
        for one in step.files:
            assert one.before == now[one.path]
            now[one.path] = one.after
            if one.path.endswith(".py"):
                ast.parse(one.after)
    assert now == {one.path: one.after for one in plan.files}


def test_an_item_names_its_places_and_its_edits(folder: Path) -> None:
    lay_out(folder, DDP)
    step = next(step for step in planned().steps if step.name == "distribution")
    assert [(item.name, item.safe, item.places) for item in step.items] == [
        ("nccl-backend-to-migrate", False, (("main.py", 10),))
    ]
    edit = step.items[0].edits[0]
    assert (edit.line, edit.before, edit.after) == (
        10,
        ('parser.add_argument("--backend", default="nccl")',),
        ('parser.add_argument("--backend", default="hccl")',),
    )


def test_every_topic_has_a_step() -> None:
    fixed = {check.topic for check in load_catalogue().checks if check.fixes and check.family != "compare"}
    assert fixed - topics().keys() == set()
    assert {row.step for row in topics().values()} <= set(STEPS)


# What is left, and programs


def test_what_has_no_edit_is_left_with_the_way_to_replace_it(folder: Path) -> None:
    code = PLAIN["train.py"].replace("from net import Net\n", "from net import Net\nfrom nvidia import dali\n")
    lay_out(folder, {**PLAIN, "train.py": code.replace("Net().to(device)", "torch.nn.DataParallel(Net())")})
    left = {one.finding.name: one.finding for one in planned().left}
    assert any("dali" in one.message for one in left.values())
    wrapper = next(one for name, one in left.items() if name.startswith("data-parallel"))
    assert "DistributedDataParallel" in wrapper.fix.text


def test_lines_of_what_is_left_are_those_after_the_port(folder: Path) -> None:
    code = PLAIN["train.py"].replace("Net().to(device)", "torch.nn.DataParallel(Net())")
    lay_out(folder, {**PLAIN, "train.py": code})
    plan = planned()
    lines = texts(plan)["train.py"].split("\n")
    found = [one.finding for one in plan.left if one.finding.topic == "distribution"]
    assert found and all("DataParallel" in lines[one.span.line - 1] for one in found)


def test_a_python_2_program_is_not_touched(folder: Path) -> None:
    old = "import torch\n\nmodel = torch.nn.Linear(3, 3).cuda()\nfor x in loader:\n    model(x).sum().backward()\n"
    lay_out(folder, {**PLAIN, "old.py": old + "    print 'x'\n"})
    plan = planned()
    assert "old.py" not in texts(plan) and "train.py" in texts(plan)
    assert {one.entry: (one.status, one.because) for one in plan.programs} == {
        "train.py": ("trains", ""),
        "old.py": ("python2", "old.py"),
    }


def test_no_half_of_a_training_in_python_2_is_ported(folder: Path) -> None:
    lay_out(folder, {**PLAIN, "train.py": PLAIN["train.py"] + "    print 'x'\n", "other.py": DDP["main.py"]})
    shared = "import torch\nfrom net import Net\n\nif __name__ == '__main__':\n    Net().cuda()(torch.ones(3).cuda())\n"
    (folder / "demo.py").write_text(shared)
    plan = planned()
    assert {path for path in texts(plan) if path.endswith(".py")} == {"other.py"}
    assert {one.entry: one.because for one in plan.programs if one.because} == {
        "train.py": "train.py",
        "demo.py": "train.py",
    }


def test_a_project_of_python_2_is_refused(folder: Path) -> None:
    old = "import torch\nmodel = torch.nn.Linear(3, 3).cuda()\nprint 'start'\n"
    lay_out(folder, {"train.py": old + PLAIN["train.py"]})
    with pytest.raises(NpulintError, match="2to3"):
        planned()


def test_a_script_with_the_name_of_one_of_a_framework_is_no_program_of_it(folder: Path) -> None:
    code = {f"src/{name}": text for name, text in PLAIN.items() if name.endswith(".py")}
    lay_out(folder, {**code, "scripts/train.sh": "python ./src/train.py --net x --steps=100\n"})
    assert [one.entry for one in planned().programs] == ["src/train.py"]


def test_only_named_programs_are_ported(folder: Path) -> None:
    other = "import torch\n\nmodel = torch.nn.Linear(3, 3).cuda()\nfor x in loader:\n    model(x).sum().backward()\n"
    lay_out(folder, {**PLAIN, "other.py": other})
    plan = planned(entries=("train.py",))
    assert "other.py" not in texts(plan) and {"train.py", "net.py"} <= texts(plan).keys()
    assert {one.entry: one.status for one in plan.programs} == {"train.py": "trains", "other.py": "left"}


def test_an_unknown_entry_is_an_error(folder: Path) -> None:
    lay_out(folder, PLAIN)
    with pytest.raises(NpulintError, match=r"nothing\.py"):
        planned(entries=("nothing.py",))


def test_a_script_for_an_inference_engine_of_gpus_is_left(folder: Path) -> None:
    code = "import tensorrt\nimport torch\n\nx = torch.ones(1, 4).cuda()\ntorch.save(tensorrt.run(x), 'out.pth')\n"
    lay_out(folder, {**PLAIN, "export.py": code})
    plan = planned()
    assert "export.py" not in texts(plan)
    found = {one.entry: (one.status, one.because) for one in plan.programs}
    assert found == {"train.py": ("trains", ""), "export.py": ("engine", "tensorrt")}


def test_a_training_that_needs_a_library_of_gpus_is_not_called_ported(folder: Path) -> None:
    code = "from nvidia.dali.plugin.pytorch import DALIClassificationIterator\n" + PLAIN["train.py"]
    lay_out(folder, {**PLAIN, "train.py": code, "requirements.txt": "nvidia-dali-cuda110\n"})
    plan = planned()
    assert [(one.status, one.because) for one in plan.programs] == [("open", "nvidia.dali")]
    assert {"gpu-data-loading", "gpu-dependency"} <= {one.finding.name for one in plan.left}


HOROVOD = """
import horovod.tensorflow as hvd
import tensorflow as tf

def main():
    hvd.init()
    loss = tf.reduce_mean(tf.square(tf.layers.dense(tf.ones([8, 4]), 1)))
    opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(1e-3))
    train_op = opt.minimize(loss, global_step=tf.train.get_or_create_global_step())
    with tf.train.MonitoredTrainingSession(hooks=[hvd.BroadcastGlobalVariablesHook(0)]) as sess:
        for _ in range(1000):
            sess.run(train_op)

main()
"""


def test_a_training_that_keeps_horovod_is_not_called_ported(folder: Path) -> None:
    lay_out(folder, {"train.py": HOROVOD})
    assert [one.status for one in planned().programs] == ["trains"]
    lay_out(folder, {"train.py": HOROVOD.replace("sess.run(train_op)", "sess.run([train_op, hvd.allgather(loss)])")})
    (program,) = planned().programs
    assert (program.status, program.because) == ("open", "horovod")


def test_scripts_without_a_device_need_no_port(folder: Path) -> None:
    lay_out(folder, {**PLAIN, "convert.py": CONVERT})
    assert {one.entry: one.status for one in planned().programs} == {"train.py": "trains", "convert.py": "other"}


# Bytes


@pytest.mark.parametrize(("mark", "end"), [*itertools.product(("", "\ufeff"), ("\n", "\r\n"))])
def test_line_ends_and_encodings_stay(folder: Path, mark: str, end: str) -> None:
    code = mark + ("# -*- coding: utf-8 -*-\n# 训练\n" + DDP["main.py"]).replace("\n", end)
    (folder / "main.py").write_bytes(code.encode())
    plan = planned()
    after = plan.files[0].after
    assert after.count(b"\n") == after.count(end.encode()) and after.startswith(mark.encode())
    for step in plan.steps:
        assert all(one.after.count(b"\n") == one.after.count(end.encode()) for one in step.files)


def test_nothing_is_written_while_planning(folder: Path) -> None:
    lay_out(folder, PLAIN)
    plan = planned("agnostic")
    assert unified(plan.files) and sorted(os.listdir(folder)) == ["net.py", "run.sh", "train.py"]
    assert {name: (folder / name).read_text() for name in PLAIN} == PLAIN

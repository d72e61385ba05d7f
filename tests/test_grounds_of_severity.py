"""A warning has a ground: advice how to be fast waits for the port, and what may be on purpose is a note."""

from __future__ import annotations

import pytest

from tests.project_support import Project

_STEP = """\
import torch
{adapter}
model = torch.nn.Linear(3, 3).{device}()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader([1], 8):
    loss = torch.linalg.det(model(x.{device}())).sum()
    loss.backward()
    optimizer.step()
    total = 0.0
    for p in model.parameters():
        total += p.grad.norm(2).item() ** 2
"""
_TO_PORT = _STEP.format(adapter="", device="cuda")
_PORTED = _STEP.format(adapter="import torch_npu", device="npu")
_DROPOUT = """\
import tensorflow.compat.v1 as tf

x = tf.placeholder(tf.float32, [8, 4])
loss = tf.reduce_mean(tf.nn.dropout(tf.layers.dense(x, 4), 0.5))
step = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as session:
    session.run(step, {x: [[0.0] * 4] * 8})
"""
_WAIT, _NO_KERNEL, _QUEUE = "NPU2391", "NPU2336", "NPU3320"


def _severities(project: Project, code: str) -> set[str]:
    return {one["severity"] for one in project.check(f"--select={code}").findings}


@pytest.mark.parametrize(
    ("source", "code", "severity"),
    [
        pytest.param(_PORTED, _WAIT, "warning", id="a wait of a program on the NPU"),
        pytest.param(_TO_PORT, _WAIT, "note", id="a wait of a program to be ported"),
        pytest.param(_PORTED, _NO_KERNEL, "warning", id="no kernel for a program on the NPU"),
        pytest.param(_TO_PORT, _NO_KERNEL, "warning", id="no kernel for a program to be ported"),
    ],
)
def test_advice_about_speed_is_a_note_until_the_port(project: Project, source: str, code: str, severity: str) -> None:
    assert _severities(project.write({"train.py": source}), code) == {severity}


def test_the_checklist_asks_what_is_left_to_do_on_the_npu(project: Project) -> None:
    answer = project.write({"train.py": _DROPOUT}).check("--select=NPU1301")
    (program,) = answer.document["programs"]
    assert {found["severity"] for found in answer.findings} == {"note"}
    assert {item["item"]: item["status"] for item in program["checklist"]}["fused_implementations"] == "failed"


def test_the_checklist_leaves_what_may_be_on_purpose(project: Project) -> None:
    project.write({"train.py": _PORTED, "run.sh": "export TASK_QUEUE_ENABLE=0\npython3 train.py\n"})
    (program,) = project.check().document["programs"]
    items = {item["item"]: item["status"] for item in program["checklist"]}
    assert items.get("launch_environment") != "failed"


@pytest.mark.parametrize(
    ("launcher", "severity"),
    [
        pytest.param("export TASK_QUEUE_ENABLE=0", "note", id="alone, in a launcher for the NPU"),
        pytest.param("export ASCEND_LAUNCH_BLOCKING=1\nexport TASK_QUEUE_ENABLE=0", "warning", id="beside another aid"),
    ],
)
def test_what_may_be_on_purpose_is_a_note(project: Project, launcher: str, severity: str) -> None:
    project.write({"train.py": _PORTED, "run.sh": f"{launcher}\npython3 train.py\n"})
    assert _severities(project, _QUEUE) == {severity}


def test_another_launcher_of_the_project_is_a_ground(project: Project) -> None:
    files = {f"run_{number}.sh": f"export TASK_QUEUE_ENABLE={number}\npython3 train.py\n" for number in (0, 2)}
    assert _severities(project.write({"train.py": _PORTED, **files}), _QUEUE) == {"warning"}

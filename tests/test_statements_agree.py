"""What is said of one program does not contradict itself: pairs of statements that may not occur together, held against
all that is said of examples, of projects of the repository and of small programs, in findings, readiness items and the
verdict; equal states are equally severe."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import yaml

from npulint.commands.examples import check_sources
from npulint.judge.catalogue.check import Catalogue, two_sided
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import SEVERITIES, Finding, ProgramSummary, RunResult
from npulint.judge.verdict import verdict_of
from npulint.report.verdict import told

_ROOT = Path(__file__).parents[1]
_PAIRS = list(csv.DictReader((_ROOT / "tests/data/contradictions.csv").read_text(encoding="utf-8").splitlines()))
_TOPICS = ("mixed_precision", "loss_scale", "session_config", "estimator_migration", "mixlist", "apex_amp")
_SOURCES = (".py", ".sh", ".txt", ".yaml", ".json", "Dockerfile")


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """All checks, with their examples."""
    return load_catalogue()


def _of_examples(catalogue: Catalogue) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """The examples of checks about precision and sessions with one program."""
    for check in catalogue.checks:
        if check.topic in _TOPICS and check.family in ("tensorflow", "pytorch"):
            for number, example in enumerate(check.examples):
                entries = [name for name in example.files if name.endswith(".py")]
                if len(entries) == 1 and not two_sided(example.files):
                    yield f"{check.name} {number}", example.files, example.target


def _of_folders() -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """The projects below ``examples``."""
    for folder in sorted(path for path in (_ROOT / "examples").iterdir() if path.is_dir()):
        paths = [path for path in folder.rglob("*") if path.is_file() and path.name.endswith(_SOURCES)]
        yield folder.name, {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in paths}, {}


_HEAD = "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import *\n"
_STEP = "step = tf.train.AdamOptimizer(1e-3).minimize(loss)\n"
_SESSION = (
    _HEAD
    + _STEP
    + "config = tf.ConfigProto()\n"
    + (
        "op = config.graph_options.rewrite_options.custom_optimizers.add()\nop.name = 'NpuOptimizer'\n{mode}"
        "with tf.Session(config=config) as sess:\n    for _ in range(10):\n        sess.run(step)\n"
    )
)
_ESTIMATOR = _HEAD + (
    "def model_fn(features, labels, mode):\n    loss = network(features)\n    "
    + _STEP
    + "    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)\n"
    "config = NPURunConfig(model_dir='out', save_checkpoints_steps=100{mode})\n"
    "NPUEstimator(model_fn=model_fn, config=config).train(input_fn, max_steps=1000)\n"
)
_MODE = "op.parameter_map['precision_mode'].s = tf.compat.as_bytes('{0}')\n"
_ARGUMENT = ", precision_mode='{0}'"
_TORCH = """\
import torch
import torch_npu
{before}
model = torch.nn.Linear(2, 2).npu()
optimizer = torch.optim.Adam(model.parameters())
{made}
for x in torch.utils.data.DataLoader([1], 8):
    with {context}:
        loss = torch.baddbmm(model(x), x, x).log().masked_fill(x == 0, -1e9).sum()
    {backward}
    optimizer.step()
"""
_SCALER = "scaler = torch.amp.GradScaler('npu')"
_FLOAT16, _BFLOAT16 = "torch.autocast('npu')", "torch.autocast('npu', dtype=torch.bfloat16)"
_PLAIN, _NOTHING = "loss.backward()", "torch.enable_grad()"
_SCALED = "scaler.scale(loss).backward(); scaler.step(optimizer); scaler.update()"
_MANUAL = "(loss * scale).backward(); [p.grad.div_(scale) for p in model.parameters()]"


def _torch(context: str, backward: str, made: str = "", before: str = "") -> str:
    return _TORCH.format(context=context, backward=backward, made=made, before=before)


_PROGRAMS = {
    "a session without a mode": _SESSION.format(mode=""),
    "an Estimator without a mode": _ESTIMATOR.format(mode=""),
    "a session in a mixed mode": _SESSION.format(mode=_MODE.format("allow_mix_precision")),
    "an Estimator in a mixed mode": _ESTIMATOR.format(mode=_ARGUMENT.format("allow_mix_precision")),
    "a session in its own types": _SESSION.format(mode=_MODE.format("must_keep_origin_dtype")),
    "a session in bfloat16": _SESSION.format(mode=_MODE.format("allow_mix_precision_bf16")),
    "PyTorch in float32": _torch(_NOTHING, _PLAIN),
    "PyTorch in float16": _torch(_FLOAT16, _PLAIN),
    "PyTorch in float16, scaled": _torch(_FLOAT16, _SCALED, _SCALER),
    "PyTorch in float16, scaled manually": _torch(_FLOAT16, _MANUAL, "scale = 1024.0"),
    "PyTorch in float16, a scaler that nothing uses": _torch(_FLOAT16, _PLAIN, _SCALER),
    "PyTorch in float32, a scaler that nothing uses": _torch(_NOTHING, _PLAIN, _SCALER),
    "PyTorch in bfloat16": _torch(_BFLOAT16, _PLAIN),
    "PyTorch in bfloat16, scaled": _torch(_BFLOAT16, _SCALED, _SCALER),
    "PyTorch, a context for CUDA": _torch("torch.cuda.amp.autocast()", _PLAIN),
    "PyTorch, cast to float16": _torch(_NOTHING, _PLAIN, "model.half()"),
    "PyTorch, cast to float16, scaled": _torch(_NOTHING, _SCALED, f"model.half(); {_SCALER}"),
    "PyTorch, cast to float16, scaled manually": _torch(_NOTHING, _MANUAL, "model.half(); scale = 1024.0"),
    "PyTorch, cast to bfloat16": _torch(_NOTHING, _PLAIN, "model.bfloat16()"),
    "PyTorch with Accelerate": _torch(
        _NOTHING,
        "accelerator.backward(loss)",
        before="from accelerate import Accelerator\naccelerator = Accelerator(mixed_precision='fp16')",
    ),
}


_CPU = """
import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = torch.nn.Linear(3, 3).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(data, batch_size=8, drop_last=True):
    loss = model(x.to(device)).mean()
    loss.backward()
    optimizer.step()
"""
_NET = """
import torch

class Net(torch.nn.Module):
    def forward(self, x):
        return x[x > 0] * self.scale.item()
"""
_LIBRARY = """
import torch

class Learner:
    def learn(self, loader):
        for x in loader:
            loss = self.model(x.cuda()).mean()
            loss.backward()
            self.optimizer.step()
"""
_PORTED = _CPU.replace("import torch\n", "import torch\nimport torch_npu\n").replace(
    'torch.device("cuda" if torch.cuda.is_available() else "cpu")', 'torch.device("npu")'
)
_TORCH_PROJECTS = {
    "on CUDA or the CPU": {"train.py": _CPU},
    "a library": {"learner.py": _LIBRARY, "__init__.py": ""},
    "ported": {
        "train.py": _PORTED.replace("torch.nn.Linear(3, 3)", "Net()") + "import net\nfrom net import Net\n",
        "net.py": _NET,
    },
    "ported and compiled": {
        "train.py": _PORTED.replace(".to(device)\n", ".to(device)\nmodel = torch.compile(model)\n", 1)
    },
    "ported, started on GPUs": {
        "train.py": _PORTED,
        "run.sh": "export CUDA_VISIBLE_DEVICES=0,1\npython train.py\n",
    },
    "a script that evaluates": {
        "train.py": _PORTED,
        "generate.py": "from model import Learner\n\nif __name__ == '__main__':\n    Learner().infer(3)\n",
        "model.py": _LIBRARY.replace("loss.backward()", "loss.backward()\n            print(loss.item())").replace(
            ".cuda()", ".npu()"
        )
        + "\n    def infer(self, x):\n        return self.model(x)\n",
    },
}


def _of_finding(finding: Finding) -> Iterator[tuple[str, str]]:
    yield "check", finding.name
    yield "message", finding.message
    yield "message", finding.fix.text
    yield "text", f"{finding.message} {finding.why} {finding.fix.text}"


def _of_program(program: ProgramSummary, result: RunResult) -> Iterator[tuple[str, str]]:
    """What is said of one program: its findings, its readiness items, and the verdict on it."""
    runs = {verdict.entry: verdict.runs_on for verdict in verdict_of(result).training}
    yield "runs", runs.get(program.entry, "nothing")
    for item in program.checklist:
        yield "item", f"{item.item}={item.status}"
        yield "text", f"{item.title} {item.look}"
    for finding in result.findings:
        if program.entry in (finding.program, *finding.programs):
            yield from _of_finding(finding)


def _of_all(result: RunResult) -> Iterator[tuple[str, str]]:
    """What is said of a project: all its findings, and the verdict."""
    yield "verdict", told(verdict_of(result), "en")
    for finding in result.findings:
        yield from _of_finding(finding)


def _holds(statement: str, said: Sequence[tuple[str, str]]) -> bool:
    kind, _, wanted = statement.partition(":")
    if kind in ("text", "message", "verdict"):
        return any(re.search(wanted, text) for each, text in said if each == kind)
    return (kind, wanted) in said


def _contradictions(result: RunResult) -> list[str]:
    subjects = [list(_of_all(result)), *(list(_of_program(program, result)) for program in result.programs)]
    return [
        f"{pair['first']} and {pair['second']}"
        for said in subjects
        for pair in _PAIRS
        if _holds(pair["first"], said) and _holds(pair["second"], said)
    ]


@pytest.mark.daily
def test_examples_are_not_contradicted(catalogue: Catalogue) -> None:
    found = {}
    for name, files, target in _of_examples(catalogue):
        if pairs := _contradictions(check_sources(files, target, catalogue)):
            found[name] = pairs
    assert found == {}


@pytest.mark.parametrize("text", _PROGRAMS.values(), ids=_PROGRAMS.keys())
@pytest.mark.parametrize("soc", ["", "910A", "910B"])
def test_programs_are_not_contradicted(catalogue: Catalogue, text: str, soc: str) -> None:
    assert _contradictions(check_sources({"train.py": text}, {"soc": soc} if soc else {}, catalogue)) == []


@pytest.mark.parametrize("files", _TORCH_PROJECTS.values(), ids=_TORCH_PROJECTS.keys())
@pytest.mark.parametrize("soc", ["", "910A", "910B"])
def test_pytorch_projects_are_not_contradicted(catalogue: Catalogue, files: dict[str, str], soc: str) -> None:
    assert _contradictions(check_sources(files, {"soc": soc} if soc else {}, catalogue)) == []


@pytest.mark.parametrize("framework", ["tensorflow", "torch"])
def test_complete_gpu_programs_are_not_contradicted(catalogue: Catalogue, framework: str) -> None:
    text = (_ROOT / f"tests/data/gpu_programs_{framework}.yaml").read_text(encoding="utf-8")
    found = {}
    for row in yaml.safe_load(text):
        files = row.get("files") or {"train.py": row["program"]}
        if pairs := _contradictions(check_sources(files, {}, catalogue)):
            found[row["name"]] = pairs
    assert found == {}


def test_every_statement_of_the_table_is_of_a_kind_that_reports_have() -> None:
    items = {item.key for item in load_catalogue().items}
    kinds = {"check", "message", "text", "item", "runs", "verdict"}
    for statement in (pair[side] for pair in _PAIRS for side in ("first", "second")):
        kind, _, wanted = statement.partition(":")
        assert kind in kinds
        assert kind != "item" or wanted.partition("=")[0] in items


def test_projects_are_not_contradicted(catalogue: Catalogue) -> None:
    found = {name: _contradictions(check_sources(files, {}, catalogue)) for name, files, _ in _of_folders()}
    assert {name: pairs for name, pairs in found.items() if pairs} == {}


def _severities(catalogue: Catalogue, text: str, topics: Sequence[str], soc: str) -> list[str]:
    result = check_sources({"train.py": text}, {"soc": soc} if soc else {}, catalogue)
    return sorted(finding.severity for finding in result.findings if finding.topic in topics)


@pytest.mark.parametrize("soc", ["", "910A"])
def test_equal_states_are_equally_severe(catalogue: Catalogue, soc: str) -> None:
    topics = ("mixed_precision", "loss_scale")
    for mode in ("without a mode", "in a mixed mode"):
        session = _severities(catalogue, _PROGRAMS[f"a session {mode}"], topics, soc)
        assert session == _severities(catalogue, _PROGRAMS[f"an Estimator {mode}"], topics, soc), mode


@pytest.mark.parametrize("soc", ["", "910A", "910B"])
def test_float16_without_a_loss_scale_is_at_least_as_loud_as_no_mode(catalogue: Catalogue, soc: str) -> None:
    def loudest(name: str) -> int:
        found = _severities(catalogue, _PROGRAMS[name], ("loss_scale",), soc)
        return max(map(SEVERITIES.index, found), default=-1)

    assert loudest("a session in a mixed mode") >= max(loudest("a session without a mode"), SEVERITIES.index("warning"))
    assert loudest("a session in its own types") < 0
    assert loudest("a session in bfloat16") < 0

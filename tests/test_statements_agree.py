"""What is said of one program does not contradict itself: pairs of statements that may not occur together, held against
all that is said of examples, of projects of the repository and of small programs; equal states are equally severe."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from npulint.commands.examples import check_sources
from npulint.judge.catalogue.check import Catalogue, two_sided
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import SEVERITIES, RunResult

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


def _statements(result: RunResult) -> Iterator[tuple[str, str]]:
    """All that a report says: kinds of statements with their texts."""
    for finding in result.findings:
        yield "check", finding.name
        yield "message", finding.message
        yield "message", finding.fix.text
        yield "text", f"{finding.message} {finding.why} {finding.fix.text}"
    for program in result.programs:
        for item in program.checklist:
            yield "item", f"{item.item}={item.status}"
            yield "text", f"{item.title} {item.look}"


def _contradictions(result: RunResult) -> list[str]:
    said = list(_statements(result))

    def holds(statement: str) -> bool:
        kind, _, wanted = statement.partition(":")
        if kind in ("text", "message"):
            return any(re.search(wanted, text) for each, text in said if each == kind)
        return (kind, wanted) in said

    return [
        f"{pair['first']} and {pair['second']}" for pair in _PAIRS if holds(pair["first"]) and holds(pair["second"])
    ]


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

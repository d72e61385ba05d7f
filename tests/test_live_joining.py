"""What a run says about the findings of the source check; the examples of checks are programs on which both must
agree."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from npulint.commands.check.pipeline import run
from npulint.commands.settings.config import load
from npulint.fakes.launch import environment
from npulint.fakes.orders import ENDED, RECORDING, Ended
from npulint.graphs.read.torch.recorded import read_recorded
from npulint.hosts.cli.try_report import joined
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import RunResult
from npulint.judge.summaries.step_summary import StepFinding, StepOperator, StepSummary, StepWait
from npulint.live.joining import Run, joined_step
from npulint.live.judge import judged
from tests.live_support import installed
from tests.measured import python
from tests.project_support import ROOT
from tests.surface_support import finding

EXPLAINED: dict[str, str] = {}
"""Contradictions between a run and the source check that are right: program and code, and why."""

WAIT = {"code": "NPU2374", "name": "value-read-every-step", "topic": "host_sync", "path": "train.py"}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue((), whole=True)


def status(
    catalogue: Catalogue, step: StepSummary, lines: set[int], stopped: str = "", **more: object
) -> list[StepFinding]:
    one = finding(**{**WAIT, **more})
    place = Path("train.py").resolve()
    found = Run(step, {str(place): frozenset(lines)}, f"{place}:{stopped}" if stopped else "", ())
    return list(joined_step(found, RunResult([one]), (), catalogue, False, "en").static)


def test_a_finding_is_confirmed_missed_contradicted_or_open(catalogue: Catalogue) -> None:
    line = finding(**WAIT).span.line
    ran = StepOperator("aten.add.Tensor", "npu", path="train.py", line=line)
    away = StepOperator("aten.huber_loss.default", "cpu", path="train.py", line=line)
    wait = StepWait("item", 1, "train.py", line)

    def word(step: StepSummary, lines: set[int], stopped: str = "", **more: object) -> list[str]:
        return [one.status for one in status(catalogue, step, lines, stopped, **more)]

    assert word(StepSummary("x", operators=(ran,)), {line}) == ["contradicted"]
    assert word(StepSummary("x", operators=(ran,), waits=(wait,)), {line}) == ["confirmed"]
    assert word(StepSummary("x"), {line}) == ["open"], "nothing ran there on the NPU"
    assert word(StepSummary("x", operators=(ran,)), {line}, str(line)) == ["open"], "it stopped there"
    assert word(StepSummary("x", operators=(ran,)), {1}) == [], "only errors are told to be missed"
    assert word(StepSummary("x", operators=(ran,)), {1}, severity="error") == ["missed"]
    operator = {"code": "NPU2336", "topic": "unsupported_op"}
    assert word(StepSummary("x", operators=(ran,)), {line}, **operator) == ["contradicted"]
    assert word(StepSummary("x", operators=(ran, away)), {line}, **operator) == ["confirmed"]
    assert word(StepSummary("x"), {line}, code="NPU2101", topic="device_cuda", severity="error") == ["contradicted"]
    assert word(StepSummary("x"), {line}, code="NPU2316", topic="fused_optimizer") == ["open"]
    assert word(StepSummary("x", operators=(ran,)), {line}, code="NPU2341", topic="unsupported_op") == ["open"]


@pytest.mark.slow
def test_the_examples_of_checks_run_as_they_are_reported(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed("torch")
    decided = {code for check in catalogue.checks if check.family == "graph" for code in check.joins}
    for check in catalogue.checks:
        for number, example in enumerate(check.examples) if check.code in decided and check.code > "NPU2" else ():
            texts = "".join(example.files.values())
            if "torch" in texts and "transfer_to_npu" not in texts:
                for name, text in example.files.items():
                    path = tmp_path / f"{check.code}-{number}" / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(text, encoding="utf-8")
    where = environment("torch", base={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(tmp_path)})
    command = python("-m", "tests.live_oracle", str(tmp_path))
    done = subprocess.run(command, cwd=ROOT, env=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found, against = Counter[str](), list[str]()
    for folder in sorted(tmp_path.iterdir()):
        monkeypatch.chdir(folder)
        result = compared(folder)
        if result is not None and result.step is not None:
            found.update(one.status for one in result.step.static)
            against += [
                f"{folder.name} {one.code} {one.path}:{one.line}"
                for one in result.step.differences
                if one.kind == "contradicted"
            ]
    assert [one for one in against if one not in EXPLAINED] == []
    assert found["confirmed"] >= 5, found


def compared(folder: Path) -> RunResult | None:
    """The joined result of one program; None if nothing of it ran on the NPU."""
    if not (folder / RECORDING).exists():
        return None
    graph = read_recorded(str(folder / RECORDING))
    ended = msgspec.json.decode((folder / ENDED).read_bytes(), type=Ended)
    (folder / RECORDING).unlink()
    (folder / ENDED).unlink()
    if not any(node.frames for node in graph.bodies[0].nodes):
        return None
    settings = load(["."], {"isolated": True, "target": ["torch=2.7"]}, {})
    static = run(msgspec.structs.replace(settings, paths=(".",)))
    live = judged(graph, name="x", lang="en", settings=settings)
    return joined(live, static, ended, settings, True)

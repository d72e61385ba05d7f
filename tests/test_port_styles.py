"""Small GPU projects of ten styles: their losses before the port on the CPU are those after it on the fake NPU."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from npulint.commands.port.plan import plan_port
from npulint.fakes import launch
from npulint.fakes.launch import environment
from npulint.fakes.ranks import free_port
from npulint.fix.write import write_all
from npulint.judge.settings import Settings
from scripts.trying.programs import Program
from scripts.trying.runs import as_it_is, under_try
from tests.test_fix_runs_programs import run_jobs, tensorflow1
from tests.tools import missing

pytestmark = pytest.mark.slow

_HERE = Path(__file__).parent / "port_styles"
_STAND_INS = _HERE / "stand_ins"
TORCH = "plain ddp apex lightning own_trainer hf_trainer accelerate mmengine".split()
STYLES = ("npu", "agnostic", "transfer")
_SCRIPTS = {"hf_trainer": "run.py", "accelerate": "run.py", "mmengine": "tools/train.py"}
_JOB = {"MASTER_ADDR": "127.0.0.1", "RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
_ALIKE = 2e-3, 0.25  # relative, of the first loss and of those that follow where the port adds mixed precision
_POSING = "from scripts.trying.posing import pose\n\npose()\n"

_LISTED = {("lightning", "npu"), ("lightning", "agnostic")}
"""Lightning selects no NPU: without transfer_to_npu this is left to a person, and the plan says so."""

Losses = dict[tuple[str, str], list[float]]


def ported(project: str, style: str, home: Path) -> Path:
    """A copy of a project, ported."""
    shutil.copytree(_HERE / "projects" / project, home)
    write_all(plan_port(Settings(paths=(str(home),), cache=False), style, ()).fixes)
    return home


def losses_in(folder: Path) -> list[float]:
    """The losses that a program printed."""
    return [float(text) for text in re.findall(r"^loss (\S+)$", (folder / "output.txt").read_text(), re.MULTILINE)]


def _script(project: str) -> str:
    return _SCRIPTS.get(project, "train.py")


def _on(*folders: str, variables: Mapping[str, str]) -> dict[str, str]:
    """The environment with folders at the end of the module path."""
    path = os.pathsep.join(filter(None, [variables.get("PYTHONPATH", ""), *folders]))
    return {**variables, **_JOB, "PYTHONPATH": path, "TORCH_DEVICE_BACKEND_AUTOLOAD": "1"}


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[float]]:
    """The losses of the projects for PyTorch, untouched, with the CPU in the place of the GPU."""
    if importlib.util.find_spec("torch") is None:
        missing("torch")
    base = tmp_path_factory.mktemp("before")
    (base / "posing.py").write_text(_POSING)
    homes = {name: Path(shutil.copytree(_HERE / "projects" / name, base / name)) for name in TORCH}
    jobs = [
        {"folder": str(home), "script": _script(name), "given": str(base / "posing.py")} for name, home in homes.items()
    ]
    variables = {**os.environ, "PYTHONPATH": "", "MASTER_PORT": str(free_port()), "CUDA_VISIBLE_DEVICES": ""}
    raised = run_jobs(
        jobs, _on(str(_HERE.parent.parent), str(_STAND_INS), variables=variables), "torch", sys.executable
    )
    assert raised == [""] * len(jobs)
    return {name: losses_in(home) for name, home in homes.items()}


@pytest.fixture(scope="module")
def after(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[tuple[str, str], str], Losses]:
    """What the ported projects for PyTorch raised on the fake NPU, and their losses, by project and style."""
    base = tmp_path_factory.mktemp("after")
    homes = {(name, style): ported(name, style, base / name / style) for name in TORCH for style in STYLES}
    jobs = [{"folder": str(home), "script": _script(name)} for (name, _), home in homes.items()]
    variables = {**environment("torch"), "MASTER_PORT": str(free_port())}
    raised = run_jobs(jobs, _on(str(_STAND_INS), variables=variables), "torch", sys.executable)
    losses = {key: losses_in(home) for key, home in homes.items()}
    return dict(zip(homes, raised, strict=True)), losses


@pytest.mark.parametrize(("project", "style"), [(p, s) for p in TORCH for s in STYLES if (p, s) not in _LISTED])
def test_a_ported_torch_project_trains_as_before(
    project: str,
    style: str,
    before: dict[str, list[float]],
    after: tuple[dict[tuple[str, str], str], Losses],
) -> None:
    raised, losses = after
    assert raised[project, style] == ""
    assert len(before[project]) == 4
    first, later = _ALIKE
    assert losses[project, style][:1] == pytest.approx(before[project][:1], rel=first)
    assert losses[project, style][1:] == pytest.approx(before[project][1:], rel=later)


@pytest.mark.parametrize(("project", "style"), sorted(_LISTED))
def test_what_does_not_train_after_the_port_is_listed(project: str, style: str, tmp_path: Path) -> None:
    home = shutil.copytree(_HERE / "projects" / project, tmp_path / project)
    plan = plan_port(Settings(paths=(str(home),), cache=False), style, ())
    assert [one.status for one in plan.programs] == ["open"]
    change = next(one for one in plan.files if one.path.endswith("train.py"))
    lines = change.after.decode().split("\n")  # what is left has the lines of the ported file
    assert any("accelerator=" in lines[one.finding.span.line - 1] for one in plan.left)


@pytest.mark.parametrize("project", ["session", "estimator"])
def test_a_ported_tensorflow1_project_trains_as_before(project: str, tmp_path: Path) -> None:
    python = tensorflow1()
    first, then = Path(shutil.copytree(_HERE / "projects" / project, tmp_path / "a")), tmp_path / "b"
    ported(project, "", then)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    assert run_jobs([{"folder": str(first), "script": "train.py"}], variables, "tensorflow", python) == [""]
    assert run_jobs(
        [{"folder": str(then), "script": "train.py"}], environment("tensorflow1"), "tensorflow", python
    ) == [""]
    assert len(losses_in(first)) == 4
    assert losses_in(then) == pytest.approx(losses_in(first), rel=1e-5)


def test_the_steps_of_a_ported_tensorflow1_project_are_those_before(tmp_path: Path) -> None:
    python = tensorflow1()
    first, then = Path(shutil.copytree(_HERE / "projects" / "session", tmp_path / "a")), tmp_path / "b"
    ported("session", "", then)
    program = Program("session", "tensorflow", "", "", "", "", "train.py", "", "gpu", "", "", "")
    before, after = as_it_is(program, first, python, 3), under_try(program, then, python, 3)
    assert len(before.digests) == len(after.digests) == 3, after.text
    assert [one.loss for one in after.digests] == pytest.approx([one.loss for one in before.digests], rel=1e-5)
    assert len({one.parameters for one in after.digests}) == 3


@pytest.mark.nightly
def test_a_ported_keras_project_trains_as_before(tmp_path: Path) -> None:
    if importlib.util.find_spec("tensorflow") is None:
        missing("tensorflow")
    first, then = Path(shutil.copytree(_HERE / "projects" / "keras", tmp_path / "a")), tmp_path / "b"
    ported("keras", "", then)
    fakes = Path(launch.__file__).parent / "on_path"
    folders = [str(fakes / name) for name in ("tensorflow2", "tensorflow1", "shared")]
    variables = {**os.environ, "PYTHONPATH": ""}
    for home, path in ((first, []), (then, folders)):
        raised = run_jobs(
            [{"folder": str(home), "script": "train.py"}], _on(*path, variables=variables), "os", sys.executable
        )
        assert raised == [""]
    assert len(losses_in(first)) == 4
    assert losses_in(then) == pytest.approx(losses_in(first), rel=1e-5)

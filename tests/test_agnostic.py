"""Checks for libraries: when they run, what is proposed instead of CUDA, and what they leave alone."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from npulint.api import check
from npulint.commands.check.pipeline import facts_of
from npulint.data.accelerator_names import accelerator_names
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding
from npulint.judge.postprocess.select import hidden_checks
from npulint.judge.settings import Settings
from tests.live_support import framework

ROOT = Path(__file__).parent.parent
LIBRARY = {
    "requirements.txt": "torch==2.9.1\n",
    "lib/__init__.py": "",
    "lib/accelerator.py": "import torch\n\n\ndef get_accelerator():\n    return torch.get_device_module()\n",
    "lib/cache.py": (
        "import torch\n\nfrom lib.accelerator import get_accelerator\n\n\n"
        "def clear():\n    get_accelerator().empty_cache()\n"
    ),
    "lib/offload.py": (
        "import torch\n\nfrom lib.accelerator import get_accelerator\n\n\n"
        "def swap(model, other):\n    model.cpu()\n    torch.cuda.empty_cache()\n"
        "    return other.cuda(), get_accelerator().current_stream()\n"
    ),
    "lib/timing.py": (
        '"""torch.cuda.synchronize is slow."""\n\nimport time\n\nimport torch\n\n\n'
        "def now():\n    torch.cuda.synchronize()\n    return time.perf_counter()\n"
    ),
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def found(folder: Path, **files: str) -> list[Finding]:
    """The findings in a library that also has these files: ``lib_x="…"`` is ``lib/x.py``."""
    more = {f"{name.replace('_', '/', 1)}.py": text for name, text in files.items()}
    return check(written(folder, LIBRARY | more), select="agnostic", cache=False).findings


def test_the_checks_run_only_where_they_are_selected(tmp_path: Path) -> None:
    folder = written(tmp_path, LIBRARY)
    names = {one.name for one in check(folder, select="agnostic").findings}
    assert names == {"cuda-function-in-library", "cuda-device-in-library"}
    assert names <= {one.name for one in check(folder, extend_select="agnostic").findings}
    for select in ("all", "NPU", "NPU21", "functional"):
        assert names.isdisjoint(one.name for one in check(folder, select=select).findings)
    assert names.isdisjoint(one.name for one in check(folder).findings)


def test_a_code_or_a_name_selects_one_of_them() -> None:
    checks = load_catalogue(whole=False).checks
    off = hidden_checks(checks, Settings())
    assert {one.code for one in checks if one.topic == "agnostic"} == off
    assert hidden_checks(checks, Settings(select=("NPU21T0",))) == off - {"NPU21T0"}
    assert hidden_checks(checks, Settings(extend_select=("nccl-in-library",))) == off - {"NPU21T4"}
    assert hidden_checks(checks, Settings(extend_select=("Agnostic",))) == set()


@pytest.mark.parametrize(
    ("release", "instead"),
    [
        ("torch==2.9.1", "`torch.accelerator.max_memory_allocated`"),
        ("torch==2.8.0", "`torch.get_device_module().max_memory_allocated`"),
        ("torch==2.1.0", "`getattr(torch, device.type).max_memory_allocated`"),
        ("torch>=2.0", "`torch.accelerator.max_memory_allocated`"),
    ],
)
def test_what_is_proposed_depends_on_the_release(tmp_path: Path, release: str, instead: str) -> None:
    text = "import torch\n\n\ndef used():\n    return torch.cuda.max_memory_allocated()\n"
    files = {"requirements.txt": f"{release}\n", "memory.py": text}
    [finding] = check(written(tmp_path, files), select="agnostic", cache=False).findings
    assert instead in finding.message
    assert (finding.fix.applicability == "unsafe") == (release == "torch==2.9.1")


def test_the_helper_of_the_project_is_proposed_for_what_it_has(tmp_path: Path) -> None:
    messages = [one.message for one in found(tmp_path)]
    assert sum("`get_accelerator().empty_cache`" in one for one in messages) == 1
    assert sum("`torch.accelerator.synchronize`" in one for one in messages) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("def f(x):\n    if x.device.type == 'cuda':\n        torch.cuda.synchronize()\n", id="a branch"),
        pytest.param(
            "class CudaClock:\n    def now(self):\n        torch.cuda.synchronize()\n\n\nclass NpuClock:\n    pass\n",
            id="a class of several",
        ),
        pytest.param("def f():\n    return\n    torch.cuda.synchronize()\n", id="code that never runs"),
        pytest.param(
            "def f(x):\n    return x.to('cuda' if hasattr(torch, 'npu') is None else 'npu')\n",
            id="a choice with the NPU",
        ),
    ],
)
def test_code_for_cuda_on_purpose_is_left_alone(tmp_path: Path, text: str) -> None:
    places = {Path(one.path).name for one in found(tmp_path, lib_more=f"import torch\n\n\n{text}")}
    assert places == {"offload.py", "timing.py"}


def test_files_for_one_device_are_left_alone(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef now():\n    torch.cuda.synchronize()\n"
    places = {Path(one.path).name for one in found(tmp_path, lib_cuda_clock=text)}
    assert places == {"offload.py", "timing.py"}


def test_a_class_that_is_only_called_after_cuda_is_reported(tmp_path: Path) -> None:
    text = "import torch\n\n\nclass CudaClock:\n    def now(self):\n        torch.cuda.synchronize()\n"
    assert "more.py" in {Path(one.path).name for one in found(tmp_path, lib_more=text)}


def test_an_imported_name_of_torch_distributed_is_seen(tmp_path: Path) -> None:
    names = ("all_reduce", "broadcast", "barrier", "get_rank", "get_world_size")
    wrapper = "import torch\n\n" + "".join(
        f"\ndef {one}(*x):\n    return torch.distributed.{one}(*x)\n" for one in names
    )
    user = "import torch\nfrom lib import comm\n\n\ndef f(x):\n    comm.barrier()\n"
    other = "from torch import distributed as dist\nfrom lib import comm\n\n\ndef f(x):\n    dist.broadcast(x, src=0)\n"
    some = found(tmp_path, lib_comm=wrapper, lib_a=user, lib_b=other)
    assert [(Path(one.path).name, one.span.line) for one in some if one.code == "NPU24T0"] == [("b.py", 6)]


def test_the_names_are_those_of_pytorch() -> None:
    torch = framework("torch")
    for row in accelerator_names().values():
        for name, owner in ((row.member, torch.cuda), (row.instead.removeprefix("torch."), torch)):
            for part in name.split("."):
                owner = getattr(owner, part)
            assert callable(owner), name


def test_facts_tell_what_is_written_instead(tmp_path: Path) -> None:
    folder = written(tmp_path, LIBRARY)
    [fact] = [one for one in facts_of(str(folder / "lib" / "timing.py")) if one.kind == "cuda"]
    assert fact.get("instead") == "torch.accelerator.synchronize"
    assert (fact.get("instead_by"), fact.get("device_specific")) == ("accelerator", "no")


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_guide_shows_what_is_printed(tmp_path: Path, lang: str) -> None:
    guide = (ROOT / "docs" / lang / "agnostic.md").read_text(encoding="utf-8")
    [(words, output)] = re.findall(r"(?ms)^<!-- transcript -->\n```console\n\$ npulint ([^\n]+)\n(.*?)^```", guide)
    command = [sys.executable, "-m", "npulint", *words.split(), "--lang", lang]
    done = subprocess.run(
        command, cwd=written(tmp_path, LIBRARY), env={"PYTHONPATH": str(ROOT)}, capture_output=True, check=False
    )
    assert done.stdout.decode() == output

"""``npulint try``: programs with one fault each, run for a few steps on the fake NPU."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from npulint.fakes.scratch import Scratch
from npulint.hosts.cli.main import main
from tests.daily import parameters
from tests.live_support import installed, line_of

pytestmark = pytest.mark.slow

_HEAD = """
import os
import torch
import torch_npu
from torch import nn
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).npu()
opt = torch.optim.SGD(net.parameters(), 0.1)
pairs = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randn(64, 2))
data = torch.utils.data.DataLoader(pairs, 4)
"""
_LOOP = """
for x, y in data:
    x, y = x.npu(), y.npu()
    out = net(x)
    loss = nn.functional.mse_loss(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
_HCCL = """
import torch.distributed as dist
dist.init_process_group("hccl")
net = nn.parallel.DistributedDataParallel(net, device_ids=[0])
"""
_AMP = """
scaler = torch.npu.amp.GradScaler(init_scale=256.0)  # the default overflows by chance, and no step is made
for x, y in data:
    with torch.autocast("npu", dtype=torch.float16):
        loss = nn.functional.mse_loss(net(x.npu()), y.npu())
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()
"""
SOUND = {
    "plain": _LOOP,
    "mixed precision": _AMP,
    "one process of several": _HCCL + _LOOP,
    "classes of 32 bits": _LOOP.replace("mse_loss(out, y)", "cross_entropy(out, y.argmax(1).int())"),
    "files copied by another program": "try:\n    assert os.system('cp train.py copied.py') == 0\n"
    "except PermissionError:\n    pass  # a kernel without Landlock\n" + _LOOP,
    "size of the terminal": "rows, columns = os.popen('stty size').read().split()\n" + _LOOP,
    "no launcher": "assert 'RANK' not in os.environ and os.getcwd() not in sys.path[1:]\n".replace(
        "sys", "__import__('sys')"
    )
    + _LOOP,
}
FAULTS = {  # program, and the checks that may report the line with the mark
    "host tensor": (_LOOP.replace("(out, y)", "(out, y) + torch.zeros(1)  # here"), {"NPU41P0"}),
    "numpy": (_LOOP + "    out.detach().numpy()  # here\n", {"NPU41P1"}),
    "CUDA left": (_LOOP.replace("x, y = x.npu(), y.npu()", "x = x.cuda()  # here"), {"NPU41P2", "NPU2101"}),
    "CUDA behind a name": (
        _LOOP.replace("x, y = x.npu(), y.npu()", "x = x.to(os.environ.get('WHERE', 'cuda'))  # here"),
        {"NPU41P2", "NPU2101", "NPU2102"},
    ),
    "NCCL": (_HCCL.replace('"hccl")', '"nccl")  # here') + _LOOP, {"NPU41P3", "NPU2180"}),
    "unknown name": (_LOOP + "    torch.npu.sinchronise()  # here\n", {"NPU41P4", "NPU2172"}),
    "gradient scaler": (
        _AMP.replace("    scaler.step(opt)\n", "    scaler.unscale_(opt)\n    scaler.unscale_(opt)  # here\n"),
        {"NPU41R0"},
    ),
    "sparse gradients": (
        "table = nn.Embedding(9, 4, sparse=True).npu()\n"
        + _LOOP.replace("net(x)", "net(x + table(torch.arange(4).npu()))").replace("backward()", "backward()  # here"),
        {"NPU4152", "NPU4151"},
    ),
    "float64": (
        "net = net.double()\n" + _LOOP.replace("net(x)", "net(x.double())  # here"),
        {"NPU41P5", "NPU2341"},
    ),
}


def tried(folder: Path, program: str, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any, str]:
    """The exit code, the report as JSON and standard error of a program."""
    installed("torch")
    (folder / "train.py").write_text(_HEAD + textwrap.dedent(program))
    code = main(["try", "--format", "json", "--isolated", *words, "train.py"])
    told = capsys.readouterr()
    return code, json.loads(told.out) if told.out else None, told.err


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_LANG", "en")


@pytest.mark.daily
@pytest.mark.parametrize("name", parameters(SOUND, str, per_group=1))
def test_a_sound_program_has_no_error(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, said = tried(tmp_path, SOUND[name], capsys)
    assert (code, [one for one in found["findings"] if one["severity"] == "error"]) == (0, [])
    assert "Ended after 3 steps." in said and "runs this program: train.py" in said


@pytest.mark.parametrize("name", parameters(FAULTS, str, per_group=1))
def test_what_stops_on_an_npu_is_an_error_at_its_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program, codes = FAULTS[name]
    code, found, _ = tried(tmp_path, program, capsys, "--target", "soc=910A")
    line = line_of(tmp_path / "train.py", "# here")
    errors = [one for one in found["findings"] if one["severity"] == "error"]
    assert code == 1
    assert {one["code"] for one in errors} <= codes and len(errors) == 1
    assert (errors[0]["path"], errors[0]["line"]) == ("train.py", line)


@pytest.mark.nightly
def test_an_error_that_says_nothing_about_the_npu_is_no_finding(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found, said = tried(tmp_path, "net(torch.ones(1, 4).npu())\nopen('data.bin')\n" + _LOOP, capsys)
    assert (code, found["findings"]) == (2, [])
    assert "FileNotFoundError" in said and "says nothing about the NPU" in said


@pytest.mark.nightly
def test_a_program_on_the_cpu_shows_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, said = tried(tmp_path, "net = net.cpu()\n" + _LOOP.replace(".npu()", ""), capsys, "--lang", "zh")
    head = _HEAD.replace(".npu()", "")
    (tmp_path / "train.py").write_text(head + _LOOP.replace(".npu()", ""))
    assert main(["try", "train.py"]) == 2
    assert "no operator ran on the NPU" in capsys.readouterr().err
    assert code == 0 and found["findings"] == [] and "步后结束" in said


def test_the_text_names_the_errors_of_the_source_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    installed("torch")
    never = "torch.distributed.init_process_group('nccl')\n"
    program = _HEAD + _LOOP + "    out.detach().numpy()\n" + never
    (tmp_path / "train.py").write_text(program)
    assert main(["try", "--isolated", "train.py"]) == 1
    told = capsys.readouterr().out
    line = line_of(tmp_path / "train.py", "nccl")
    assert f"train.py:{line}" in told and "not reached" in told and "Operators  NPU" in told


@pytest.mark.nightly
def test_waits_in_libraries_name_their_function(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    installed("torch")
    (tmp_path / "train.py").write_text(_HEAD + _AMP + "    loss.item()\n")
    assert main(["try", "--isolated", "train.py"]) == 0
    told = capsys.readouterr().out
    lines = [line_of(tmp_path / "train.py", text) for text in ("scaler.step", "loss.item")]
    rows = [row for row in map(str.split, told.partition("The host waits for the device")[2].split("\n")) if row]
    waits = {row[row.index("1") + 1]: row for row in rows[2:4]}
    assert "grad_scaler.py" in waits[f"train.py:{lines[0]}"][-3] and "(GradScaler)" in waits[f"train.py:{lines[0]}"]
    assert waits[f"train.py:{lines[1]}"] == [".item()", "1", f"train.py:{lines[1]}"]


def test_check_imports_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_HEAD + _LOOP)
    text = (
        "import sys\nfrom npulint.hosts.cli.main import main\nmain(['check', '--no-cache', 'train.py'])\n"
        "print([name for name in sys.modules if name.startswith(('torch', 'npulint.fakes', 'npulint.live'))])"
    )
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    done = subprocess.run([sys.executable, "-c", text], env=where, capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")


def test_nothing_of_the_users_is_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    program = f"""
        import socket, subprocess, sys
        there = {str(outside)!r}
        def refused(work, *errors):
            try:
                work()
            except errors:
                return
            raise AssertionError(work)
        refused(lambda: open(there + "/new", "w"), PermissionError)
        refused(lambda: os.remove(there + "/kept"), PermissionError)
        refused(lambda: os.makedirs(there + "/folder"), PermissionError)
        refused(lambda: os.system("true"), PermissionError)
        refused(lambda: socket.create_connection(("192.0.2.1", 80), 1), OSError)
        refused(lambda: subprocess.run([sys.executable, "-c", f"open({{there!r}} + '/new', 'w')"], check=True),
                subprocess.CalledProcessError)
        os.makedirs(there, exist_ok=True)
        torch.save({{}}, there + "/saved.pt")
        torch.save({{}}, "saved.pt")
        open("log.txt", "w").close()
        assert open(there + "/kept").read() == "kept" and os.path.exists("saved.pt")
    """
    inner = tmp_path / "work"
    inner.mkdir()
    monkeypatch.chdir(inner)
    code, _, said = tried(inner, textwrap.dedent(program) + _LOOP, capsys)
    assert code == 0, said
    assert sorted(path.name for path in inner.iterdir()) == ["train.py"]
    assert [path.name for path in outside.iterdir()] == ["kept"]


@pytest.mark.nightly
def test_arguments_modules_and_limits(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    installed("torch")
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "__init__.py").write_text("")
    program = _HEAD + "import sys\nprint(sys.argv[1:], __name__)\n" + _LOOP.replace("for", "while True:\n  for", 1)
    program = program.replace("\n    ", "\n      ")
    (tmp_path / "part" / "run.py").write_text(program)
    assert main(["try", "-m", "--steps", "1", "part.run", "--", "--lr", "0.1"]) == 0
    told = capfd.readouterr()
    assert "['--lr', '0.1'] __main__" in told.err and "Ended after 1 step." in told.out
    (tmp_path / "part" / "run.py").write_text(_HEAD + "net(torch.ones(1, 4).npu())\nimport time\ntime.sleep(600)\n")
    started = time.monotonic()
    assert main(["try", "--time-limit", "6", "part/run.py"]) == 0
    assert time.monotonic() - started < 60 and "Ended by the time limit" in capfd.readouterr().out


def test_an_interrupt_ends_the_program(tmp_path: Path) -> None:
    installed("torch")
    (tmp_path / "train.py").write_text(
        "import os, time\nopen('/dev/null')\nprint('PID', os.getpid(), flush=True)\ntime.sleep(600)\n"
    )
    command = [sys.executable, "-m", "npulint", "try", "train.py"]
    where = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
    with subprocess.Popen(command, cwd=tmp_path, env=where, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        number = next(int(line.split()[1]) for line in process.stderr if line.startswith("PID"))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)


def test_without_a_script_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["try", "train.py"]) == 2
    assert "there is no script train.py" in capsys.readouterr().err


def test_the_copy_links_what_is_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.fakes.scratch._LARGEST", 10)
    monkeypatch.setattr("npulint.fakes.scratch._DATA", 3)
    project, copy = tmp_path / "project", tmp_path / "copy"
    for name, size in {"a.py": 5, "big.bin": 11, "data/0": 1, "data/1": 1, "data/2": 1, ".git/config": 1}.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_bytes(b"x" * size)
    scratch = Scratch(str(project), str(copy))
    scratch.fill("en")
    assert {path.name: path.is_symlink() for path in copy.iterdir()} == {"a.py": False, "big.bin": True, "data": True}
    assert scratch.back(scratch.there(str(project / "a.py"))) == str(project / "a.py")
    assert scratch.there("/elsewhere/a.py") == "/elsewhere/a.py"


@pytest.mark.nightly
def test_every_format_has_the_step_and_differences_are_explained(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = _LOOP.replace("opt.zero_grad()", "opt.zero_grad(); bool(loss > 9)") + "    print(loss.item())\n"
    never = "torch.distributed.init_process_group('nccl')\n"
    words = (
        "--explain-differences",
        "--target",
        "soc=910A",
        "--output",
        "html=out.html",
        "--output",
        "markdown=out.md",
    )
    code, found, _ = tried(tmp_path, program + never, capsys, *words)
    step, weights = found["step"], (4 * 8 + 8 + 8 * 2 + 2) * 4
    assert code == 0 and step["steps"] == 3 and step["runs"]["npu"] > 30
    assert {(one["cause"], one["count"]) for one in step["waits"]} == {("bool", 3), ("item", 3)}
    memory = step["memory"]
    assert (memory["classes"]["parameters"], memory["classes"]["gradients"], memory["fits"]) == (
        weights,
        weights,
        "yes",
    )
    assert memory["capacity"] == 32 << 30 and memory["peak"] == sum(memory["classes"].values())
    source = tmp_path / "train.py"
    status = {one["line"]: one["status"] for one in step["static"]}
    assert status[line_of(source, "print(loss")] == "confirmed" and status[line_of(source, "nccl")] == "missed"
    assert [(one["kind"], one["line"]) for one in step["differences"]] == [("live_only", line_of(source, "bool("))]
    assert step["picture"]["stretches"] and step["picture"]["operators"] * 2 < sum(step["counts"].values()) < 200
    page = (tmp_path / "out.html").read_text()
    assert 'class="strip"' in page and 'class="mem-parameters"' in page and "live_only" not in page
    assert "Where source check and run differ" in (tmp_path / "out.md").read_text()


@pytest.mark.nightly
def test_a_release_without_records_is_named_in_the_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, found, said = tried(tmp_path, _LOOP, capsys, "--target", "torch=1.11")
    assert code == 0 and found["target"]["torch"] == "1.11 (specified), judged by the kernels of 2.1"
    assert any("1.11" in note and "2.1" in note for note in found["step"]["notes"]) and "2.1" in said


def test_the_copy_has_what_is_beside_the_folder(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for name in (".git/config", "data/big/0", "shared/a.py", "examples/one/train.py", "examples/two.py"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(name)
    scratch = Scratch.around(str(project / "examples" / "one"), str(tmp_path / "copy"))
    scratch.fill("en")
    there = Path(scratch.copy)
    assert (there / "train.py").exists() and not (there / "../../.git").exists()
    assert (there / "../two.py").read_text() == "examples/two.py" and not (there / "../two.py").is_symlink()
    assert (there / "../../data/big/0").read_text() == "data/big/0"
    assert scratch.back(str((there / "../../shared/a.py").resolve())) == str(project / "shared" / "a.py")

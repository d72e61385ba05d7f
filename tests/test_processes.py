"""Child processes: what they may import, what passes between them and this process, and how they end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from npulint.commands.check.pipeline import run
from npulint.core import processes
from npulint.core.errors import CatalogueError, CatalogueProblem, ConfigError, NpulintError
from npulint.core.processes import (
    Child,
    ChildFault,
    ChildPool,
    Children,
    Ended,
    Limits,
    neutral_environment,
    search_path,
)
from npulint.judge.settings import Settings

ROOT = Path(__file__).parent.parent
_PROBLEMS = [CatalogueProblem("a.yaml", 1, 1, "no text"), CatalogueProblem("b.yaml", 3, 1, "no code")]
_ERRORS: dict[str, Exception] = {
    "catalogue": CatalogueError(_PROBLEMS),
    "configuration": ConfigError(["one", "two"]),
    "user": NpulintError("no"),
    "fault": ZeroDivisionError("none"),
}


def answer(request: Any) -> Any:
    """What the children of these tests do: called there by name."""
    name, value = request
    if name == "error":
        raise _ERRORS[value]
    if name == "exit":
        os._exit(3)
    if name == "sleep":
        time.sleep(value)
    if name == "print":
        print("noise", flush=True)
        os.write(1, b"noise")
    if name == "state":
        return os.getcwd(), os.getpid(), sys.path, sys.flags.isolated, os.environ.get("NPULINT_LANG")
    return value


TARGET = "tests.test_processes:answer"


@pytest.fixture(scope="module")
def child() -> Any:
    child = Child(TARGET)
    yield child
    child.close()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.mark.parametrize(
    "value",
    [None, b"\0" * 300_000, ["\udce4.py", {"a": (1, 2.5, True)}], "\u4e2d" * 100_000, {}],
    ids=["none", "many bytes", "a name that is no text", "a long text", "empty"],
)
def test_any_message_passes(child: Child, value: object) -> None:
    assert child.ask(("echo", value)) == value


def test_relative_paths_mean_the_same(child: Child, here: Path) -> None:
    folder, _, path, isolated, _ = child.ask(("state", None))
    assert (folder, isolated) == (str(here), 1)
    assert all(map(os.path.isabs, path)) and str(here) not in path


def test_what_others_print_is_no_message(child: Child) -> None:
    assert child.ask(("print", 5)) == 5


@pytest.mark.parametrize("kind", _ERRORS)
def test_errors_arrive_as_they_are(child: Child, kind: str) -> None:
    sent = _ERRORS[kind]
    with pytest.raises(ChildFault if kind == "fault" else type(sent)) as caught:
        child.ask(("error", kind))
    assert str(sent) in str(caught.value)
    assert getattr(caught.value, "problems", None) == getattr(sent, "problems", None)
    assert child.ask(("echo", 1)) == 1


def test_the_environment_is_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NPULINT_LANG", "zh")
    with ChildPool(TARGET, 1) as pool:
        assert pool.submit(lambda: ("state", None)).result()[-1] == "zh"


def test_a_used_child_that_was_killed_is_replaced_and_a_new_one_is_not() -> None:
    children = Children(TARGET)
    first = children.ask(("state", None))[1]
    os.kill(first, signal.SIGKILL)
    assert children.ask(("state", None))[1] != first
    with pytest.raises(Ended, match="ended"):
        children.ask(("exit", None))
    assert children.ask(("echo", 1)) == 1
    children.close()
    assert not children.started


def test_a_worn_child_is_replaced() -> None:
    children = Children(TARGET, worn=1)
    assert children.ask(("state", None))[1] != children.ask(("state", None))[1]
    children.close()


@pytest.mark.parametrize(("limits", "failure"), [(Limits(0.1, 1 << 40), "time"), (Limits(60, 1), "memory")])
def test_what_exceeds_a_limit_is_ended(child: Child, limits: Limits, failure: str) -> None:
    children = Children(TARGET)
    children.ask(("echo", 1))
    with pytest.raises(Ended, match=failure):
        children.ask(("sleep", 60), limits)
    children.close()


def test_leaving_a_pool_ends_what_is_under_way() -> None:
    begun = time.monotonic()
    with ChildPool(TARGET, 1) as pool:
        pids = [pool.submit(lambda: ("state", None)).result()[1]]
        futures = [pool.submit(lambda: ("sleep", 600)) for _ in range(3)]
    assert time.monotonic() - begun < 60 and all(future.done() for future in futures)
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)


def test_a_child_ends_with_its_parent() -> None:
    code = (
        f"from npulint.core.processes import Child; import os; child = Child({TARGET!r}); child.ask(('echo', 1));"
        "print(child.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    pid = int(done.stdout)
    end = time.monotonic() + 20
    while Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < end
        time.sleep(0.02)


def test_where_no_python_can_be_started_this_process_does_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "setup.py").write_text("")
        (tmp_path / name / "train.py").write_text("import torch\nx = torch.ones(1).cuda()\n")
    monkeypatch.chdir(tmp_path)
    alone = run(Settings(jobs=1, cache=False))
    monkeypatch.setattr(processes, "own_interpreter", lambda: "/bin/false")
    assert alone.findings and run(Settings(jobs=2, cache=False)).findings == alone.findings


def test_the_search_path_has_no_entry_in_the_folders(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_SIDE_BY_SIDE", ("npulint",))
    checked, kept = tmp_path / "checked", tmp_path / "kept"
    (tmp_path / "link").symlink_to(here)
    entries = [
        "",
        ".",
        "lib",
        str(here),
        str(here / "src"),
        str(tmp_path / "link"),
        str(checked / "x"),
        str(kept),
        b"x",
    ]
    monkeypatch.setattr(sys, "path", [*entries, *sys.path])
    found = search_path([str(checked)])
    assert found[0] == str(kept)
    assert not {str(here), str(here / "src"), str(tmp_path / "link"), str(checked / "x")} & {*found}


def test_an_environment_within_the_folder_stays(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside, beside = str(here / ".venv" / "lib" / "packages"), str(here / "lib")
    monkeypatch.setattr(sys, "prefix", str(here / ".venv"))
    monkeypatch.setattr(sys, "path", [beside, inside, *sys.path])
    assert inside in search_path() and beside not in search_path()
    monkeypatch.setattr(sys, "prefix", str(here))  # the folder is an environment itself
    assert not {inside, beside} & {*search_path()}


@pytest.mark.parametrize("folder", ["/", str(ROOT), str(Path(os.__file__).parent)])
def test_npulint_and_the_interpreter_are_found_wherever_they_are(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    child = Child("npulint.core.digest:blake2b")
    with pytest.raises(ChildFault, match="must be encoded"):
        child.ask("not bytes")
    child.close()


def test_a_home_that_no_entry_names_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    assert str(ROOT) in search_path()


def test_interpreters_of_the_user_get_absolute_entries_outside(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for given, expected in (
        (f":/opt/cann/python::.:{here}:{here}/src:lib:/opt/more", "/opt/cann/python:/opt/more"),
        (":", None),
    ):
        monkeypatch.setenv("PYTHONPATH", given)
        assert neutral_environment().get("PYTHONPATH") == expected
    monkeypatch.delenv("PYTHONPATH")
    assert "PYTHONPATH" not in neutral_environment()


_STARTS = re.compile(
    r"^\s*(?:import|from) multiprocessing|\bsys\.executable|^\s*from concurrent\.futures.*import.*\bProcessPoolExecutor"
    r"|\bos\.(?:system|popen|fork|exec\w+|spawn\w+|posix_spawnp?)\(",
    re.MULTILINE,
)
_PROGRAMS = re.compile(r"^\s*(?:import|from) subprocess", re.MULTILINE)


def test_python_is_started_in_one_place() -> None:
    folder = ROOT / "npulint"
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}
    texts = {name: text for name, text in texts.items() if not name.startswith("fakes/")}
    starting = {name: _STARTS.findall(text) for name, text in texts.items() if _STARTS.search(text)}
    assert starting == {
        "core/processes.py": ["sys.executable"],
        "hosts/flake8_plugin.py": ["import multiprocessing"],  # asks whether flake8 has started this process
    }
    assert {name for name, text in texts.items() if _PROGRAMS.search(text)} == {
        "core/processes.py",
        *("discover/revision.py", "survey/clones.py", "commands/port/commit.py"),  # git
        "doctor/machine.py",  # the tools of the machine
    }

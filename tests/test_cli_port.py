"""``npulint port`` from the command line: what it prints, writes and commits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.git_support import ALONE, commit, git
from tests.port_samples import DDP, PLAIN
from tests.project_support import Project

ALL = {name: text.encode() for name, text in {**DDP, "net.py": PLAIN["net.py"]}.items()}
QUIET = ("--no-cache",)


@pytest.fixture
def gpu(project: Project) -> Project:
    return project.write(ALL)


@pytest.fixture
def repository(gpu: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    commit(gpu.folder)
    for name, value in ALONE.items():
        monkeypatch.setenv(name, value)
    return gpu


def test_the_plan_is_text_and_writes_nothing(gpu: Project) -> None:
    answer = gpu.run("port", ".", *QUIET)
    assert answer.code == 0
    assert answer.out.startswith("Port to Ascend NPUs: ") and "\n1. Device set-up\n" in answer.out
    assert '-     parser.add_argument("--backend", default="nccl")' not in answer.out
    assert '    + parser.add_argument("--backend", default="hccl")' in answer.out
    assert "main.py  ported: it trains on the NPU" in answer.out
    assert "Next: " in answer.err
    assert {name: (gpu.folder / name).read_bytes() for name in ALL} == ALL


def test_the_plan_in_chinese(gpu: Project) -> None:
    answer = gpu.run("port", ".", "--lang", "zh", *QUIET)
    assert answer.out.startswith("迁移到昇腾 NPU：") and "已迁移：训练在 NPU 上执行" in answer.out


def test_the_plan_as_json(gpu: Project) -> None:
    document = json.loads(gpu.run("port", ".", "--format", "json", *QUIET).out)
    assert (document["version"], document["style"]) == (1, "npu")
    item = document["steps"][0]["items"][0]
    assert item["sure"] == "review" and item["places"] and item["why"] and item["edits"][0]["after"]
    assert document["programs"][0]["status"] == "trains"


def test_the_plan_as_markdown(gpu: Project) -> None:
    text = gpu.run("port", ".", "--format", "markdown", *QUIET).out
    assert text.startswith("# Port to Ascend NPUs\n") and "  ```diff\n" in text and "## Left to you" in text


def test_a_patch_can_be_applied(repository: Project) -> None:
    patch = repository.run("port", ".", "--diff", *QUIET).out
    git(repository.folder, "apply", given=patch.encode())
    assert 'default="hccl"' in (repository.folder / "main.py").read_text()
    assert repository.run("port", ".", "--diff", *QUIET).out == ""


def test_writing(gpu: Project) -> None:
    answer = gpu.run("port", ".", "--write", *QUIET)
    assert (answer.code, "Changed " in answer.err) == (0, True)
    assert "import torch_npu" in (gpu.folder / "main.py").read_text()
    assert "Nothing to port" in gpu.run("port", ".", "--write", *QUIET).out


@pytest.mark.parametrize("word", ["--write", "--commit"])
def test_what_a_killed_run_left_is_removed(repository: Project, word: str) -> None:
    left = repository.folder / ".main.py.0123456789abcdef.npulint"
    left.write_bytes(b"half")
    assert repository.run("port", ".", *QUIET).code == 0 and left.exists()
    assert repository.run("port", ".", word, *QUIET).code == 0 and not left.exists()


def test_a_file_that_a_killed_run_left_incomplete_is_named(gpu: Project) -> None:
    copy = ".main.py.0123456789abcdef.0123456789abcdef.npulint-old"
    gpu.write({copy: b"its content"})
    answer = gpu.run("port", ".", "--write", *QUIET)
    assert "main.py may be incomplete" in answer.err and copy in answer.err
    assert (gpu.folder / copy).read_bytes() == b"its content"


def test_each_step_is_a_commit_in_a_new_branch(repository: Project) -> None:
    before = git(repository.folder, "rev-parse", "HEAD")
    steps = [step["title"] for step in json.loads(repository.run("port", ".", "--format", "json", *QUIET).out)["steps"]]
    answer = repository.run("port", ".", "--commit", *QUIET)
    assert answer.code == 0 and "npulint-port" in answer.err
    subjects = git(repository.folder, "log", "--reverse", "--format=%s", f"{before}..HEAD").split("\n")
    named = [subject.partition(": ")[2] for subject in subjects]
    assert named == [step for step in steps if step in named] and len(named) > 1
    assert git(repository.folder, "branch", "--show-current") == "npulint-port"
    assert git(repository.folder, "status", "--porcelain") == ""
    assert git(repository.folder, "log", "-1", "--format=%an") == "a"


def test_a_branch_of_that_name_is_left_alone(repository: Project) -> None:
    git(repository.folder, "branch", "npulint-port")
    assert "npulint-port-2" in repository.run("port", ".", "--commit", *QUIET).err


def test_a_dirty_tree_is_refused(repository: Project) -> None:
    (repository.folder / "net.py").write_bytes(ALL["net.py"] + b"\n# mine\n")
    answer = repository.run("port", ".", "--commit", *QUIET)
    assert answer.code == 2 and "net.py" in answer.err
    assert git(repository.folder, "branch", "--format=%(refname:short)").count("npulint") == 0


def test_files_that_git_does_not_know_are_refused(repository: Project) -> None:
    git(repository.folder, "rm", "-q", "--cached", "net.py")
    git(repository.folder, "commit", "-q", "-m", "y")
    answer = repository.run("port", ".", "--commit", *QUIET)
    assert answer.code == 2 and "git does not track net.py" in answer.err


def test_a_hook_may_refuse(repository: Project) -> None:
    hook = repository.folder / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no port today >&2\nexit 1\n")
    hook.chmod(0o755)
    answer = repository.run("port", ".", "--commit", *QUIET)
    assert answer.code == 2 and "no port today" in answer.err


def test_no_other_program_of_the_repository_is_run_for_a_commit(repository: Project, tmp_path: Path) -> None:
    proof, program = tmp_path / "proof", tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\necho $0 >> {proof}\n")
    program.chmod(0o755)
    hooks = repository.folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "reference-transaction", "post-index-change", "post-commit"):
        (hooks / name).write_bytes(program.read_bytes())
        (hooks / name).chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "core.editor", "diff.external"):
        git(repository.folder, "config", key, str(program))
    proof.write_text("")
    assert repository.run("port", ".", "--commit", *QUIET).code == 0
    ran = {line.rpartition("/")[2] for line in proof.read_text().split()}
    assert ran <= {"reference-transaction", "post-index-change", "post-commit"} and "post-commit" in ran


def test_without_a_repository_there_is_no_commit(gpu: Project) -> None:
    answer = gpu.run("port", ".", "--commit", *QUIET, environ={})
    assert answer.code == 2 and "git" in answer.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("port",), "PROJECT"),
        (("port", "nowhere"), "nowhere"),
        (("port", ".", "--style", "magic"), "magic"),
        (("port", ".", "--write", "--commit"), "--commit"),
        (("port", ".", "--diff", "--format", "json"), "--format"),
        (("port", ".", "--entry", "nothing.py"), "nothing.py"),
    ],
)
def test_mistakes_are_named(gpu: Project, words: tuple[str, ...], message: str) -> None:
    answer = gpu.run(*words)
    assert answer.code == 2 and message in answer.err

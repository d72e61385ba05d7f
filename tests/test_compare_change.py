"""``npulint compare --git``: two states of one project, read from a git repository."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from npulint.commands.compare.compare_states import Range
from npulint.discover.revision import _is_plain
from npulint.hosts.cli.host import system
from npulint.hosts.cli.main import main
from tests.git_support import commit, environment, git

TRAIN = """\
import torch

LR = {lr}


def build():
    model = torch.nn.Linear(4, 2)
    return model, torch.optim.SGD(model.parameters(), lr=LR, momentum=0.9)


if __name__ == "__main__":
    model, optimizer = build()
    for data, label in torch.utils.data.DataLoader([], batch_size=32):
        loss = torch.nn.functional.cross_entropy(model(data), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one program, as working directory."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    (tmp_path / "train.py").write_text(TRAIN.format(lr="0.1"))
    (tmp_path / "README.md").write_text("x")
    commit(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, files: dict[str, str]) -> str:
    """Write files (None removes one) and commit; the commit."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return commit(folder)


def call(*words: str, environ: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of ``npulint compare``."""
    out, err = io.StringIO(), io.StringIO()
    host = msgspec.structs.replace(system(), environ=environ or {}, stdout=out, stderr=err)
    return main(["compare", *words], host), out.getvalue(), err.getvalue()


def report(*words: str) -> dict[str, Any]:
    """The JSON report, whatever the exit code."""
    code, out, err = call(*words, "--format", "json")
    assert code in (0, 1), err
    found: dict[str, Any] = json.loads(out)
    return found


def differing(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(what, before, after) of all rows that differ."""
    return [
        (row["what"], row["reference"]["text"], row["migrated"]["text"])
        for pair in found["comparison"]["pairs"]
        for item in pair["items"]
        for row in item["rows"]
        if row["answer"] == "differs"
    ]


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("main..topic", Range("main", "topic")),
        ("main...topic", Range("main", "topic", branched=True)),
        ("main..", Range("main", "HEAD")),
        ("..topic", Range("HEAD", "topic")),
        ("HEAD~2", Range("HEAD~2", "")),
    ],
)
def test_ranges_mean_what_they_mean_in_git(text: str, parsed: Range) -> None:
    assert Range.parsed(text) == parsed


def test_a_changed_value_is_reported_at_its_line_of_the_new_state(repository: Path) -> None:
    write(repository, {"train.py": "# a\n" + TRAIN.format(lr="0.4")})
    (repository / "train.py").write_text("nothing of this\n")  # the working tree is not what is compared
    code, out, err = call("--git", "HEAD~1..HEAD", "--fail-on", "warning")
    assert (code, err) == (1, "")
    assert "The training configuration changes" in out
    assert "train.py:4" in out and "4 | LR = 0.4" in out
    assert differing(report("--git", "HEAD~1..HEAD")) == [("LR", "0.1", "0.4")]


@pytest.mark.parametrize("files", [{"README.md": "y"}, {"train.py": "# comment\n" + TRAIN.format(lr="0.1")}])
def test_nothing_is_said_about_what_does_not_touch_the_training(repository: Path, files: dict[str, str]) -> None:
    write(repository, files)
    code, out, _ = call("--git", "HEAD~1..HEAD", "--format", "markdown", "--fail-on", "note")
    assert code == 0
    assert out.startswith("## The training configuration does not change\n") and len(out.splitlines()) <= 5


def test_the_state_before_is_not_judged(repository: Path) -> None:
    """The program sets no seed: a finding of an ordinary comparison, but not a result of the change."""
    write(repository, {"train.py": TRAIN.format(lr="0.4")})
    names = {finding["name"] for finding in report("--git", "HEAD~1..")["findings"]}
    assert names == {"learning-rate-differs"}


def test_the_working_tree_is_compared_with_a_single_revision(repository: Path) -> None:
    (repository / "train.py").write_text(TRAIN.format(lr="0.2"))
    found = report("--git", "HEAD")
    assert found["comparison"]["change"]["head_commit"] == ""
    assert [one["path"] for one in found["findings"]] == ["train.py"]


def test_files_of_the_revision_that_git_ignores_now_are_no_difference(repository: Path) -> None:
    write(repository, {"other/train.py": TRAIN.format(lr="0.3")})
    (repository / ".gitignore").write_text("other/\n")
    comparison = report("--git", "HEAD")["comparison"]
    assert comparison["only_reference"] == [] and comparison["change"]["files"] == 0


def test_a_branch_is_compared_with_where_it_began(repository: Path) -> None:
    git(repository, "branch", "base")
    write(repository, {"notes.txt": "x"})
    git(repository, "checkout", "-q", "base")
    write(repository, {"train.py": TRAIN.format(lr="0.9")})  # of the base, after the branch began
    git(repository, "checkout", "-q", "-")
    assert report("--git", "base..HEAD")["findings"]
    assert not report("--git", "base...HEAD")["findings"]


def test_a_moved_program_is_followed(repository: Path) -> None:
    (repository / "src").mkdir()
    git(repository, "mv", "train.py", "src/train.py")
    commit(repository)
    assert not report("--git", "HEAD~1..HEAD")["findings"]
    write(repository, {"src/train.py": TRAIN.format(lr="0.5")})
    (finding,) = report("--git", "HEAD~2..HEAD")["findings"]
    assert (finding["path"], finding["line"]) == ("src/train.py", 3)


def test_added_and_removed_programs_are_named(repository: Path) -> None:
    write(repository, {"b/other.py": TRAIN.format(lr="0.3").replace("Linear", "Conv2d")})
    _, out, _ = call("--git", "HEAD~1..HEAD")
    assert "New training programs: b/other.py" in out
    _, out, _ = call("--git", "HEAD..HEAD~1")
    assert "Removed training programs: b/other.py" in out


def test_a_folder_of_a_repository_is_compared_alone(repository: Path) -> None:
    write(repository, {"a/train.py": TRAIN.format(lr="0.1"), "b/train.py": TRAIN.format(lr="0.1")})
    write(repository, {"a/train.py": TRAIN.format(lr="0.2"), "b/train.py": TRAIN.format(lr="0.2")})
    found = report("--git", "HEAD~1..HEAD", "a")
    assert [one["path"] for one in found["findings"]] == ["a/train.py"]
    assert found["comparison"]["reference"].endswith(":./a")
    assert [one["path"] for one in report("--git", "HEAD~1..HEAD", "b/train.py")["findings"]] == ["b/train.py"]


def test_a_value_from_a_configuration_file_is_compared(repository: Path) -> None:
    code = "import yaml\n" + TRAIN.format(lr="yaml.safe_load(open('conf.yaml'))['lr']")
    write(repository, {"train.py": code, "conf.yaml": "lr: 0.1\n"})
    write(repository, {"conf.yaml": "lr: 0.7\n"})
    found = report("--git", "HEAD~1..HEAD")
    assert [(one["path"], one["line"]) for one in found["findings"]] == [("conf.yaml", 1)]


@pytest.mark.parametrize(
    ("environ", "subject"),
    [({"GITHUB_ACTIONS": "true"}, "This pull request"), ({"GITLAB_CI": "true"}, "This merge request")],
)
def test_a_comment_names_what_the_server_calls_it(repository: Path, environ: dict[str, str], subject: str) -> None:
    write(repository, {"train.py": TRAIN.format(lr="0.4")})
    _, out, _ = call("--git", "HEAD~1..HEAD", "--format", "markdown", environ=environ)
    assert out.startswith(f"## {subject} changes the training configuration\n")
    assert "| learning rate `LR` | `0.1`<br>`train.py:3` | `0.4`<br>[`train.py:3`](train.py#L3) |" in out
    assert "learning-rate-differs" in out and ":./" not in out.split("###")[0]


def test_a_comment_is_written_in_chinese(repository: Path) -> None:
    write(repository, {"train.py": TRAIN.format(lr="0.4")})
    _, out, _ = call("--git", "HEAD~1..", "--format", "markdown", "--lang", "zh", environ={"GITHUB_ACTIONS": "1"})
    assert out.startswith("## 本次拉取请求改变了训练配置\n") and "| 学习率 `LR` |" in out


@pytest.mark.parametrize("words", [("--git", "nowhere..HEAD"), ("--git", "HEAD...nowhere"), ("--git", "--output=x")])
def test_an_unknown_revision_is_an_error_with_advice(repository: Path, words: tuple[str, ...]) -> None:
    code, out, err = call(f"{words[0]}={words[1]}")
    assert (code, out) == (2, "") and "fetch-depth: 0" in err


def test_two_folders_make_no_sense_with_a_range(repository: Path) -> None:
    code, _, err = call("--git", "HEAD", ".", "train.py")
    assert code == 2 and "train.py" in err


def test_nothing_of_a_hostile_repository_runs_or_leads_out(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.py"
    outside.write_text(TRAIN.format(lr="0.77"))
    ran = outside.parent / "ran"
    (repository / "link.py").symlink_to(outside)
    (repository / "big.py").write_text("#" * 2_100_000)
    (repository / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    write(repository, {"train.py": TRAIN.format(lr="0.4")})
    for key, value in {
        "filter.evil.smudge": f"touch {ran}",
        "diff.evil.textconv": f"touch {ran}",
        "core.fsmonitor": f"touch {ran}",
        "core.sshCommand": f"touch {ran}",
    }.items():
        git(repository, "config", key, value)
    found = report("--git", "HEAD~1..HEAD")
    assert not ran.exists()
    assert "0.77" not in json.dumps(found)
    assert [one["path"] for one in found["unread"]] == ["big.py"]
    assert [one["path"] for one in found["findings"]] == ["big.py", "train.py"]
    write(repository, {"train.py": TRAIN.format(lr="0.5"), "broken.py": "def"})
    write(repository, {"train.py": TRAIN.format(lr="0.6")})
    assert [one["path"] for one in report("--git", "HEAD~1..HEAD")["findings"]] == ["train.py"]


@pytest.mark.parametrize(
    "path", ["../x.py", "a/../../x.py", "/x.py", ".git/hooks/x.py", "a//x.py", "./x.py", "a/.GIT/x.py"]
)
def test_forged_names_of_a_tree_are_left_out(path: str) -> None:
    assert not _is_plain(path)
    assert _is_plain("a/..x/y.py")


def test_forged_trees_are_written_inside_the_folder_only(repository: Path) -> None:
    """git itself refuses to make such a tree, but not to list it."""
    blob = git(repository, "hash-object", "-w", "--stdin", given=TRAIN.format(lr="0.5").encode())
    entry = b"100644 ../evil.py\0" + bytes.fromhex(blob)
    tree = git(repository, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=entry)
    forged = git(repository, "commit-tree", tree, "-m", "x")
    code, out, err = call("--git", f"HEAD..{forged}")
    assert code in (0, 1), err
    assert "evil" not in out and not (repository.parent / "evil.py").exists()


def test_a_file_and_a_folder_of_one_name_do_no_harm(repository: Path) -> None:
    blob = git(repository, "hash-object", "-w", "--stdin", given=b"x = 1\n")
    inner = git(repository, "mktree", given=f"100644 blob {blob}\tb.py\n".encode())
    entry = b"100644 a.py\0" + bytes.fromhex(blob) + b"40000 a.py\0" + bytes.fromhex(inner)
    tree = git(repository, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=entry)
    forged = git(repository, "commit-tree", tree, "-m", "x")
    assert call("--git", f"HEAD..{forged}")[0] in (0, 1)

"""Data files that programs load, in whole runs: which are read, what an edit changes, and what they cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.session import Session
from npulint.discover.context_files import context_files
from npulint.discover.files import DiscoverOptions, discover
from npulint.discover.kinds import DATA_LIMIT
from npulint.discover.projects import MOST_DATA, group
from npulint.judge.settings import Settings
from tests.project_support import Project

CHECK = "adapter-option-bad-value"
CODE = """\
import tensorflow as tf
import yaml
from npu_bridge.npu_init import *

with open("config.yaml") as file:
    cfg = yaml.safe_load(file)
config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
op.parameter_map["precision_mode"].s = tf.compat.as_bytes(cfg["npu"]["precision_mode"])
with tf.Session(config=config) as session:
    session.run(train_op)
"""
BAD, GOOD = "npu:\n  precision_mode: allow_fp33\n", "npu:\n  precision_mode: allow_mix_precision\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    return Project(tmp_path / "work").write({"train.py": CODE, "config.yaml": BAD})


def said(project: Project, *words: str) -> list[str]:
    return project.run("check", "--format=json", *(words or (str(project.folder.name),))).names


def kinds(folder: Path) -> dict[str, str]:
    return {Path(one.path).name: one.kind for one in discover([str(folder)]).files}


def test_an_edit_of_the_file_changes_the_answer(project: Project) -> None:
    assert CHECK in said(project)
    assert CHECK in said(project)  # from the cache
    project.write({"config.yaml": GOOD})
    assert CHECK not in said(project)
    project.write({"config.yaml": BAD})
    assert CHECK in said(project)
    (project.folder / "config.yaml").unlink()
    assert CHECK not in said(project)


def test_an_edit_changes_the_answer_of_a_large_project(project: Project) -> None:
    project.write({f"part{number}.py": f"import torch\nx = torch.ones({number})\n" for number in range(60)})
    assert CHECK in said(project)
    project.write({"config.yaml": GOOD})
    assert CHECK not in said(project)


def test_a_script_that_is_named_alone_has_its_file(project: Project) -> None:
    project.write({"pyproject.toml": ""})
    assert CHECK in said(project, "work/train.py")
    options = DiscoverOptions()
    found = discover(["work/train.py"], options)
    assert "data" in {one.kind for one in context_files(found, options)}


def test_files_are_listed_by_what_they_may_be(project: Project) -> None:
    project.write(
        {
            "a.json": "{}",
            "b.toml": "a = 1\n",
            "c.yml": "a: 1\n",
            "empty.yaml": "",
            "long.yaml": "a: 1\n" * DATA_LIMIT,
            "notes.txt": "a: 1\n",
            ".venv/d.yaml": "a: 1\n",
        }
    )
    found = kinds(project.folder)
    assert {name for name, kind in found.items() if kind == "data"} == {"a.json", "b.toml", "c.yml", "config.yaml"}
    assert "long.yaml" not in found


def test_no_data_file_counts_without_code(tmp_path: Path) -> None:
    Project(tmp_path).write({"a.yaml": "a: 1\n", "b/c.json": "{}", "run.sh": "python -m train\n"})
    assert kinds(tmp_path) == {"run.sh": "shell"}
    project = Project(tmp_path / "more").write({"code/train.py": CODE, "code/README.md": "", "data/x.yaml": "a: 1\n"})
    groups = group(discover([str(project.folder)]).files)
    assert all(any(one.kind == "python" for one in files) for files in groups.values())


def test_thousands_of_files_are_records(project: Project) -> None:
    project.write({f"records/{number}.json": "{}" for number in range(MOST_DATA)})
    groups = group(discover([str(project.folder)]).files)
    assert [one.kind for files in groups.values() for one in files] == ["python"]


def test_data_files_are_no_checked_files(project: Project) -> None:
    project.write({"other.yaml": "precision_mode: force_fp16\n"})
    document = project.run("check", "--format=json", "work").document
    assert document["summary"]["files"] == 1
    assert project.run("check", "--show-files", "work").out == "work/train.py\n"


def test_a_link_that_leads_out_is_not_followed(project: Project, tmp_path: Path) -> None:
    (project.folder / "config.yaml").unlink()
    (tmp_path / "secret.yaml").write_text(BAD)
    (project.folder / "config.yaml").symlink_to(tmp_path / "secret.yaml")
    assert CHECK not in said(project)


def test_a_session_follows_the_editor(project: Project) -> None:
    session = Session(Settings(paths=("work",)))

    def names() -> list[str]:
        checked = session.check("work/train.py")
        assert set(checked.findings) == {"work/train.py"}
        return [one.name for found in checked.findings.values() for one in found]

    assert CHECK in names()
    session.change("work/config.yaml", GOOD.encode())
    assert CHECK not in names()
    session.change("work/config.yaml", None)
    assert CHECK in names()
    project.write({"config.yaml": GOOD})
    session.touched(["work/config.yaml"])
    assert CHECK not in names()


UNREADABLE = ("a: &a [x]\nb: *c\n", "k: [" * 3000, "\x00\x01", "a: !!python/object/apply:os.abort []")


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_file_that_cannot_be_read_is_no_problem(project: Project, text: str) -> None:
    project.write({"config.yaml": text})
    answer = project.run("check", "--format=json", "work")
    assert CHECK not in answer.names
    assert "config.yaml" not in answer.out

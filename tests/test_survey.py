"""``npulint survey`` on real folders: results, broken projects, hostile names, git addresses."""

from __future__ import annotations

import importlib
import importlib.util
import os

import pytest

from tests.git_support import ALONE, commit, git
from tests.project_support import Project
from tests.survey_support import QUIET, TRAIN, by_name, compared, fleet, rows, survey
from tests.tools import missing

pytestmark = pytest.mark.slow


@pytest.fixture
def three(project: Project) -> Project:
    """A folder with a fleet of three."""
    fleet(project.folder / "fleet", 3)
    return project


def test_a_survey_has_tables_reports_and_a_page(three: Project) -> None:
    answer = survey(three, "--jobs", "2")
    out = three.folder / "out"
    assert answer.code == 0
    assert answer.out.splitlines()[0] == "3 projects" and f"Dashboard: {out}/index.html" in answer.out
    projects = by_name(out)
    assert list(projects) == ["project00", "project01", "project02"]
    one = projects["project01"]
    assert (one["status"], one["frameworks"], one["files"], one["lines"]) == ("checked", "torch", "1", "8")
    assert one["verdict"] == "blocked" and int(one["errors"]) > 0 and one["blockers"]
    assert 0 < float(one["ready_share"]) < 1 and float(one["effort_low"]) <= float(one["effort_mid"])
    findings = [row for row in rows(out, "findings") if row["project"] == "project01"]
    assert {row["path"] for row in findings} == {"train.py"}
    assert sum(row["severity"] == "error" for row in findings) == int(one["errors"])
    items = [row for row in rows(out, "readiness") if row["project"] == "project01"]
    assert sum(row["status"] == "passed" for row in items) == int(one["passed"])
    report = (out / one["report"]).read_text(encoding="utf-8")
    assert "torch.nn.Linear" in report
    page = (out / "index.html").read_text(encoding="utf-8")
    assert 'src":"' in page and '"r":"reports/project01.html"' in page


def test_another_run_checks_what_changed(three: Project) -> None:
    survey(three)
    before = compared(three.folder / "out")
    again = survey(three)
    assert "3 unchanged projects were not checked again" in again.err
    assert compared(three.folder / "out") == before
    (three.folder / "fleet" / "project01" / "train.py").write_text("print(1)\n")
    assert "2 unchanged" in survey(three).err
    assert by_name(three.folder / "out")["project01"]["verdict"] == "unused"
    os.unlink(three.folder / "out" / "reports" / "project00.html")
    assert "2 unchanged" in survey(three).err
    (three.folder / "out" / "reports" / "project00.html").write_text("of a run that was killed before it kept its part")
    assert "2 unchanged" in survey(three).err
    assert "project00" in (three.folder / "out" / "reports" / "project00.html").read_text(encoding="utf-8")
    assert "unchanged" not in survey(three, "--target", "soc=Ascend910A").err
    assert "unchanged" not in survey(three, "--restart", "--target", "soc=Ascend910A").err


def test_options_of_checks_apply_to_all_projects(three: Project) -> None:
    own = three.folder / "own.toml"
    own.write_text('min-severity = "error"\n')
    assert survey(three, "--config", "own.toml", *QUIET).code == 0
    assert {row["severity"] for row in rows(three.folder / "out", "findings")} == {"error"}
    (three.folder / "fleet" / "project00" / "npulint.toml").write_text("min-severity = 'loud'\n")
    assert survey(three, "--isolated", "--select", "NPU2101", "--lang", "zh", *QUIET).code == 0
    found = rows(three.folder / "out", "findings")
    assert {row["code"] for row in found} <= {"NPU2101"}
    assert 'lang="zh-CN"' in (three.folder / "out" / "index.html").read_text(encoding="utf-8")


def test_broken_projects_end_nothing(three: Project) -> None:
    folder = three.folder / "fleet"
    for name in ("bytes", "config", "locked"):
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(TRAIN.format(size=3))
    (folder / "bytes" / "train.py").write_bytes(b"\xff\xfe\x00def (((" * 50)
    (folder / "config" / "npulint.toml").write_text("min-severity = 'loud'\n")
    os.mkfifo(folder / "locked" / "pipe.py")
    (three.folder / "list.txt").write_text("fleet/*\nnowhere\n")
    answer = survey(three, "list.txt", *QUIET)
    projects = by_name(three.folder / "out")
    assert answer.code == 1 and "2  Could not be checked" in answer.out
    failed = {name: row["failure"] for name, row in projects.items() if row["status"] == "failed"}
    assert failed == {"fleet/config": "configuration", "nowhere": "missing"}
    assert "min-severity" in projects["fleet/config"]["detail"]
    assert projects["fleet/project00"]["verdict"] == "blocked"


def test_hostile_names_stay_names(project: Project) -> None:
    names = ["<img src=x onerror=alert(1)>", "$(touch x)", "-rf", "a b", "=1+1", "模型", ".." + "x", "é\u202e"]
    for name in names:
        project.write({f"fleet/{name}/train.py": TRAIN.format(size=2)})
    (project.folder / "fleet" / os.fsdecode(b"\xff\xfe")).mkdir()
    (project.folder / "fleet" / os.fsdecode(b"\xff\xfe") / "train.py").write_text(TRAIN.format(size=2))
    answer = survey(project, "--jobs", "1")
    assert answer.code == 0, answer.err
    found = by_name(project.folder / "out")
    expected = {f"'{name}" if name[0] in "=-" else name for name in names} | {"\\xff\\xfe"}
    assert set(found) == expected
    page = (project.folder / "out" / "index.html").read_text(encoding="utf-8")
    assert "<img" not in page and "\u202e" not in page
    for row in found.values():
        assert (project.folder / "out" / row["report"]).is_file()


def test_what_lies_in_a_project_is_not_imported(three: Project) -> None:
    for name in ("json.py", "msgspec.py", "npulint.py", "sitecustomize.py"):
        (three.folder / name).write_text("raise SystemExit(3)\n")
        (three.folder / "fleet" / "project00" / name).write_text("raise SystemExit(3)\n")
    assert survey(three, *QUIET).code == 0


def test_other_folders_are_not_written_to(three: Project) -> None:
    answer = survey(three, out="fleet")
    assert answer.code == 2 and "neither empty nor the folder of a survey" in answer.err
    assert sorted(one.name for one in (three.folder / "fleet").iterdir()) == ["project00", "project01", "project02"]


def test_a_folder_with_what_a_killed_survey_began_is_taken(three: Project) -> None:
    three.write({"out/.survey.json.0123456789abcdef.npulint": b"half"})
    assert survey(three, *QUIET).code == 0
    assert not list((three.folder / "out").glob(".survey*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere", "--out", "out"), "nowhere does not exist"),
        (("fleet",), "--out DIR"),
        (("fleet/project00/nothing", "--out", "out"), "contains no project"),
        (("fleet", "--out", "out", "--jobs", "x"), "--jobs"),
        (("fleet", "--out", "out", "--checks", "gone"), "gone"),
        (("fleet", "--out", "out", "--min-severity", "loud"), "loud"),
        (("fleet", "--out", "out", "--config", "gone.toml"), "gone.toml"),
        (("fleet", "--out", "out", "--scheduler", "tcp://127.0.0.1:1"), "the scheduler cannot be reached"),
    ],
)
def test_what_is_wrong_is_said(
    three: Project, words: tuple[str, ...], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("npulint.survey.execution._CONNECT", 1)
    (three.folder / "fleet" / "project00" / "nothing").mkdir()
    if "--scheduler" in words and importlib.util.find_spec("distributed") is None:
        missing("distributed")
    answer = three.run("survey", *words)
    assert answer.code == 2 and said in answer.err


def test_git_addresses_are_cloned_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ALONE.items():
        monkeypatch.setenv(name, value)
    source = fleet(project.folder / "sources", 1) / "project00"
    name = commit(source)
    git(project.folder, "clone", "-q", "--bare", str(source), "net.git")
    address = (project.folder / "net.git").as_uri()
    lines = ["sources/project00", address, "ext::sh -c 'touch stolen'", (project.folder / "gone.git").as_uri()]
    (project.folder / "list.txt").write_text("\n".join(lines))
    answer = survey(project, "list.txt", *QUIET)
    projects = by_name(project.folder / "out")
    assert "cloning 2 git repositories into" in answer.err and answer.code == 1
    cloned = next(row for row in projects.values() if row["source"] == address)
    assert (cloned["status"], cloned["commit"], cloned["verdict"]) == ("checked", name, "blocked")
    assert sorted(row["failure"] for row in projects.values()) == ["", "", "address", "clone"]
    assert not (project.folder / "stolen").exists()
    clones = sorted((project.folder / "out" / "clones").iterdir())
    assert len(clones) == 1 and not (clones[0] / ".git" / "hooks").exists()
    again = survey(project, "list.txt", *QUIET)
    assert "cloning 1 git repository" in again.err and "2 unchanged" in again.err

"""Files that are named alone: what is told about the rest of their project, and what of it their change caused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from npulint.discover.revision import AUTO, Revision, UnknownRevisionError
from tests.git_support import commit, git
from tests.project_support import Answer, Project
from tests.tools import needed

TABLES = """\
    import tensorflow as tf

    def make():
        return tf.contrib.lookup.index_table_from_file('x', num_oov_buckets=1)
    """
TRAIN = """\
    import tensorflow as tf
    from npu_bridge.npu_init import *
    from tables import make

    table = make()
    data = tf.data.Dataset.range(10).map(lambda x: table.lookup(x)).batch(4, drop_remainder=True)
    op = tf.train.GradientDescentOptimizer(1e-3).minimize(data.make_one_shot_iterator().get_next())
    config = tf.ConfigProto()
    custom_op = config.graph_options.rewrite_options.custom_optimizers.add()
    custom_op.name = "NpuOptimizer"
    custom_op.parameter_map["mix_compile_mode"].b = True
    with tf.Session(config=config) as sess:
        sess.run(op)
    """
WITHOUT = TRAIN.replace('    custom_op.parameter_map["mix_compile_mode"].b = True\n', "")
LAYER = """\
    import tensorflow as tf
    import tensorflow.contrib.slim as slim

    def f(x):
        return slim.conv2d(x, 3, 3)
    """
SLIM = {
    "requirements.txt": "tensorflow==1.15\n",
    "a.py": LAYER,
    "b.py": LAYER,
    "train.py": """\
    import tensorflow as tf
    from a import f
    from b import f as g
    from npu_bridge.npu_init import *
    loss = tf.reduce_mean(f(g(tf.zeros([1, 8, 8, 3]))))
    tf.Session().run(tf.train.AdamOptimizer(1e-3).minimize(loss))
    """,
}
"""Both layers use what one check says once of the whole program."""
CHECK = "lookup-table-in-input-pipeline"
PLACE = ["tables.py:4"]


@pytest.fixture
def zoo(project: Project) -> Project:
    """A project in order, committed."""
    project.write({"requirements.txt": "tensorflow==1.15\n", "tables.py": TABLES, "train.py": TRAIN})
    commit(project.folder)
    return project


def check(zoo: Project, *paths: str, since: str = AUTO) -> Answer:
    return zoo.run("check", "--format=json", f"--consequences-since={since}", *paths)


def test_what_the_change_of_one_file_causes_in_another_is_told(zoo: Project) -> None:
    assert check(zoo, "train.py").places(CHECK) == []
    zoo.write({"train.py": WITHOUT})
    answer = check(zoo, "train.py")
    assert answer.places(CHECK) == PLACE
    assert answer.code == 1
    assert "that depends on a changed one: tables.py" in answer.err


def test_of_a_change_only_its_findings_are_told_and_the_ways_out(zoo: Project) -> None:
    zoo.write({"train.py": WITHOUT})
    words = ("check", "--no-cache", "--select", CHECK)
    whole, change = (zoo.run(*words, *more).out for more in ((), ("--consequences-since=HEAD", "train.py")))
    assert "\nPrograms\n" in whole and "ignore[" not in whole
    assert "\nPrograms\n" not in change and "\nReadiness" not in change
    assert change.endswith(
        f"Learn more: npulint explain {CHECK}\n"
        f"Correct as is? Add to the line: # npulint: ignore[{CHECK}] reason. Fix later: "
        "npulint check --write-baseline\n"
    )


def test_without_a_revision_it_is_counted_only(zoo: Project) -> None:
    zoo.write({"train.py": WITHOUT})
    answer = zoo.check("train.py")
    assert (answer.code, answer.places(CHECK), answer.err) == (0, [], "")
    assert answer.document["summary"]["elsewhere"] >= 1
    text = zoo.run("check", "--no-cache", "--format=concise", "--select", CHECK, "train.py").out
    assert "1 finding in files that were not specified (npulint check)" in text


def test_what_was_there_before_is_nobodys_fault(zoo: Project) -> None:
    zoo.write({"train.py": WITHOUT})
    commit(zoo.folder)
    zoo.write({"train.py": WITHOUT + "print(1)\n"})
    assert check(zoo, "train.py").places(CHECK) == []
    assert check(zoo, "train.py", since="HEAD~1").places(CHECK) == PLACE


def test_the_revision_may_be_that_of_pre_commit(zoo: Project) -> None:
    zoo.write({"train.py": WITHOUT})
    commit(zoo.folder)
    words = ("check", "--format=json", f"--consequences-since={AUTO}", "train.py")
    assert zoo.run(*words).places(CHECK) == []
    assert zoo.run(*words, environ={"PRE_COMMIT_FROM_REF": "HEAD~1"}).places(CHECK) == PLACE


def test_a_finding_that_the_change_only_moved_to_another_file_is_not_caused(project: Project) -> None:
    project.write(SLIM)
    commit(project.folder)
    whole = project.check("--select=tf-slim", "--min-severity=note")
    assert whole.places("tf-slim") == ["a.py:2"]
    project.write({"a.py": "def f(x):\n    return x\n"})
    assert project.check("--select=tf-slim", "--min-severity=note").places("tf-slim") == ["b.py:2"]
    assert check(project, "a.py").places("tf-slim") == []


def test_a_finding_elsewhere_that_rests_on_a_place_in_a_named_file_is_told(project: Project) -> None:
    project.write(SLIM)
    assert project.check("--select=tf-slim", "b.py").places("tf-slim") == ["b.py:2"]
    assert project.check("--select=tf-slim", "train.py").places("tf-slim") == []


def test_a_renamed_file_causes_nothing_by_its_name(zoo: Project) -> None:
    """`train.py` now imports the table from elsewhere; the finding was there before."""
    zoo.write({"train.py": WITHOUT, "lookup.py": "from tables import make as made\n"})
    zoo.write({"train.py": WITHOUT.replace("from tables import make", "from lookup import made as make")})
    commit(zoo.folder)
    (zoo.folder / "lookup.py").rename(zoo.folder / "lookup_2.py")
    zoo.write({"train.py": WITHOUT.replace("from tables import make", "from lookup_2 import made as make")})
    assert zoo.check().places(CHECK) == PLACE
    assert check(zoo, "train.py", "lookup_2.py").places(CHECK) == []


def test_a_comment_in_a_file_that_was_not_named_holds(zoo: Project) -> None:
    silenced = TABLES.replace("buckets=1)", f"buckets=1)  # npulint: ignore[{CHECK}] small")
    zoo.write({"tables.py": silenced, "train.py": TRAIN})
    commit(zoo.folder)
    zoo.write({"train.py": WITHOUT})
    answer = check(zoo, "train.py")
    assert (answer.places(CHECK), "unused-suppression" in answer.names) == ([], False)


def test_an_unused_comment_in_a_file_that_was_not_named_is_no_finding(zoo: Project) -> None:
    zoo.write({"tables.py": TABLES.replace("buckets=1)", f"buckets=1)  # npulint: ignore[{CHECK}] small")})
    assert "unused-suppression" in check(zoo, "tables.py").names
    assert "unused-suppression" not in check(zoo, "train.py").names


def test_the_baseline_knows_files_that_were_not_named(zoo: Project) -> None:
    zoo.write({"train.py": WITHOUT})
    zoo.run("check", "--select", CHECK, "--write-baseline")
    answer = check(zoo, "--select", CHECK, "train.py")
    assert answer.places(CHECK) == []
    assert answer.document["summary"]["elsewhere"] == 0
    zoo.write({"train.py": TRAIN})
    assert "fixed" not in check(zoo, "train.py").err  # nobody asked about tables.py
    assert "fixed" in zoo.run("check").err


def test_a_revision_that_git_does_not_know_is_wrong_usage(zoo: Project) -> None:
    zoo.write({"train.py": WITHOUT})
    for word in ("nonsense", "--help", "HEAD:train.py", "x\ny"):
        answer = check(zoo, "train.py", since=word)
        assert answer.code == 2, word
        assert "git cannot find the revision" in answer.err


def test_without_a_commit_or_a_repository_nothing_is_compared(project: Project) -> None:
    project.write({"tables.py": TABLES, "train.py": WITHOUT, "requirements.txt": "tensorflow==1.15\n"})
    assert (check(project, "train.py").code, check(project, "train.py").places(CHECK)) == (0, [])
    git(project.folder, "init", "-q")
    assert (check(project, "train.py").code, check(project, "train.py").places(CHECK)) == (0, [])


def test_a_project_in_a_repository_of_its_own_is_not_compared(zoo: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a submodule is: the repository around it knows none of its files."""
    outer = zoo.folder.parent / "outer"
    outer.mkdir()
    (outer / "README").write_text("")
    zoo.folder.rename(outer / "inner")
    git(outer, "init", "-q")
    git(outer, "add", "README")
    git(outer, "commit", "-q", "-m", "x")
    Project(outer / "inner").write({"train.py": WITHOUT})
    monkeypatch.chdir(outer)
    assert zoo.check("inner").places(CHECK) == ["inner/tables.py:4"]
    assert check(zoo, "inner/train.py").places(CHECK) == []
    monkeypatch.chdir(outer / "inner")
    assert check(zoo, "train.py").places(CHECK) == PLACE


def test_no_program_of_the_repository_is_run(zoo: Project, tmp_path: Path) -> None:
    proof = tmp_path / "proof"
    program = tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    program.chmod(0o755)
    (zoo.folder / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    for key in ("core.fsmonitor", "filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "core.pager"):
        git(zoo.folder, "config", key, str(program))
    zoo.write({"train.py": WITHOUT})
    assert check(zoo, "train.py").places(CHECK) == PLACE
    assert not proof.exists()
    git(zoo.folder, "status")
    assert proof.exists()  # so the trap works


@pytest.fixture
def partial(zoo: Project, tmp_path: Path) -> Path:
    """Makes the project a partial clone whose remote is a program, without the committed train.py; the file that the
    program would make."""
    proof, program = tmp_path / "proof", tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\ntouch {proof}\n")
    program.chmod(0o755)
    settings = {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.url": f"ext::{program}",
        "remote.origin.promisor": "true",
        "protocol.ext.allow": "always",
    }
    blob = git(zoo.folder, "rev-parse", "HEAD:train.py")
    for key, value in settings.items():
        git(zoo.folder, "config", key, value)
    (zoo.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    zoo.write({"train.py": WITHOUT})
    return proof


def _old_git(folder: Path) -> Path:
    """A git that knows no ``GIT_NO_LAZY_FETCH``, as before 2.45, in a folder of its own."""
    folder.mkdir()
    wrapper = folder / "git"
    wrapper.write_text(f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {needed("git")} "$@"\n')
    wrapper.chmod(0o755)
    return folder


@pytest.mark.skipif(os.name == "nt", reason="the programs are shell scripts")
@pytest.mark.parametrize("old", [False, True], ids=["this git", "an old git"])
def test_missing_objects_are_named_and_never_fetched(
    zoo: Project, partial: Path, old: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if old:
        monkeypatch.setenv("PATH", f"{_old_git(tmp_path / 'old')}{os.pathsep}{os.environ['PATH']}")
    answer = check(zoo, "train.py", since="HEAD")
    assert answer.code == 2
    assert "does not have all files of the revision `HEAD`" in answer.err
    assert check(zoo, "train.py").places(CHECK) == []
    assert not partial.exists()
    with pytest.raises(AssertionError):
        git(zoo.folder, "cat-file", "blob", "HEAD:train.py")
    assert partial.exists()  # so the trap works


ODD = ["中文.py", "a b.py", "-x.py", "line\nbreak.py", "tab\t.py", "*.py", 'quo"te.py', "ü/é.py"]


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no such names")
def test_a_revision_gives_files_with_any_name(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write({f"sub/{name}": f"# {number}\n" for number, name in enumerate(ODD)})
    (project.folder / "sub/link.py").symlink_to("中文.py")
    (project.folder / "top.py").write_text("# top\n")
    commit(project.folder)
    for name in ODD:
        (project.folder / "sub" / name).write_text("changed")
    files = Revision("HEAD").files(["sub"])
    assert sorted(files) == sorted(f"sub/{name}" for name in ODD)
    held = Revision("HEAD").contents([files[f"sub/{name}"] for name in ODD])
    assert held == [f"# {number}\n".encode() for number in range(len(ODD))]
    assert "top.py" in Revision("HEAD").files(["."])
    monkeypatch.chdir(project.folder / "sub")  # paths are those from the working directory
    assert "中文.py" in Revision("HEAD").files(["."])


def test_a_repository_without_a_commit_has_no_revision(project: Project) -> None:
    git(project.folder, "init", "-q")
    with pytest.raises(UnknownRevisionError):
        Revision(AUTO)

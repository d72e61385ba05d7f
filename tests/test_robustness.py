"""Hostile and broken inputs through the real command line: each is told with its reason, the rest is checked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from npulint.commands.check.project_runner import evaluate_project
from npulint.facts.code import Code
from npulint.facts.model import FileFacts
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.settings import Settings
from tests.project_support import Answer, Project

HEAD = "import tensorflow as tf\n"
SIBLING = f"""{HEAD}
step = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean(tf.layers.dense(tf.ones([8, 4]), 1)))
with tf.Session() as sess:
    sess.run(step)
"""
FOUND = "session-without-npu-config"  # what is wrong with it


def assert_sibling_is_judged(answer: Answer) -> None:
    assert "good.py:4" in answer.places(FOUND)


def told(answer: Answer, path: str = "bad.py") -> list[str]:
    """What is said of a file, without the places."""
    return [found["message"] for found in answer.findings if found["path"] == path]


# The text of bad.py, the reason why it is not read, and words of the message.
UNREAD = [
    pytest.param(HEAD + "def f(:\n", "syntax-error", ["this file has a syntax error"], id="syntax error"),
    pytest.param(b'x = "\0"\n', "encoding", ["NUL byte"], id="NUL byte"),
    pytest.param((HEAD + "x = 1\n").encode("utf-16"), "encoding", ["UTF-16"], id="UTF-16"),
    pytest.param((HEAD + "x = 1\n").encode("utf-16-le"), "encoding", ["UTF-16"], id="UTF-16 without a mark"),
    pytest.param(HEAD.encode() + b"# caf\xe9 \xff\n", "encoding", ["neither UTF-8 nor GB18030"], id="no encoding"),
    pytest.param("# coding: klingon\n", "encoding", ["unknown encoding klingon"], id="unknown cookie"),
    pytest.param(f"{HEAD}x = {'(' * 300}1{')' * 300}\n", "too-deep", ["nested too deeply"], id="300 parentheses"),
    pytest.param(f"{HEAD}if x:\n    print '(\n", "python2", ["Python 2"], id="Python 2 that is broken as well"),
]


@pytest.mark.parametrize(("text", "reason", "words"), UNREAD)
def test_a_file_that_cannot_be_read_is_named_once(
    project: Project, text: str | bytes, reason: str, words: list[str]
) -> None:
    answer = project.write({"bad.py": text, "good.py": SIBLING}).check()
    assert answer.code == 1 and answer.err == ""
    assert_sibling_is_judged(answer)
    assert answer.document["unread"] == [{"path": "bad.py", "reason": reason}]
    message = "".join(told(answer))
    assert all(word in message for word in words), message
    summary = answer.document["summary"]
    assert (summary["files"], summary["read"], summary["skipped"]) == (2, 1, 1)


def test_code_that_leads_resolution_in_circles_spoils_its_project_only(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*given: object) -> None:
        raise RecursionError

    monkeypatch.setattr("npulint.commands.check.project_runner.assemble", endless)
    files = [FileFacts("a.py", "python", Code()), FileFacts("run.sh", "shell")]
    outcome = evaluate_project("", files, Catalogue(), Settings())
    assert [(f.path, f.problems[0].reason) for f in outcome.files] == [("a.py", "too-deep")]


def test_people_are_told_in_the_last_lines(project: Project) -> None:
    answer = project.write({"bad.py": "def f(:\n", "good.py": SIBLING}).run("check", "--no-cache")
    assert "bad.py:1:7" in answer.out
    assert "1 file was not read: bad.py (syntax error)" in answer.out


def test_unread_alone_is_never_clean(project: Project) -> None:
    answer = project.write({"bad.py": "def f(:\n"}).run("check", "--no-cache", "--ignore=parse")
    assert answer.code == 2
    assert "Nothing was checked" in answer.out and "1 file was not read: bad.py" in answer.out
    assert "All good" not in answer.out


# Sources that Python or an older tool refuses, but that can be read: bad.py also holds a session in its last line.
SESSION = "sess = tf.Session()\n"
READ = [
    pytest.param(f"{HEAD}print 'x'\n{SESSION}", "Python 2", id="Python 2 print"),
    pytest.param(f"{HEAD}try:\n    pass\nexcept E, e:\n    pass\n{SESSION}", "Python 2", id="Python 2 except"),
    pytest.param(f"{HEAD}# 训练脚本，学习率\n{SESSION}".encode("gbk"), "GB18030, not UTF-8", id="GBK without cookie"),
    pytest.param(f"# -*- coding: gbk -*-\n{HEAD}m = '模型'\n{SESSION}".encode("gbk"), "", id="GBK with cookie"),
    pytest.param(b"\xef\xbb\xbf" + (HEAD + SESSION).encode(), "", id="UTF-8 with a mark"),
    pytest.param((HEAD + SESSION).replace("\n", "\r\n"), "", id="CRLF"),
    pytest.param(f"{HEAD}match 1:\n    case 1 if (n := 2):\n        pass\n{SESSION}", "", id="match and walrus"),
]


@pytest.mark.parametrize(("text", "doubt"), READ)
def test_a_doubtful_file_is_read_all_the_same(project: Project, text: str | bytes, doubt: str) -> None:
    answer = project.write({"bad.py": text, "good.py": SIBLING}).check()
    assert answer.code == 1
    assert_sibling_is_judged(answer)
    assert answer.document["unread"] == []
    last = len((text if isinstance(text, bytes) else text.encode()).splitlines())
    found = [f for f in answer.findings if f["path"] == "bad.py" and f["topic"] == "session_config"]
    assert [f["line"] for f in found] == [last]
    doubts = [f["message"] for f in answer.findings if f["path"] == "bad.py" and f["topic"] == "parse"]
    assert len(doubts) == bool(doubt)
    assert doubt in "".join(doubts)


def test_a_text_in_chinese_encoding_was_not_read_in_part(project: Project) -> None:
    answer = project.write({"bad.py": f"{HEAD}# 学习率\n".encode("gbk")}).run("check", "--no-cache")
    assert "in part" not in answer.out and "not checked" not in answer.out
    assert "bad.py:2:1" in answer.out


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="this interpreter knows the syntax")
def test_syntax_of_a_younger_python_is_told(project: Project) -> None:
    answer = project.write({"bad.py": HEAD + 'text = f"{row["name"]}"\n', "good.py": SIBLING}).check()
    assert_sibling_is_judged(answer)
    assert answer.document["unread"] == [{"path": "bad.py", "reason": "newer-python"}]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="this interpreter does not know the syntax")
def test_the_newest_syntax_is_read(project: Project) -> None:
    answer = project.write({"bad.py": f"{HEAD}type X[T] = list[T]\n{SESSION}", "good.py": SIBLING}).check()
    assert_sibling_is_judged(answer)
    assert answer.document["unread"] == [] and told(answer)


# Sources that crash or stall other tools: they run in a process of their own, with a time limit.
HEAVY: dict[str, tuple[Callable[[], str], set[str]]] = {
    "a sum of 8,000 numbers": (lambda: f"x = {' + '.join(['1'] * 8000)}\n", {"too-deep"}),
    "a sum of 8,000 calls": (lambda: f"x = {' + '.join(['tf.ones([1])'] * 8000)}\n", {"too-deep"}),
    "5,000 method calls in a chain": (lambda: f"x = tf{'.f(1)' * 5000}\n", {"too-deep"}),
    "5,000 branches": (lambda: "if a == 0:\n    b = 0\n" + "elif a == 1:\n    b = 1\n" * 5000, {"too-deep"}),
    "90 levels of indentation": (lambda: "".join(f"{' ' * i}if x:\n" for i in range(90)) + " " * 90 + "y = 1\n", set()),
    "150 parentheses": (lambda: f"x = {'(' * 150}1{')' * 150}\n", set()),
    "a dictionary of 1 MB": (
        lambda: "T = {\n" + "".join(f'    "key_{i:06}": [{i}, "v{i}"],\n' for i in range(32_000)) + "}\n",
        set(),
    ),
    "a line of 1 MB": (lambda: f"T = [{', '.join(map(str, range(150_000)))}]\n", set()),
    "a string of 1 MB": (lambda: f"T = '{'a' * 1_000_000}'\n", set()),
    "a name assigned 32,000 times": (lambda: "x = torch.ones(1)\n" + "x = x.cuda()\n" * 32_000, set()),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", HEAVY)
def test_a_heavy_file_neither_crashes_nor_stalls(project: Project, case: str) -> None:
    make, reasons = HEAVY[case]
    answer = project.write({"bad.py": HEAD + make(), "good.py": SIBLING}).spawn("check", "--format=json", "--no-cache")
    assert (answer.code, answer.err) == (1, "")
    assert_sibling_is_judged(answer)
    unread = answer.document["unread"]
    assert {p["path"] for p in unread} <= {"bad.py"} and {p["reason"] for p in unread} <= reasons
    assert answer.document["summary"]["skipped"] == len(unread) == len(told(answer))


def test_a_finding_on_an_endless_line_is_shown_in_a_window(project: Project) -> None:
    text = f"T = [{', '.join(map(str, range(150_000)))}]; sess = tf.Session(); sess.run(f()); U = '{'a' * 100_000}'\n"
    answer = project.write({"bad.py": HEAD + text}).run("check", "--no-cache", "--min-severity=note")
    assert "sess = tf.Session()" in answer.out
    assert max(map(len, answer.out.splitlines())) < 1000


def dangling_link(folder: Path) -> None:
    (folder / "bad.py").symlink_to("nowhere.py")


def link_to_itself(folder: Path) -> None:
    (folder / "bad.py").symlink_to("bad.py")


def fifo(folder: Path) -> None:
    os.mkfifo(folder / "bad.py")


def sparse(folder: Path) -> None:
    with open(folder / "bad.py", "wb") as stream:
        stream.truncate(50 << 20)


posix = pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
ODD = [
    pytest.param(dangling_link, "not-a-file", "dangling link", id="dangling link", marks=posix),
    pytest.param(link_to_itself, "not-a-file", "symbolic links", id="link to itself", marks=posix),
    pytest.param(fifo, "not-a-file", "FIFO", id="FIFO", marks=posix),
    pytest.param(sparse, "too-large", "too large", id="50 MB"),
]


@pytest.mark.parametrize(("make", "reason", "words"), ODD)
def test_an_odd_file_is_named_and_not_opened(
    project: Project, make: Callable[[Path], None], reason: str, words: str
) -> None:
    make(project.write({"good.py": SIBLING}).folder)
    answer = project.spawn("check", "--format=json", "--no-cache")
    assert (answer.code, answer.err) == (1, "")
    assert_sibling_is_judged(answer)
    assert answer.document["unread"] == [{"path": "bad.py", "reason": reason}]
    assert [words in message for message in told(answer)] == [True]
    assert answer.document["summary"]["skipped"] == 1


@posix
def test_an_odd_file_that_is_named_is_an_error(project: Project) -> None:
    fifo(project.write({"good.py": SIBLING}).folder)
    answer = project.spawn("check", "--format=json", "--no-cache", "bad.py", "good.py")
    assert (answer.code, answer.err) == (2, "error: bad.py: not a regular file\n")
    assert_sibling_is_judged(answer)


@posix
def test_a_loop_of_folder_links_is_not_followed(project: Project) -> None:
    project.write({"good.py": SIBLING, "sub/other.py": SIBLING})
    (project.folder / "sub/loop").symlink_to("..")
    answer = project.spawn("check", "--format=json", "--no-cache")
    assert answer.places(FOUND) == ["good.py:4", "sub/other.py:4"]
    assert answer.document["summary"]["files"] == 2


def test_a_folder_with_the_name_of_a_script_is_a_folder(project: Project) -> None:
    answer = project.write({"good.py": SIBLING, "bad.py/inner.py": SIBLING}).check()
    assert answer.places(FOUND) == ["bad.py/inner.py:4", "good.py:4"]
    assert answer.document["unread"] == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_is_told(project: Project) -> None:
    project.write({"good.py": SIBLING, "bad.py": HEAD})
    (project.folder / "bad.py").chmod(0)
    answer = project.check()
    assert_sibling_is_judged(answer)
    assert answer.document["unread"] == [{"path": "bad.py", "reason": "unreadable"}]


@pytest.mark.parametrize("files", [{}, {"notes.md": "# nothing\n", "data.csv": "1,2\n"}], ids=["empty", "no source"])
def test_nothing_to_check_is_never_clean(project: Project, files: dict[str, str]) -> None:
    answer = project.write(files).run("check", "--no-cache")
    assert (answer.code, answer.err) == (0, "warning: no files to check in .\n")
    assert "Nothing was checked" in answer.out and "All good" not in answer.out


def test_a_missing_path_is_an_error_and_the_rest_is_checked(project: Project) -> None:
    answer = project.write({"good.py": SIBLING}).check(".", "nope.py")
    assert (answer.code, answer.err) == (2, "error: nope.py: does not exist\n")
    assert_sibling_is_judged(answer)
    assert answer.document["unread"] == [{"path": "nope.py", "reason": "missing"}]


def test_a_broken_notebook_and_mixlist_do_not_stop_the_run(project: Project) -> None:
    lists = '{"black-list": {"to-add": ["ReduceSumD"]'
    answer = project.write({"n.ipynb": '{"cells": [', "ops_info.json": lists, "good.py": SIBLING}).check()
    assert_sibling_is_judged(answer)
    assert answer.document["unread"] == [{"path": "n.ipynb", "reason": "json"}]
    assert answer.places("mixlist-invalid") == ["ops_info.json:1"]


def test_an_unknown_adapter_option_comes_with_the_nearest(project: Project) -> None:
    text = 'from npu_bridge.npu_init import *\nconfig = NPURunConfig(precison_mode="allow_mix_precision")\n'
    answer = project.write({"train.py": text}).check("--select=setting")
    assert answer.code == 1
    assert ["`precison_mode`" in m and "`precision_mode`" in m for m in told(answer, "train.py")] == [True]


CHECK = """
code: NPU1999
severty: error
find: {cal: tensorflow.Session}
"""
# Files beside good.py, the words of the command, and what is told.
MISTAKES = [
    pytest.param(
        {},
        ["--select=session-without-npu-confg"],
        ["select: there is no check, topic or category", f"did you mean `{FOUND}`?"],
        id="unknown check selected",
    ),
    pytest.param(
        {"mine/tensorflow/bad-thing.yaml": "code: NPU1999\n  find: [\n"},
        ["--checks=mine"],
        ["mine/tensorflow/bad-thing.yaml:2:", "not YAML"],
        id="check that is no YAML",
    ),
    pytest.param(
        {"mine/tensorflow/bad-thing.yaml": CHECK},
        ["--checks=mine"],
        ["bad-thing.yaml:3:1: ", "unknown key 'severty' (did you mean 'severity'?)", "the key 'text' is missing"],
        id="check with a misspelled key",
    ),
    pytest.param({}, ["--checks=mine"], ["mine"], id="folder of checks that is not there"),
    pytest.param(
        {"npulint.toml": 'jobs = 1\nselect = ["NPU1"\nlang = 1\n'},
        [],
        ["npulint.toml:3:1: invalid TOML"],
        id="invalid TOML",
    ),
    pytest.param(
        {"npulint.toml": "# mine\nselct = []\n"},
        [],
        ["npulint.toml:2: unknown key `selct`; did you mean `select`?"],
        id="unknown key",
    ),
    pytest.param(
        {"pyproject.toml": '[tool.other]\nfail-on = 1\n[tool.npulint]\nfail-on = "warnin"\n'},
        [],
        ["pyproject.toml:4: fail-on: `warnin` is not one of", "did you mean `warning`?"],
        id="unknown value in pyproject.toml",
    ),
    pytest.param(
        {"npulint.toml": "[target]\ntensorflow = 1.15\n"},
        [],
        ["npulint.toml:1: target: ", 'tensorflow = "1.15"'],
        id="version without quotes",
    ),
    pytest.param({}, ["--fial-on=note"], ["unknown option", "did you mean `--fail-on`?"], id="unknown option"),
]


@pytest.mark.parametrize(("files", "words", "sentences"), MISTAKES)
def test_a_mistake_of_the_user_ends_with_2_and_its_place(
    project: Project, files: dict[str, str], words: list[str], sentences: list[str]
) -> None:
    answer = project.write({"good.py": SIBLING, **files}).run("check", "--no-cache", *words)
    assert (answer.code, answer.out) == (2, "")
    assert all(line.startswith("error: ") for line in answer.err.splitlines())
    assert [sentence for sentence in sentences if sentence not in answer.err] == []
    assert "Traceback" not in answer.err


HOSTILE = ["a\x1b[31mred.py", "b\nnew.py", "c\u202egnp.py", "::error::boom.py", "##[error]x.py", "e%0Af.py", "f,=g.py"]


@posix
@pytest.mark.parametrize("shape", ["text", "concise"])
def test_hostile_file_names_are_harmless_on_a_terminal(project: Project, shape: str) -> None:
    answer = project.write(dict.fromkeys(HOSTILE, SIBLING)).run("check", "--no-cache", f"--format={shape}")
    assert answer.code == 1
    assert not set("\x1b\u202e\r") & set(answer.out)
    assert "a\\x1b[31mred.py" in answer.out and "b\\nnew.py" in answer.out and "c\\u202egnp.py" in answer.out
    assert [line for line in answer.out.splitlines() if line.lstrip().startswith("::error")] == []
    assert answer.out.count("./::error::boom.py") >= 1


@posix
def test_hostile_file_names_are_whole_in_the_json_report(project: Project) -> None:
    project.write(dict.fromkeys(HOSTILE, SIBLING))
    (project.folder / os.fsdecode(b"h\xff.py")).write_text(SIBLING)
    answer = project.check(f"--select={FOUND}")
    assert sorted(found["path"] for found in answer.findings) == sorted([*HOSTILE, "h\\xff.py"])
    assert "\x1b" not in answer.out


@posix
def test_the_list_of_files_is_harmless_too(project: Project) -> None:
    answer = project.write(dict.fromkeys(HOSTILE, "")).run("check", "--show-files")
    assert len(answer.out.splitlines()) == len(HOSTILE)
    assert "./::error::boom.py" in answer.out.splitlines()

"""Small real projects through the real command line: how the answer is told, remembered and repeated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project_samples import FILES, FORGETFUL, GPU, NPU, OLD_ADAPTER, SILENCED, notebook
from tests.project_support import Answer, Project

# What is told, and the exit code


def test_the_report_for_people_shows_the_source_and_where_to_begin(project: Project) -> None:
    answer = project.write({"train.py": GPU.format(comment="")}).run("check", "--no-cache")
    assert answer.code == 1
    for part in (
        "error[session-without-npu-config]: ",
        "--> train.py:4:8",
        "4 | sess = tf.Session()",
        "= why: ",
        "= fix: ",
    ):
        assert part in answer.out
    assert "npulint explain session-without-npu-config" in answer.out


def test_everything_is_told_in_chinese(project: Project) -> None:
    project.write({"train.py": GPU.format(comment=""), "old.py": "def f(:\n"})
    answer = project.run("check", "--no-cache", "--lang=zh")
    assert answer.code == 1
    for part in (
        "错误[session-without-npu-config]",
        "原因",
        "建议",
        "程序",
        "未迁移",
        "1 个文件未能读取：old.py（语法错误）",
    ):
        assert part in answer.out
    told = project.check("--lang=zh").findings
    assert [f["name"] for f in told if f["message"].isascii() or f["fix"]["text"].isascii()] == []
    english = project.check().findings
    assert [(f["name"], f["line"], f["fingerprint"]) for f in told] == [
        (f["name"], f["line"], f["fingerprint"]) for f in english
    ]
    assert all(f["message"].isascii() for f in english)


NOTE_ONLY = "import tensorflow as tf\nimport tensorflow.contrib.slim as slim\n"
CODES = [
    pytest.param("error", [], 1, 1, id="an error fails"),
    pytest.param("error", ["--exit-zero"], 0, 1, id="an error with exit zero"),
    pytest.param("error", ["--fail-on=never"], 0, 1, id="never fails"),
    pytest.param("error", ["--ignore=session-without-npu-config"], 0, 0, id="the error is ignored"),
    pytest.param("error", ["--ignore=NPU1", "--extend-select=NPU1101"], 1, 1, id="ignored but for one"),
    pytest.param("note", [], 0, 1, id="a note does not fail"),
    pytest.param("note", ["--fail-on=note"], 1, 1, id="a note fails when asked"),
    pytest.param("note", ["--fail-on=note", "--min-severity=warning"], 0, 0, id="what is not reported does not fail"),
    pytest.param("note", ["--min-severity=warning"], 0, 0, id="below the threshold"),
]


@pytest.mark.parametrize(("severity", "words", "code", "findings"), CODES)
def test_exit_code_and_thresholds(project: Project, severity: str, words: list[str], code: int, findings: int) -> None:
    text = GPU.format(comment="") if severity == "error" else NOTE_ONLY
    answer = project.write({"train.py": text}).check(*words)
    assert answer.code == code
    assert len([f for f in answer.findings if f["severity"] == severity]) == findings


def test_people_are_spared_notes_but_told_of_them(project: Project) -> None:
    project.write({"train.py": NOTE_ONLY})
    answer = project.run("check", "--no-cache")
    assert (answer.code, "note[tf-slim]" in answer.out) == (0, False)
    assert "1 finding below warning not shown (--min-severity note)" in answer.out
    assert "note[tf-slim]" in project.run("check", "--no-cache", "--min-severity=note").out


def test_reports_for_people_and_machines_at_once(project: Project) -> None:
    answer = project.write({"train.py": GPU.format(comment="")}).run("check", "--no-cache", "--output=json=out/r.json")
    assert answer.code == 2 and "out/r.json" in answer.err
    assert project.run("check", "--no-cache", "--output=json=r.json").code == 1
    document = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert SILENCED in {found["name"] for found in document["findings"]}


def test_every_finding_names_a_file_line_and_program_that_exist(project: Project) -> None:
    answer = project.write({**FILES, "old/train_gpu.py": GPU.format(comment="")}).check()
    assert answer.findings
    entries = {program["entry"] for program in answer.document["programs"]}
    for found in answer.findings:
        lines = (project.folder / found["path"]).read_text(encoding="utf-8").split("\n")
        assert 1 <= found["line"] <= found["end_line"] <= len(lines)
        assert 1 <= found["column"] <= len(lines[found["line"] - 1]) + 1
        assert found["program"] in entries
    assert len({found["fingerprint"] for found in answer.findings}) == len(answer.findings)


def test_findings_move_with_their_line(project: Project) -> None:
    def fingerprints() -> list[str]:
        return [f["fingerprint"] for f in project.check().findings if f["name"] == SILENCED]

    project.write({"train.py": GPU.format(comment="")})
    before = fingerprints()
    project.write({"train.py": "'''A script.'''\n\n" + GPU.format(comment="")})
    assert len(before) == 1 and fingerprints() == before


# The other commands, on the real catalogue


def test_a_reported_check_can_be_explained(project: Project) -> None:
    answer = project.write({"train.py": GPU.format(comment="")}).check()
    assert len(answer.findings) == 2
    for found in answer.findings:
        page = project.run("explain", found["name"])
        assert (page.code, page.err) == (0, "")
        assert page.out.startswith(f"# {found['code']} {found['name']}\n")
        assert found["why"] in page.out
    chinese = project.check("--lang=zh").findings
    assert chinese[0]["why"] in project.run("explain", chinese[0]["code"], "--lang=zh").out


def test_the_rules_can_be_listed_by_topic(project: Project) -> None:
    rows = json.loads(project.run("rules", "--select=topk", "--format=json").out)
    assert {"dynamic-top-k"} <= {row["name"] for row in rows}
    assert {row["topic"] for row in rows} == {"topk"}
    assert len(project.run("rules").out.splitlines()) > 50


def test_the_facts_of_a_file_know_its_project(project: Project) -> None:
    answer = project.write(FILES).run("facts", "npu.py")
    assert answer.code == 0
    line = next(line.split() for line in answer.out.splitlines() if " setting  " in line and " precision_mode " in line)
    assert line[0] == "10:5" and "value=allow_mix_precision" in line  # the default stands in options.py


@pytest.mark.slow
def test_a_new_check_is_written_tested_and_used(project: Project) -> None:
    new = project.run("new", "tensorflow/own-session", "--checks=mine")
    assert new.code == 0 and Path("mine/tensorflow/own-session.yaml").is_file()
    unfinished = project.run("test", "mine/tensorflow/own-session.yaml")
    assert unfinished.code in (1, 2) and "Traceback" not in unfinished.err
    project.write({"mine/tensorflow/own-session.yaml": OWN, "train.py": GPU.format(comment="")})
    tested = project.run("test", "mine/tensorflow/own-session.yaml")
    assert (tested.code, tested.out, tested.err) == (0, "all 4 examples passed\n", "")
    assert project.check("--checks=mine").places("own-session") == ["train.py:4"]
    assert "own-session" in project.run("explain", "own-session", "--checks=mine").out
    project.write({"npulint.toml": 'checks = ["mine"]\nselect = ["own-session"]\n'})
    assert project.check().names == ["own-session"]


def test_a_check_whose_examples_do_not_hold_is_told(project: Project) -> None:
    project.write({"tensorflow/own-session.yaml": OWN.replace("tensorflow.Session}", "tensorflow.InteractiveSession}")})
    answer = project.run("test", "tensorflow/own-session.yaml")
    assert answer.code == 1
    assert "2 of 4 examples failed" in answer.out


OWN = """\
    code: NPU1199
    since: "0.1"
    status: preview
    topic: session_config
    category: functional
    consequence: stops
    occurs: some-runs
    confidence: high
    applies: {framework: tensorflow}
    find: {session: tensorflow.Session}
    text:
      en: {title: A session of its own, message: "`{short}` is built here", why: Ours builds it., fix: Call ours.}
      zh: {title: 自建会话, message: "此处创建了 `{short}`", why: 应由公共模块创建。, fix: 调用公共模块。}
    references:
      - {title: House rules, source: "example/house:rules.md"}
    examples:
      - bad: |
          import tensorflow as tf
          sess = tf.Session()  # expect
      - bad: |
          import tensorflow.compat.v1 as tf
          with tf.Session() as sess:  # expect
              pass
      - good: |
          import tensorflow as tf
          x = tf.ones([1])
      - good: |
          import house
          sess = house.Session()
    """


# What is remembered, and the same answer every time


def remembered(project: Project, folder: Path, *words: str) -> Answer:
    return project.spawn("check", "--format=json", *words, environ={"NPULINT_CACHE_DIR": str(folder)})


def test_a_second_run_remembers_and_says_the_same(project: Project, tmp_path: Path) -> None:
    project.write({**FILES, "old/train_gpu.py": GPU.format(comment=""), "bad.py": "def f(:\n"})
    cache = tmp_path / "cache"
    first, second = remembered(project, cache), remembered(project, cache)
    assert first == second and first.findings
    assert list(cache.glob("*.sqlite"))
    assert remembered(project, cache, "--no-cache") == first


def test_a_changed_file_changes_the_answer(project: Project, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    project.write({**FILES, "npu.py": FORGETFUL})
    assert remembered(project, cache, OLD_ADAPTER).code == 1
    project.write({"npu.py": NPU})  # another file than the one with the finding
    assert remembered(project, cache, OLD_ADAPTER).code == 0


def test_another_question_gets_its_own_answer(project: Project, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    unsafe = NPU.replace("config.graph_options.rewrite_options.remapping = RewriterConfig.OFF", "")
    project.write({**FILES, "npu.py": unsafe})
    name = "npu-optimizer-remapping-on"
    assert name not in remembered(project, cache).names  # this adapter switches it off itself
    english = [f["message"] for f in remembered(project, cache, OLD_ADAPTER).findings if f["name"] == name]
    chinese = [f["message"] for f in remembered(project, cache, OLD_ADAPTER, "--lang=zh").findings if f["name"] == name]
    assert len(english) == len(chinese) == 1 and english != chinese


@pytest.mark.slow
def test_a_damaged_cache_is_harmless(project: Project, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    project.write({"train.py": GPU.format(comment="")})
    first = remembered(project, cache)
    files = [path for path in cache.iterdir() if path.is_file()]
    assert len(files) >= 2  # facts and the compiled catalogue
    for damage in (b"", b"no database at all" * 100, None):
        for path in files:
            data = path.read_bytes() if path.exists() else b""
            path.write_bytes(
                data[: len(data) // 2] + b"\xff" * 64 + data[len(data) // 2 + 64 :] if damage is None else damage
            )
        assert remembered(project, cache) == first


@pytest.mark.parametrize("shape", ["json", "text"])
def test_the_same_bytes_whatever_the_seed(project: Project, shape: str) -> None:
    project.write(
        {**FILES, "old/train_gpu.py": GPU.format(comment=""), "train.ipynb": notebook([GPU.format(comment="")])}
    )
    outputs = {
        project.spawn("check", "--no-cache", f"--format={shape}", environ={"PYTHONHASHSEED": seed}).out
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1
    assert "train.ipynb" in outputs.pop()


def test_the_order_of_the_paths_does_not_matter(project: Project) -> None:
    project.write({**FILES, "old/train_gpu.py": GPU.format(comment="")})
    assert project.check("old", ".").out == project.check(".", "old").out == project.check().out

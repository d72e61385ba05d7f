"""Small real projects through the real command line: verdicts that need several files, and the way they are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project_support import Answer, Project

OPTIONS = """\
    import argparse


    def parse():
        parser = argparse.ArgumentParser()
        parser.add_argument("--precision_mode", default="allow_mix_precision")
        parser.add_argument("--data_dump", action="store_true")
        parser.add_argument("--rate", type=float, default=1e-3)
        return parser.parse_args()
    """
NPU = """\
    import tensorflow as tf
    from npu_bridge.npu_init import *
    from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig


    def session_config(args):
        config = tf.ConfigProto()
        npu = config.graph_options.rewrite_options.custom_optimizers.add()
        npu.name = "NpuOptimizer"
        npu.parameter_map["precision_mode"].s = tf.compat.as_bytes(args.precision_mode)
        if args.data_dump:
            npu.parameter_map["enable_dump"].b = True
            npu.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp/dump")
        config.graph_options.rewrite_options.remapping = RewriterConfig.OFF
        config.graph_options.rewrite_options.memory_optimization = RewriterConfig.OFF
        return config
    """
MODEL = """\
    import tensorflow as tf
    from npu_bridge.npu_init import *


    def scaled(optimizer):
        manager = ExponentialUpdateLossScaleManager(2**15, 1000, 2, decr_ratio=0.5)
        return NPULossScaleOptimizer(optimizer, manager)
    """
TRAIN = """\
    import tensorflow as tf
    import model
    import npu
    import options


    def main():
        args = options.parse()
        x = tf.placeholder(tf.float32, [32, 784])
        loss = tf.reduce_mean(tf.layers.dense(x, 10))
        step = model.scaled(tf.train.AdamOptimizer(args.rate)).minimize(loss)
        with tf.Session(config=npu.session_config(args)) as sess:
            sess.run(tf.global_variables_initializer())
            for batch in range(1000):
                sess.run(step, {x: batch})


    if __name__ == "__main__":
        main()
    """
RUN = "#!/bin/bash\npython3 train.py --rate=0.01\n"
FILES: dict[str, str | bytes] = {
    "model.py": MODEL,
    "npu.py": NPU,
    "options.py": OPTIONS,
    "run.sh": RUN,
    "train.py": TRAIN,
}
FORGETFUL = """\
    import tensorflow as tf


    def session_config(args):
        return tf.ConfigProto(allow_soft_placement=True)
    """
OLD_ADAPTER = "--target=adapter=1.7"  # importing it changes nothing by itself


def edited(name: str, old: str, new: str) -> dict[str, str | bytes]:
    """The project with one text of a file replaced."""
    text = FILES[name]
    assert isinstance(text, str) and text.count(old) == 1
    return {**FILES, name: text.replace(old, new)}


# Verdicts that need more than one file


def test_a_migrated_project_in_five_files_gets_no_warning(project: Project) -> None:
    answer = project.write(FILES).check("--min-severity=warning", OLD_ADAPTER)
    assert (answer.code, answer.names) == (0, [])
    programs = answer.document["programs"]
    assert [(p["entry"], p["files"], p["state"]) for p in programs] == [("train.py", 4, "migrated")]


def test_a_helper_that_forgets_the_npu_is_told_at_the_session(project: Project) -> None:
    answer = project.write({**FILES, "npu.py": FORGETFUL}).check(OLD_ADAPTER)
    assert answer.code == 1
    assert answer.places("session-without-npu-config") == ["train.py:12"]


def test_a_launcher_that_overrides_a_bad_default_changes_the_verdict(project: Project) -> None:
    files = edited("options.py", '"allow_mix_precision"', '"force_fp16"')
    assert project.write(files).check().places("force-fp16-in-training") == ["npu.py:10"]
    project.write({"run.sh": RUN.replace("--rate=0.01", "--precision_mode=allow_mix_precision")})
    assert "force-fp16-in-training" not in project.check().names


def test_a_launcher_that_chooses_the_precision_mode_is_heard(project: Project) -> None:
    files = edited("options.py", 'default="allow_mix_precision"', 'default="must_keep_origin_dtype"')
    before = project.write(files).check().document["programs"][0]["checklist"]
    project.write({"run.sh": RUN.replace("--rate=0.01", "--precision_mode=allow_mix_precision")})
    after = project.check().document["programs"][0]["checklist"]
    assert [item["status"] for item in before if item["item"] == "mixed_precision"] == ["todo"]
    assert [item["status"] for item in after if item["item"] == "mixed_precision"] != ["todo"]


DUMPS = {
    "an option that is off": ('"--data_dump", action="store_true"', []),
    "an option that is off by its default": ('"--data_dump", type=bool, default=False', []),
    "an option that is on": ('"--data_dump", type=bool, default=True', ["npu.py:12"]),
    "an option that is switched off on demand": ('"--data_dump", action="store_false"', ["npu.py:12"]),
}


@pytest.mark.parametrize(("option", "places"), DUMPS.values(), ids=DUMPS.keys())
def test_a_dump_speaks_only_when_it_runs_by_default(project: Project, option: str, places: list[str]) -> None:
    answer = project.write(edited("options.py", '"--data_dump", action="store_true"', option)).check()
    assert answer.places("dump-left-on") == places


ESTIMATOR = """\
    import tensorflow as tf
    from npu_bridge.npu_init import *
    import model


    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(tf.square(tf.layers.dense(features, 1) - labels))
        step = model.scaled(tf.train.AdamOptimizer(1e-3)).minimize(loss, tf.train.get_global_step())
        return NPUEstimatorSpec(mode=mode, loss=loss, train_op=step)


    def input_fn():
        return tf.data.TFRecordDataset("train.tfrecord").repeat().batch(32, drop_remainder=True).prefetch(1)


    def main():
        config = NPURunConfig(
            model_dir="out",
            save_checkpoints_steps=1000,
            iterations_per_loop=100,
            precision_mode="allow_mix_precision",
        )
        NPUEstimator(model_fn=model_fn, config=config).train(input_fn, max_steps=10000)


    if __name__ == "__main__":
        main()
    """


def test_an_estimator_with_an_npu_run_config_is_clean(project: Project) -> None:
    answer = project.write({"train.py": ESTIMATOR, "model.py": MODEL}).check()
    assert (answer.code, answer.names) == (0, [])
    assert [item["status"] for item in answer.document["programs"][0]["checklist"]] == ["ok"] * 4


ESTIMATOR_MISTAKES = {
    "npu-estimator-wrong-config": ("config = NPURunConfig(", "config = tf.estimator.RunConfig(", 23),
    "unknown-adapter-option": ("precision_mode=", "precison_mode=", 17),
    "adapter-option-bad-value": ("allow_mix_precision", "allow_mixed_precision", 17),
    "batch-without-drop-remainder": (", drop_remainder=True", "", 13),
    "no-iterations-per-loop": ("iterations_per_loop=100,", "", 17),
}


@pytest.mark.parametrize("name", ESTIMATOR_MISTAKES)
def test_a_mistake_in_the_estimator_project_is_told_at_its_line(project: Project, name: str) -> None:
    old, new, line = ESTIMATOR_MISTAKES[name]
    assert ESTIMATOR.count(old) == 1
    answer = project.write({"train.py": ESTIMATOR.replace(old, new), "model.py": MODEL}).check()
    assert answer.places(name) == [f"train.py:{line}"]


def notebook(*cells: list[str]) -> str:
    sources = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"cells": sources, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def test_a_session_in_a_notebook_is_told_at_the_line_of_the_file(project: Project) -> None:
    text = notebook(
        ["%matplotlib inline\n", "import tensorflow as tf\n", "step = tf.train.AdamOptimizer(1e-3).minimize(loss)"],
        ["# the session\n", "sess = tf.Session()\n", "sess.run(step)"],
    )
    answer = project.write({"train.ipynb": text}).check()
    line = next(number for number, line in enumerate(text.split("\n"), 1) if "tf.Session()" in line)
    assert answer.code == 1
    assert answer.places("session-without-npu-config") == [f"train.ipynb:{line}"]


def test_two_programs_that_share_a_module_give_one_finding(project: Project) -> None:
    data = """\
        import tensorflow as tf

        def batches(path):
            scale = tf.Variable(0.5)
            return tf.data.TFRecordDataset(path).map(lambda x: x * scale)
        """
    entry = "import data\n\nif __name__ == '__main__':\n    data.batches('a')\n"
    answer = project.write({"data.py": data, "train.py": entry, "evaluate.py": entry}).check()
    assert answer.places("variable-in-dataset-map") == ["data.py:4"]
    assert [p["entry"] for p in answer.document["programs"]] == ["evaluate.py", "train.py"]


# One file, standard input


def test_a_file_that_is_named_alone_is_judged_with_its_project(project: Project) -> None:
    name = "mixed-precision-without-loss-scale"
    project.write(FILES)
    assert name not in project.check("train.py").names
    project.write({"model.py": "def scaled(optimizer):\n    return optimizer\n"})
    answer = project.check("train.py")
    assert answer.places(name) == ["train.py:11"]
    assert {found["path"] for found in answer.findings} == {"train.py"}
    assert answer.document["summary"]["files"] == 1


def test_standard_input_is_judged_under_its_name(project: Project) -> None:
    text = b"import tensorflow as tf\ntf.train.AdamOptimizer(1e-3).minimize(loss)\nsess = tf.Session()\n"
    answer = project.run("check", "-", "--stdin-filename=deep/train.py", "--format=json", "--no-cache", stdin=text)
    assert answer.code == 1
    assert answer.places("session-without-npu-config") == ["deep/train.py:3"]


def test_standard_input_stands_for_the_file_on_disk(project: Project) -> None:
    project.write(FILES)
    text = TRAIN.replace("tf.Session(config=npu.session_config(args))", "tf.Session()")
    words = ("check", "-", "--stdin-filename=train.py", "--format=json", "--no-cache", OLD_ADAPTER)
    answer = project.run(*words, stdin=Project.text(text))
    assert answer.places("session-without-npu-config") == ["train.py:12"]
    assert "mixed-precision-without-loss-scale" not in answer.names  # model.py is seen
    assert project.check("train.py", OLD_ADAPTER).places("session-without-npu-config") == []


# Suppressions

GPU = """\
import tensorflow as tf

step = tf.train.AdamOptimizer(1e-3).minimize(loss)
sess = tf.Session(){comment}
sess.run(step)
"""
SILENCED = "session-without-npu-config"
COMMENTS = {
    "by name": "  # npulint: ignore[session-without-npu-config] runs on the host",
    "by code": "  # npulint: ignore[NPU1101]",
    "among others": "  # npulint: ignore[training-without-precision-mode, session-without-npu-config]",
    "by noqa": "  # noqa: NPU1101",
    "by noqa beside another tool": "  # noqa: E501, NPU1101",
}


@pytest.mark.parametrize("comment", COMMENTS.values(), ids=COMMENTS.keys())
def test_a_comment_silences_a_finding(project: Project, comment: str) -> None:
    answer = project.write({"train.py": GPU.format(comment=comment)}).check()
    assert answer.code == 0
    assert SILENCED not in answer.names and "unused-suppression" not in answer.names
    assert answer.document["summary"]["suppressed"] >= 1


def test_a_comment_silences_a_whole_file(project: Project) -> None:
    text = f"# npulint: ignore-file[{SILENCED}] kept for comparison\n" + GPU.format(comment="")
    assert SILENCED not in project.write({"train.py": text}).check().names


@pytest.mark.parametrize(
    ("comment", "name", "words"),
    [
        pytest.param("  # npulint: ignore[dynamic-top-k]", "unused-suppression", "`dynamic-top-k`", id="of no use"),
        pytest.param("  # noqa: NPU1122", "unused-suppression", "`NPU1122`", id="noqa of no use"),
        pytest.param("  # npulint: ignore[sesion-without-npu-config]", "invalid-suppression", SILENCED, id="misspelled"),
        pytest.param("  # npulint: ignore", "invalid-suppression", "names no check", id="without a name"),
    ],
)
def test_a_comment_that_silences_nothing_is_told(project: Project, comment: str, name: str, words: str) -> None:
    answer = project.write({"train.py": GPU.format(comment=comment)}).check()
    assert answer.places(SILENCED) == ["train.py:4"]
    assert [words in f["message"] for f in answer.findings if f["name"] == name] == [True]
    assert answer.places(name) == ["train.py:4"]


def test_a_bare_noqa_is_for_other_tools(project: Project) -> None:
    answer = project.write({"train.py": GPU.format(comment="  # noqa")}).check()
    assert answer.places(SILENCED) == ["train.py:4"] and "invalid-suppression" not in answer.names


def test_a_comment_in_a_launcher_silences_too(project: Project) -> None:
    text = "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0{}\npython3 train.py\n"
    files = {"train.py": GPU.format(comment=""), "run.sh": text.format("")}
    assert project.write(files).check().places("cuda-variable-exported") == ["run.sh:2"]
    project.write({"run.sh": text.format("  # npulint: ignore[cuda-variable-exported] for the GPU reference")})
    assert "cuda-variable-exported" not in project.check().names


# What is told, and the exit code


def test_the_report_for_people_shows_the_source_and_where_to_begin(project: Project) -> None:
    answer = project.write({"train.py": GPU.format(comment="")}).run("check", "--no-cache")
    assert answer.code == 1
    for part in ("error[session-without-npu-config]: ", "--> train.py:4:8", "4 | sess = tf.Session()", "= why: ", "= fix: "):
        assert part in answer.out
    assert "npulint explain session-without-npu-config" in answer.out


def test_everything_is_told_in_chinese(project: Project) -> None:
    project.write({"train.py": GPU.format(comment=""), "old.py": "def f(:\n"})
    answer = project.run("check", "--no-cache", "--lang=zh")
    assert answer.code == 1
    for part in ("错误[session-without-npu-config]", "原因", "建议", "程序", "未迁移", "1 个文件未能读取：old.py（语法错误）"):
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
def test_exit_code_and_thresholds(
    project: Project, severity: str, words: list[str], code: int, findings: int
) -> None:
    text = GPU.format(comment="") if severity == "error" else NOTE_ONLY
    answer = project.write({"train.py": text}).check(*words)
    assert answer.code == code
    assert len([f for f in answer.findings if f["severity"] == severity]) == findings


def test_people_are_spared_notes_but_told_of_them(project: Project) -> None:
    project.write({"train.py": NOTE_ONLY})
    answer = project.run("check", "--no-cache")
    assert (answer.code, "tf-slim" in answer.out) == (0, False)
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
    assert len(answer.findings) > 2
    for found in answer.findings:
        page = project.run("explain", found["name"])
        assert page.code == 0
        assert page.out.startswith(f"# {found['code']} {found['name']}\n")
        assert found["why"] in page.out or "{" not in page.out
    assert "为什么" in project.run("explain", SILENCED, "--lang=zh").out or not project.run(
        "explain", SILENCED, "--lang=zh"
    ).out.isascii()


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


def test_a_new_check_is_written_tested_and_used(project: Project) -> None:
    new = project.run("new", "tensorflow/own-session", "--checks=mine")
    assert new.code == 0 and Path("mine/tensorflow/own-session.yaml").is_file()
    unfinished = project.run("test", "mine/tensorflow/own-session.yaml")
    assert unfinished.code in (1, 2) and "Traceback" not in unfinished.err
    project.write({"mine/tensorflow/own-session.yaml": OWN, "train.py": GPU.format(comment="")})
    tested = project.run("test", "mine/tensorflow/own-session.yaml")
    assert (tested.code, tested.out, tested.err) == (0, "4 examples, all hold\n", "")
    assert project.check("--checks=mine").places("own-session") == ["train.py:4"]
    assert "own-session" in project.run("explain", "own-session", "--checks=mine").out
    project.write({"npulint.toml": 'checks = ["mine"]\nselect = ["own-session"]\n'})
    assert project.check().names == ["own-session"]


def test_a_check_whose_examples_do_not_hold_is_told(project: Project) -> None:
    project.write({"tensorflow/own-session.yaml": OWN.replace("tensorflow.Session}", "tensorflow.InteractiveSession}")})
    answer = project.run("test", "tensorflow/own-session.yaml")
    assert answer.code == 1
    assert "2 of 4 examples do not hold" in answer.out


OWN = """\
    code: NPU1199
    since: "0.1"
    status: preview
    topic: session_config
    category: functional
    severity: warning
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
    assert remembered(project, cache, "--target=adapter=1.7", "--lang=zh").code == 0


def test_a_damaged_cache_is_harmless(project: Project, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    project.write({"train.py": GPU.format(comment="")})
    first = remembered(project, cache)
    files = [path for path in cache.iterdir() if path.is_file()]
    assert len(files) >= 2  # facts and the compiled catalogue
    for damage in (b"", b"no database at all" * 100, None):
        for path in files:
            data = path.read_bytes() if path.exists() else b""
            path.write_bytes(data[: len(data) // 2] + b"\xff" * 64 + data[len(data) // 2 + 64 :] if damage is None else damage)
        assert remembered(project, cache) == first


@pytest.mark.parametrize("shape", ["json", "text"])
def test_the_same_bytes_whatever_the_seed(project: Project, shape: str) -> None:
    project.write({**FILES, "old/train_gpu.py": GPU.format(comment=""), "train.ipynb": notebook([GPU.format(comment="")])})
    outputs = {
        project.spawn("check", "--no-cache", f"--format={shape}", environ={"PYTHONHASHSEED": seed}).out
        for seed in ("0", "1", "4711")
    }
    assert len(outputs) == 1
    assert "train.ipynb" in outputs.pop()


def test_the_order_of_the_paths_does_not_matter(project: Project) -> None:
    project.write({**FILES, "old/train_gpu.py": GPU.format(comment="")})
    assert project.check("old", ".").out == project.check(".", "old").out == project.check().out

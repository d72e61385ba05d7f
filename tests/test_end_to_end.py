"""Small real projects through the real command line: verdicts that need several files, and suppressions."""

from __future__ import annotations

import pytest

from tests.project_samples import FILES, FORGETFUL, GPU, MODEL, OLD_ADAPTER, RUN, SILENCED, TRAIN, edited, notebook
from tests.project_support import Project

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
    assert [item["status"] for item in before if item["item"] == "mixed_precision"] == ["failed"]
    assert [item["status"] for item in after if item["item"] == "mixed_precision"] != ["failed"]


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
    checklist = answer.document["programs"][0]["checklist"]
    assert [item["item"] for item in checklist if item["status"] == "failed"] == []
    assert [item["status"] for item in checklist[:4]] == ["passed"] * 4


ESTIMATOR_MISTAKES = {
    "npu-estimator-wrong-config": ("config = NPURunConfig(", "config = tf.estimator.RunConfig(", 23),
    "unknown-adapter-option": ("precision_mode=", "precison_mode=", 21),
    "adapter-option-bad-value": ("allow_mix_precision", "allow_mixed_precision", 21),
    "batch-without-drop-remainder": (", drop_remainder=True", "", 13),
    "no-iterations-per-loop": ("iterations_per_loop=100,", "", 17),
}


@pytest.mark.parametrize("name", ESTIMATOR_MISTAKES)
def test_a_mistake_in_the_estimator_project_is_told_at_its_line(project: Project, name: str) -> None:
    old, new, line = ESTIMATOR_MISTAKES[name]
    assert ESTIMATOR.count(old) == 1
    answer = project.write({"train.py": ESTIMATOR.replace(old, new), "model.py": MODEL}).check()
    assert answer.places(name) == [f"train.py:{line}"]


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
    assert [p["entry"] for p in answer.document["programs"]] == ["train.py", "evaluate.py"]


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
        pytest.param(
            "  # npulint: ignore[sesion-without-npu-config]", "invalid-suppression", SILENCED, id="misspelled"
        ),
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

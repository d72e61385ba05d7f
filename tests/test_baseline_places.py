"""A new finding among accepted ones is reported where it is, also if its line was accepted elsewhere."""

from __future__ import annotations

import pytest

from tests.project_support import Project

HEAD = """\
import tensorflow as tf
x = tf.placeholder(tf.float32, [8, 4])
w = tf.get_variable("w", [4, 1])
op = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.matmul(x, w)))


"""
MAIN = """\
def main(batches):
    sess = tf.Session()
    for batch in batches:
        sess.run(op, {x: batch})
"""
OTHER = MAIN.replace("main", "other")
NAME = "session-outside-training-without-npu-config"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param(HEAD + MAIN + "\n\n" + OTHER, 14, id="below"),
        pytest.param(HEAD + OTHER + "\n\n" + MAIN, 8, id="above"),
    ],
)
def test_a_second_line_that_reads_like_an_accepted_one(project: Project, text: str, line: int) -> None:
    project.write({"train.py": HEAD + MAIN, "copy.py": HEAD + MAIN})
    project.run("check", "--write-baseline", "--min-severity", "note")
    assert project.run("check", "--format", "json").findings == []
    project.write({"train.py": text})
    assert project.run("check", "--format", "json").places(NAME) == [f"train.py:{line}"]


def test_a_duplicate_in_one_file_is_not_new_in_another(project: Project) -> None:
    launcher = "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0,1\npython train.py\n"
    project.write({"train.py": HEAD + MAIN, "a.sh": launcher, "b.sh": launcher})
    project.run("check", "--write-baseline", "--min-severity", "note")
    project.write({"b.sh": launcher + "export CUDA_VISIBLE_DEVICES=0,1\n"})
    answer = project.run("check", "--format", "json")
    assert answer.places("cuda-variable-exported") == ["b.sh:4"]

"""Names of nodes, and the lines of code that give them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.commands.build import assembled
from npulint.discover.kinds import SourceFile
from npulint.model.values.context import Context
from npulint.read.files import LoadedFile, read
from npulint.runs.facts.origins import Names, periodic

CODE = """import tensorflow as tf


def unit(x, name="unit", every=7):
    with tf.variable_scope("stage"):
        with tf.name_scope(name):
            y = tf.nn.relu(x, name="act")
    return tf.add(x, y, name="%s_sum" % name)


with tf.name_scope("tower"):
    a = unit(x, "left")
    b = unit(x, name="right")
for i in range(8):
    c = tf.layers.dense(c, 3, name=f"fc{i}_out")
    c = tf.layers.dense(c, 3, name="head" + str(i))
    if i % 25 == 0 and i:
        print(i)
    if not (i + 1) % FREQUENCY:
        print(i)
FREQUENCY = 40
save(step, save_interval=25, size=25)
d = tf.reduce_sum(x, name=prefix + "/total")
e = tf.identity(x, name="fixed_" + "name")
"""


def names(code: str = CODE) -> Names:
    return Names(context(code))


def context(code: str = CODE) -> Context:
    data = code.encode()
    file = SourceFile("train.py", "python", "train.py", ".", len(data))
    return assembled(".", [read(LoadedFile(file, data), complete=True)]).context


KNOWN = names()


@pytest.mark.parametrize(
    ("node", "lines"),
    [
        ("tower/stage/left/act", [7]),
        ("tower_1/stage_3/left_2/act_5", [7]),
        ("tower/stage/right/act", [7]),
        ("gradients/tower/stage/left/act_grad/ReluGrad", [7]),
        ("act", []),  # not in the scope that the code puts it in
        ("tower/left", [12]),  # what it calls gives that name
        ("tower/right/Relu", [13]),
        ("somewhere/right/Relu", []),
        ("fc3_out/MatMul", [15]),
        ("fc_out/MatMul", []),  # nothing stands for the computed part
        ("head12/BiasAdd", [16]),
        ("model/total", [23]),
        ("tower/Addtower/Relu", [11]),
        ("fixed_name/Identity", [24]),
        ("fixed_7name/Identity", []),  # no part of it is computed from what is not known
        ("Adam/update_total/ResourceApplyAdam", [23]),
        ("nothing/of/it", []),
        ("", []),
        ("///", []),
    ],
)
def test_lines_of_a_node(node: str, lines: list[int]) -> None:
    assert [one.span.line for one in KNOWN.of_node(node, [])] == lines


@pytest.mark.parametrize(
    ("node", "lines"), [("tower_stage_left_act", [7]), ("stage_act", []), ("model_total", []), ("act", []), ("_", [])]
)
def test_lines_of_a_node_that_a_dump_names(node: str, lines: list[int]) -> None:
    assert [one.span.line for one in KNOWN.of_dumped(node, [])] == lines


@given(st.text(max_size=60) | st.from_regex(r"(?:[a-z_0-9]{0,6}/){0,80}[A-Z]\w{0,9}", fullmatch=True))
def test_any_name_of_a_node_is_looked_for(node: str) -> None:
    assert len(KNOWN.of_node(node, [])) <= 3
    assert len(KNOWN.of_dumped(node, [])) <= 3


def test_a_name_of_any_length_is_looked_for() -> None:
    assert KNOWN.of_node("left/" * 100_000 + "act", []) is not None


def test_what_happens_every_so_many_steps() -> None:
    known = context()
    assert [span.line for _, span in periodic(known, 25)] == [17, 22]
    assert [span.line for _, span in periodic(known, 40)] == [19]
    assert periodic(known, 3) == []


def test_where_much_happens_as_often_only_conditions_are_told() -> None:
    many = "".join(f"f{n}(save_steps=25)\n" for n in range(9))
    assert [span.line for _, span in periodic(context(CODE + many), 25)] == [17]
    tests = "".join("if i % 25 == 0:\n    f()\n" for n in range(9))
    assert periodic(context(CODE + tests), 25) == []

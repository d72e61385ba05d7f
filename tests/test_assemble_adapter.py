"""What the option tables add to the settings of a project, and first runs that mix initialisers."""

from __future__ import annotations

import pytest

from tests.support import facts, lines, programs

_HEAD = """
import tensorflow as tf
from npu_bridge.npu_init import *
config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
"""


def _setting(line: str, name: str) -> dict[str, object]:
    fact = facts(_HEAD + line + "\n", "setting", name)[0]
    return {key: fact.get(key) for key in ("legal", "nearest", "field_ok", "value_ok", "status")}


@pytest.mark.parametrize(
    ("line", "name", "expected"),
    [
        pytest.param(
            'op.parameter_map["precison_mode"].s = tf.compat.as_bytes("x")', "precison_mode",
            {"legal": "no", "nearest": "precision_mode"}, id="a misspelt key has a nearest one",
        ),
        pytest.param(
            'op.parameter_map["precision_mode"].b = True', "precision_mode",
            {"legal": "yes", "field_ok": "no"}, id="the field of another type is wrong",
        ),
        pytest.param(
            'op.parameter_map["jit_compile"].b = True', "jit_compile",
            {"legal": "yes", "field_ok": "outdated"}, id="an option that was a bool once",
        ),
        pytest.param(
            'op.parameter_map["dump_mode"].s = tf.compat.as_bytes("ALL")', "dump_mode",
            {"field_ok": "yes", "value_ok": "no"}, id="letter case of a value counts",
        ),
        pytest.param(
            'op.parameter_map["precision_mode"].s = tf.compat.as_bytes(MODE)', "precision_mode",
            {"value_ok": "unknown"}, id="a value that is not known may be right",
        ),
        pytest.param(
            'op.parameter_map["precision_mode"].s = tf.compat.as_bytes("")', "precision_mode",
            {"value_ok": "unknown"}, id="an empty text stands for not given",
        ),
        pytest.param(
            "run = NPURunConfig(precision_mode=None)", "precision_mode",
            {"value_ok": "yes"}, id="None is the default",
        ),
        pytest.param(
            "run = NPURunConfig(enable_reduce_precision=True)", "enable_reduce_precision",
            {"legal": "yes", "status": "dead"}, id="a dead argument is still accepted",
        ),
    ],
)  # fmt: skip
def test_settings_are_held_against_the_option_table(line: str, name: str, expected: dict[str, str]) -> None:
    found = _setting(line, name)
    assert {key: found[key] for key in expected} == expected


def test_options_of_a_foreign_optimizer_are_not_judged() -> None:
    text = _HEAD.replace("NpuOptimizer", "MyPass") + 'op.parameter_map["level"].i = 3\n'
    assert facts(text, "setting", "level")[0].get("legal") is None


def test_settings_know_what_stands_beside_them() -> None:
    text = _HEAD + (
        'op.parameter_map["enable_dump"].b = True\n'
        'if MODE:\n    op.parameter_map["dump_path"].s = tf.compat.as_bytes("/tmp")\n'
        "run = NPURunConfig(session_config=config, iterations_per_loop=10)\n"
    )
    dump = facts(text, "setting", "enable_dump")[0]
    assert dump.get("options") == "dump_path enable_dump"
    assert dump.get("beside") == "enable_dump=True"
    assert dump.get("feeds_run_config") == "yes"
    assert dump.get("in_run_config") == "no"


@pytest.mark.parametrize(
    ("name", "spelling"),
    [
        pytest.param('op.name = "NpuOptimizer"', "right", id="exactly"),
        pytest.param('op.name = "NPUOptimizer"', "wrong", id="another letter case"),
        pytest.param('op.name = "MyPass"', "other", id="somebody else's pass"),
        pytest.param("op.name = NAME", "unknown", id="a name from elsewhere"),
        pytest.param("", "missing", id="never named"),
    ],
)
def test_the_name_of_a_custom_optimizer_is_judged(name: str, spelling: str) -> None:
    text = _HEAD.replace('op.name = "NpuOptimizer"', name)
    assert facts(text, "npu_optimizer")[0].get("spelling") == spelling


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param("NPURunConfig()", ("npu", "yes"), id="the NPU's own"),
        pytest.param("npu_run_config_init(run_config=tf.estimator.RunConfig())", ("wrapped", "yes"), id="wrapped"),
        pytest.param("tf.estimator.RunConfig().replace(model_dir='a')", ("other", "no"), id="TensorFlow's, replaced"),
        pytest.param("None", ("none", "no"), id="none"),
        pytest.param("CONFIG", ("unknown", "unknown"), id="from elsewhere"),
    ],
)
def test_an_estimator_tells_what_configures_it(config: str, expected: tuple[str, str]) -> None:
    fact = facts(_HEAD + f"est = tf.estimator.Estimator(model_fn, 'out', {config})\n", "estimator")[0]
    assert (fact.get("config"), fact.get("npu")) == expected


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        pytest.param("sess.run(tf.group(tf.global_variables_initializer(), it.initializer))", [6], id="a group"),
        pytest.param("boot = [init, it.initializer]; sess.run(boot)", [6], id="a list by name"),
        pytest.param("sess.run([init, tf.tables_initializer()])", [], id="tables only"),
        pytest.param("sess.run([init, tf.Variable(1.0).initializer])", [], id="a variable's own initializer"),
        pytest.param("sess.run(init); sess.run(it.initializer)", [], id="two runs"),
    ],
)
def test_joint_initialisation_is_found(run: str, expected: list[int]) -> None:
    text = (
        "import tensorflow as tf\n"
        "it = tf.data.Dataset.range(3).make_initializable_iterator()\n"
        "init = tf.global_variables_initializer()\n"
        "sess = tf.Session()\n"
        "\n" + run + "\n"
    )
    assert lines(text, "init_group") == expected


def test_programs_of_one_project_know_of_each_other() -> None:
    sources = {
        "train.py": _HEAD + "step = tf.train.AdamOptimizer(1.0).minimize(loss)\nsess = tf.Session(config=config)\n",
        "tool.py": "import tensorflow as tf\nsess = tf.Session()\n",
    }
    by_entry = {p.entry: p for p in programs(sources)}
    assert by_entry["tool.py"].fact.get("npu") == "no"
    assert by_entry["tool.py"].fact.get("project_npu") == "yes"
    assert [f.get("reached") for p in by_entry.values() for f in p.index.of_kind("session")] == ["no", "surely"]

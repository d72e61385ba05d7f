"""Constants of configuration modules that nothing reads decide nothing."""

from __future__ import annotations

from tests.compare_support import short_differences

_TRAIN = """
import tensorflow as tf
import config

{more}
model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
model.compile(tf.keras.optimizers.SGD(config.LEARNING_RATE), 'mse')
model.fit(x, y, epochs={epochs})
"""


def _project(rate: float, epochs: int, used: str = "config.EPOCHS", more: str = "") -> dict[str, str]:
    return {
        "train.py": _TRAIN.format(epochs=used, more=more),
        "config.py": f"LEARNING_RATE = {rate}\nEPOCHS = {epochs}\n",
    }


def test_a_constant_that_is_read_differs() -> None:
    assert [one[:3] for one in short_differences(_project(0.1, 50), _project(0.1, 1))] == [
        ("epochs", "changed", "EPOCHS")
    ]


def test_a_constant_that_nothing_reads_any_more_does_not() -> None:
    assert short_differences(_project(0.1, 50), _project(0.1, 1, used="50")) == []


def test_another_constant_of_the_same_module_still_does() -> None:
    found = short_differences(_project(0.1, 50), _project(0.2, 1, used="50"))
    assert [one[2] for one in found] == ["LEARNING_RATE"]


def test_a_constant_may_be_read_through_its_module() -> None:
    for reading in ("print(vars(config))", "from config import EPOCHS", "from config import *", "value = config"):
        found = short_differences(_project(0.1, 50, "50", reading), _project(0.1, 1, "50", reading))
        assert [one[2] for one in found] == ["EPOCHS"], reading


def test_a_constant_that_another_one_is_made_of_is_read() -> None:
    more = "TOTAL = EPOCHS * 100\n"
    files = [_project(0.1, epochs, used="50") for epochs in (50, 1)]
    for one in files:
        one["config.py"] += more
    assert "EPOCHS" in [one[2] for one in short_differences(*files)]

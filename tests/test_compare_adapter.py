"""Settings of the adapter, as the compared start makes them."""

from __future__ import annotations

from tests.compare_support import short_differences

_PLAIN = """
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
model.compile(tf.keras.optimizers.SGD(0.1), 'mse')
model.fit(x, y, epochs=10)
"""
_PORTED = """
import argparse, ast
import npu_device
parser = argparse.ArgumentParser()
parser.add_argument('--use_mixlist', type=ast.literal_eval, default=False)
args = parser.parse_args()
npu_device.global_options().precision_mode = 'allow_mix_precision'
if args.use_mixlist:
    npu_device.global_options().modify_mixlist = 'ops_info.json'
npu_device.open().as_default()
"""


def _started(value: str) -> dict[str, str]:
    return {"train.py": _PORTED + _PLAIN, "test/train_full_1p.sh": f"python3 train.py --use_mixlist={value}\n"}


def _told(value: str) -> list[str]:
    return [one[2] for one in short_differences({"train.py": _PLAIN}, _started(value))]


def test_what_the_launcher_turns_on_is_told() -> None:
    assert _told("True") == ["precision_mode", "modify_mixlist"]


def test_what_the_launcher_turns_off_is_not() -> None:
    assert _told("False") == ["precision_mode"]

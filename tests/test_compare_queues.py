"""Queues of TensorFlow 1 and the tf.data pipeline that replaces them, and what only places operators on devices."""

from __future__ import annotations

import pytest

from tests.compare_support import short_differences

_HEAD = "import tensorflow as tf\n"
_TAIL = "\ntf.train.AdamOptimizer(0.1).minimize(loss(rows))\n"
_QUEUE = """
names = tf.train.string_input_producer(['rows.txt'], shuffle=False)
_, line = tf.TextLineReader().read(names)
rows = tf.train.batch([parse(line)], {size})
"""
_DATASET = """
lines = tf.data.TextLineDataset(['rows.txt'])
rows = lines.batch({size}, drop_remainder=True).make_one_shot_iterator().get_next()
"""


def _parts(size: int) -> list[tuple[str, ...]]:
    reference = _HEAD + _QUEUE.format(size=32) + _TAIL
    return [tuple(map(str, one)) for one in short_differences({"train.py": reference}, {"train.py": _ported(size)})]


def _ported(size: int) -> str:
    return _HEAD + _DATASET.format(size=size) + _TAIL


def test_a_dataset_that_replaces_a_queue_reads_the_same_lines_in_the_same_batches() -> None:
    assert not [one for one in _parts(32) if "batch_size" in one or "dataset" in one]


def test_another_batch_size_is_told_all_the_same() -> None:
    assert [one for one in _parts(64) if "batch_size" in one and "32" in one and "64" in one]


@pytest.mark.parametrize("cell", ["tf.contrib.rnn.DeviceWrapper(cell, '/gpu:0')", "cell"])
def test_a_wrapper_that_places_a_cell_on_a_device_is_no_layer(cell: str) -> None:
    model = "\ncell = tf.contrib.rnn.BasicLSTMCell(8)\nrows = tf.nn.static_rnn({}, [x], dtype=tf.float32)\n"
    files = [{"train.py": _HEAD + model.format(one) + _TAIL} for one in (cell, "cell")]
    assert short_differences(*files) == []

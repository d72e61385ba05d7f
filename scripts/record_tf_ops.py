"""Records which operators TensorFlow interfaces put into a graph, by building each of them.

    python scripts/record_tf_ops.py [--check]

Needs tensorflow-cpu (any 2.x release) in the environment. For every row of data-src/tf_host_ops.csv that has
a sample the operators of the sample and of its gradient are recorded in the column `ops`, as far as
data-src/tf_op_places.csv knows them as operators that may stay on the host; rows without a sample are kept (2.x
builds them otherwise than 1.15, or lacks them). With --check nothing is written; the exit status is 1 when a row
differs.
"""

from __future__ import annotations

import csv
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import tensorflow.compat.v1 as tf

SOURCES = Path(__file__).resolve().parent.parent / "data-src"
TABLE, PLACES = SOURCES / "tf_host_ops.csv", SOURCES / "tf_op_places.csv"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def operands() -> dict[str, Any]:
    """The tensors that samples are written with, by their names there."""
    real, whole, text = tf.float32, tf.int32, tf.string
    return {
        "x": tf.placeholder(real, [4, 8]),
        "x3": tf.placeholder(real, [4, 6, 8]),
        "square": tf.placeholder(real, [4, 4]),
        "w": tf.placeholder(real, [9, 5]),
        "i": tf.placeholder(whole, [4]),
        "i2": tf.placeholder(whole, [2]),
        "pairs": tf.placeholder(tf.int64, [2, 2]),
        "s": tf.placeholder(text, [4]),
        "s0": tf.placeholder(text, []),
        "c": tf.placeholder(tf.complex64, [8]),
        "c2": tf.placeholder(tf.complex64, [8, 8]),
        "c3": tf.placeholder(tf.complex64, [8, 8, 8]),
        "img": tf.placeholder(real, [8, 8, 3]),
        "img8": tf.placeholder(tf.uint8, [8, 8, 3]),
        "imgb": tf.placeholder(real, [2, 8, 8, 3]),
        "boxes": tf.placeholder(real, [4, 4]),
        "vol": tf.placeholder(real, [2, 8, 8, 8, 3]),
        "sp": tf.sparse_placeholder(real, [4, 8]),
        "spi": tf.sparse_placeholder(tf.int64, [4, 8]),
    }


def recorded(sample: str) -> set[str]:
    """The operator types of a sample and of its gradient."""
    with tf.Graph().as_default() as graph:
        values = operands()
        before = {node.name for node in graph.get_operations()}
        made = eval(sample, {"tf": tf, **values})  # the samples are our own
        reals = [t for t in tf.nest.flatten(made) if isinstance(t, tf.Tensor) and t.dtype.is_floating]
        waves = [tf.abs(t) for t in tf.nest.flatten(made) if isinstance(t, tf.Tensor) and t.dtype.is_complex]
        tensors = [t for t in values.values() if isinstance(t, tf.Tensor)]
        with suppress(LookupError, ValueError, TypeError):  # nothing to derive
            tf.gradients(reals + waves, [t for t in tensors if t.dtype.is_floating or t.dtype.is_complex])
        return {node.type for node in graph.get_operations() if node.name not in before}


def main(arguments: list[str]) -> int:
    tf.disable_v2_behavior()
    apart = ("host", "older", "mixed")
    known = {row["tf_op"] for row in rows(PLACES) if row["place"] in apart and row["since"] == "1.15"}
    table = rows(TABLE)
    stale = []
    for row in table:
        if row["sample"]:
            ops = " ".join(sorted(recorded(row["sample"]) & known))
            if ops != row["ops"]:
                stale.append(row["api"])
                row["ops"] = ops
    if stale and "--check" not in arguments:
        with TABLE.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(table[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
    print(f"{len(stale)} rows differ" + (f": {' '.join(stale)}" if stale else ""))
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

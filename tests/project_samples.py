"""The projects of the end-to-end tests: a migrated one in five files, and a GPU script."""

from __future__ import annotations

import json

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
FILES: dict[str, str] = {
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


def edited(name: str, old: str, new: str) -> dict[str, str]:
    """The project with one text of a file replaced."""
    assert FILES[name].count(old) == 1
    return {**FILES, name: FILES[name].replace(old, new)}


def notebook(*cells: list[str]) -> str:
    """A notebook as it is stored."""
    sources = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell} for cell in cells]
    return json.dumps({"cells": sources, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


GPU = """\
import tensorflow as tf

step = tf.train.AdamOptimizer(1e-3).minimize(loss)
sess = tf.Session(){comment}
sess.run(step)
"""
SILENCED = "session-without-npu-config"

"""Code that only looks like what the migration tool rewrites, each with the code that it looks like."""

from __future__ import annotations

from textwrap import dedent

import msgspec

from tests.convert_samples import KERAS1, ON_GPU, SESSION, filled


class Trap(msgspec.Struct, frozen=True):
    """Parts of a program for a GPU that rule `rule` of the tool may take for its own, and `real`: what they look
    like."""

    rule: str
    lookalikes: dict[str, str]
    real: dict[str, str]
    program: str = SESSION

    def text(self, parts: dict[str, str]) -> str:
        """The program with these parts in it."""
        return filled(self.program, ON_GPU[self.program], parts)


def lines(parts: dict[str, str]) -> list[str]:
    """The lines of some parts, without their margins."""
    return [line.strip() for part in parts.values() for line in dedent(part).strip().split("\n")]


TRAPS = {
    "session-of-requests": Trap(
        "1",
        {"imports": "import requests", "settings": "page = requests.Session().get('http://localhost/weights').content"},
        {"session": "with tf.Session() as sess:"},
    ),
    "session-class-of-the-project": Trap(
        "1",
        {
            "imports": "from study import Session, InteractiveSession",
            "settings": "notes, shell = Session(config=None), InteractiveSession()",
        },
        {"imports": "from tensorflow import Session", "session": "with Session(config=None) as sess:"},
    ),
    "session-that-has-it-by-position": Trap(
        "1",
        {
            "imports": "from npu_bridge.npu_init import *",
            "settings": "proto = npu_config_proto()",
            "session": "with tf.Session('', None, proto) as sess:",
        },
        {"session": "with tf.Session('', None, tf.ConfigProto()) as sess:"},
    ),
    "jit-level-off-already": Trap(
        "7",
        {"settings": "options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.OFF)"},
        {"settings": "options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.ON_2)"},
    ),
    "estimator-of-sklearn": Trap(
        "8",
        {
            "imports": "from sklearn.linear_model import LogisticRegression\nfrom fits import Estimator",
            "settings": """
            baseline = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
            other = Estimator(baseline, config=None)
            """,
        },
        {
            "imports": "from tensorflow.estimator import Estimator",
            "settings": "Estimator(lambda features, labels: None, config=None).train(pairs)",
        },
    ),
    "dropout-of-another": Trap(
        "11",
        {"imports": "from layers import dropout", "model": "hidden = dropout(hidden, 0.5)"},
        {"imports": "from tensorflow.nn import dropout", "model": "hidden = dropout(hidden, 0.5)"},
    ),
    "gelu-by-the-error-function": Trap(
        "13",
        {
            "imports": """
            def gelu(x):
                return 0.5 * x * (1.0 + tf.erf(x / 1.4142135))
            """,
            "model": "hidden = gelu(hidden)",
        },
        {},
    ),
    "gelu-with-a-width": Trap(
        "13",
        {
            "imports": """
            def gelu(x, width):
                return width * x * tf.sigmoid(1.702 * x)
            """,
            "model": "hidden = gelu(hidden, 0.5)",
        },
        {},
    ),
    "batch-of-another": Trap(
        "14",
        {
            "imports": "import webdataset\nfrom chunks import ranges",
            "settings": "shards = webdataset.WebDataset('x.tar').batch(32)\nparts = ranges(10).batch(3)",
        },
        {"data": "dataset = dataset.batch(32).prefetch(tf.data.experimental.AUTOTUNE)"},
    ),
    "remainder-by-position": Trap(
        "14",
        {"data": "dataset = dataset.batch(32, True).prefetch(tf.data.experimental.AUTOTUNE)"},
        {"data": "dataset = dataset.batch(32, False).prefetch(tf.data.experimental.AUTOTUNE)"},
    ),
    "batches-of-the-evaluation": Trap(
        "14",
        {
            "imports": """
            def evaluation_pairs(path):
                return tf.data.TFRecordDataset(path).map(parse).batch(32).make_one_shot_iterator().get_next()
            """,
            "settings": "test_images, test_labels = evaluation_pairs('test.tfrecord')",
        },
        {"data": "dataset = dataset.batch(32).prefetch(tf.data.experimental.AUTOTUNE)"},
    ),
    "shard-of-another": Trap(
        "15",
        {"imports": "from tables import table", "settings": "part = table('users').shard(8, 0)"},
        {
            "imports": "import horovod.tensorflow as hvd",
            "settings": "names = tf.data.Dataset.list_files('*.txt').shard(hvd.size(), hvd.rank())",
        },
    ),
    "device-of-the-host": Trap(
        "16",
        {"model": 'with tf.device("CPU:0"):\n    hidden = tf.identity(hidden)'},
        {"model": 'with tf.device("GPU:0"):\n    hidden = tf.identity(hidden)'},
    ),
    "strategy-of-the-project": Trap(
        "17",
        {"imports": "from plans import MirroredStrategy", "settings": "strategy = MirroredStrategy()"},
        {
            "imports": "from tensorflow.distribute import MirroredStrategy",
            "settings": "strategy = MirroredStrategy()",
        },
    ),
    "growth-of-another": Trap(
        "22",
        {"imports": "import cache", "settings": "cache.set_memory_growth('weights', True)"},
        {"settings": "tf.config.experimental.set_memory_growth('gpu', True)"},
    ),
    "scope-of-another": Trap(
        "23",
        {
            "imports": "from compilers import jit_scope",
            "model": "with jit_scope():\n    hidden = tf.identity(hidden)",
        },
        {"model": "with tf.xla.experimental.jit_scope():\n    hidden = tf.identity(hidden)"},
    ),
    "session-cleared-elsewhere": Trap(
        "24",
        {
            "imports": "import browser",
            "settings": "npu_session = set_keras_session_npu_config()\nbrowser.clear_session()",
        },
        {"settings": "npu_session = set_keras_session_npu_config()\ntf.keras.backend.clear_session()"},
        KERAS1,
    ),
    "hvd-that-is-not-horovod": Trap(
        "29",
        {
            "imports": "import hover_drive as hvd",
            "settings": "hvd.init()\nprint(hvd.rank(), hvd.size(), hvd.local_rank())",
        },
        {"imports": "import horovod.tensorflow as hvd", "settings": "hvd.init()\nprint(hvd.rank())"},
    ),
    "optimizer-of-another": Trap(
        "32",
        {"imports": "from search import GridOptimizer", "settings": "grid = GridOptimizer(rates=[1e-3])"},
        {},
    ),
    "gradients-of-a-penalty": Trap(
        "34",
        {"model": "penalty = tf.gradients(hidden, images)\nhidden = hidden + penalty[0]"},
        {},
    ),
    "model-that-is-not-keras": Trap(
        "33",
        {
            "imports": "import re\nfrom shop import Model",
            "settings": "pattern = re.compile('a+')\nModel().fit(pattern, callbacks=[])\nModel().compile(pattern)",
        },
        {},
    ),
}

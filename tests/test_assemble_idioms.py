"""One call, written in every way that real code writes it, means one canonical name."""

from __future__ import annotations

import pytest

from tests.support import facts

_TOP_K = "tensorflow.nn.top_k"
_IDIOMS = {
    "the usual alias": "import tensorflow as tf\ny = tf.nn.top_k(x, 3)\n",
    "compat.v1 as tf": "import tensorflow.compat.v1 as tf\ny = tf.nn.top_k(x, 3)\n",
    "plain import": "import tensorflow\ny = tensorflow.nn.top_k(x, 3)\n",
    "another alias": "import tensorflow as T\ny = T.nn.top_k(x, 3)\n",
    "submodule from import": "from tensorflow import nn\ny = nn.top_k(x, 3)\n",
    "function from import": "from tensorflow.nn import top_k\ny = top_k(x, 3)\n",
    "private module": "from tensorflow.python.ops import nn_ops\ny = nn_ops.top_k(x, 3)\n",
    "module alias": "import tensorflow as tf\nL = tf.nn\ny = L.top_k(x, 3)\n",
    "function alias": "import tensorflow as tf\npick = tf.nn.top_k\ny = pick(x, 3)\n",
    "getattr with a literal": 'import tensorflow as tf\ny = getattr(tf.nn, "top_k")(x, 3)\n',
    "star import": "from tensorflow import *\ny = nn.top_k(x, 3)\n",
    "import in try": (
        "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf\n"
        "y = tf.nn.top_k(x, 3)\n"
    ),
    "partial": "import functools\nimport tensorflow as tf\npick = functools.partial(tf.nn.top_k, k=3)\n",
    "import in a function": "def f(x):\n    import tensorflow as tf\n    return tf.nn.top_k(x, 3)\n",
    "on self": (
        "import tensorflow as tf\nclass M:\n    def __init__(self):\n        self.tf = tf\n"
        "    def f(self, x):\n        return self.tf.nn.top_k(x, 3)\n"
    ),
    "second spelling": "import tensorflow as tf\ny = tf.math.top_k(x, 3)\n",
    "callback": "import tensorflow as tf\ny = apply_to(x, tf.nn.top_k)\n",
    "compat from import": "from tensorflow.compat import v1 as tf\ny = tf.nn.top_k(x, 3)\n",
}


@pytest.mark.parametrize("text", _IDIOMS.values(), ids=_IDIOMS.keys())
def test_idiom_is_resolved(text: str) -> None:
    called = facts(text, "call", _TOP_K)
    assert called or [m for m in facts(text, "mention", _TOP_K) if m.get("passed") == "yes"]


def test_name_that_a_local_module_hands_on_is_resolved() -> None:
    sources = {"mylib.py": "import tensorflow as tf\n", "train.py": "from mylib import tf\ny = tf.nn.top_k(x, 3)\n"}
    assert [f.path for f in facts(sources, "call", _TOP_K)] == ["train.py"]


_NEGATIVES = {
    "a parameter called tf": "import tensorflow as tf\ndef f(tf, x):\n    return tf.nn.top_k(x, 3)\n",
    "text in a string": 'import tensorflow as tf\ns = "tf.nn.top_k(x, 3)"\n',
    "an own object called tf": "tf = Frame()\ny = tf.nn.top_k(x, 3)\n",
    "a comment": "import tensorflow as tf\n# tf.nn.top_k(x, 3)\n",
}


@pytest.mark.parametrize("text", _NEGATIVES.values(), ids=_NEGATIVES.keys())
def test_look_alike_is_not_taken_for_it(text: str) -> None:
    assert facts(text, "call", _TOP_K) == []

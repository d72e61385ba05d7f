"""Python numbers that change from one iteration of a loop to the next."""

from __future__ import annotations

import pytest

from tests.support import facts

_STEP = "import math\nimport tensorflow as tf\n@tf.function\ndef step(x, *more, **named):\n    pass\n"

_CHANGING = {
    "a counter": "for i in range(90):\n    step(x, i)\n",
    "a counter that is shown": "for i in tqdm(range(90)):\n    step(x, i)\n",
    "the number of a batch": "for i, x in enumerate(data):\n    step(x, i)\n",
    "the number of a batch that is shown": "for i, (x, y) in tqdm.tqdm(enumerate(data)):\n    step(x, i)\n",
    "counted by hand": "i = 0\nwhile True:\n    step(x, i)\n    i += 1\n",
    "an attribute counted by hand": "while True:\n    step(x, self.i)\n    self.i += 1\n",
    "computed from a counter": "for i in range(90):\n    r = 0.1 * 0.9 ** (i // 10)\n    step(x, rate=r)\n",
    "computed with options": "for i in range(90):\n    step(x, min(1.0, i / args.steps))\n",
    "computed by a function": "def f(i):\n    return math.cos(i / 9)\nfor i in range(90):\n    step(x, f(i))\n",
    "in a list": "for i in range(90):\n    step(x, [i, 0])\n",
    "in a function in the loop": "for i in range(90):\n    def run():\n        step(x, i)\n    run()\n",
    "handed on": "def epoch(n):\n    for x in data:\n        step(x, n)\nfor n in range(90):\n    epoch(n)\n",
}
_FIXED = {
    "nothing": "for x in data:\n    step(x)\n",
    "a constant": "for x in data:\n    step(x, 0.1, training=True)\n",
    "a tensor": "for i in range(90):\n    step(x, tf.constant(i))\n",
    "a counter that is a tensor": "for i in tf.range(90):\n    step(x, i)\n",
    "the number of a batch that is a tensor": "for i, x in data.enumerate():\n    step(x, i)\n",
    "a tensor counted by hand": "i = tf.Variable(0)\nfor x in data:\n    step(x, i)\n    i += 1\n",
    "a product with a tensor": "for i, x in enumerate(data):\n    step(x * i)\n",
    "few numbers": "for i in range(2):\n    step(x, i)\n",
    "two values": "for i in range(90):\n    step(x, i < 10)\n",
    "a tensor that a function in the loop gets": (
        "for i in tf.range(90):\n    def run():\n        step(x, i)\n    run()\n"
        "for i in range(90):\n    step(x, tf.constant(i))\n"
    ),
    "outside of a loop": "for i in range(90):\n    pass\nstep(x, 90)\n",
    "computed by a function that gives tensors": (
        "def f(i):\n    return tf.cast(i, tf.float32)\nfor i in range(90):\n    step(x, f(i))\n"
    ),
}


@pytest.mark.parametrize("text", _CHANGING.values(), ids=_CHANGING.keys())
def test_a_number_that_changes_is_found(text: str) -> None:
    assert [f.get("what") for f in facts(_STEP + text, "retrace")] == ["value"]


@pytest.mark.parametrize("text", _FIXED.values(), ids=_FIXED.keys())
def test_other_arguments_do_not_count(text: str) -> None:
    assert facts(_STEP + text, "retrace") == []

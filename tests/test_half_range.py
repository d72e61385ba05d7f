"""Constants beyond the range of float16: which numbers they are, however they are written, and where they are used."""

from __future__ import annotations

import pytest

from npulint.model.values.flow import limit_of, named_number
from npulint.model.values.half_range import in_half
from tests.support import facts

_HEAD = "import numpy as np\nimport sys\nimport tensorflow as tf\n"
_LOWEST = "-3.40282e+38"
# what a mask is multiplied by -> the constant
_SPELLINGS = {
    "literal": ("y = mask * -1e9", "-1e+09"),
    "on the left": ("y = -1e30 * mask", "-1e+30"),
    "computed": ("y = mask * (-10000.0 * 1e5)", "-1e+09"),
    "power": ("y = mask * (-2 ** 32 + 1)", "-4.29497e+09"),
    "finfo of NumPy": ("y = mask * np.finfo(np.float32).min", _LOWEST),
    "finfo by a text": ("y = mask * np.finfo('float32').min", _LOWEST),
    "half of it": ("y = mask * (0.5 * np.finfo(np.float32).min)", "-1.70141e+38"),
    "of TensorFlow": ("y = mask * tf.float32.min", _LOWEST),
    "negated maximum": ("y = mask * -tf.float32.max", _LOWEST),
    "cast": ("y = mask * tf.cast(-1e9, tf.float32)", "-1e+09"),
    "constant": ("y = mask * tf.constant(-1e9, dtype=tf.float32)", "-1e+09"),
    "scalar of NumPy": ("y = mask * np.float32(-1e9)", "-1e+09"),
    "module constant": ("LOW = -1e9\ndef f(mask):\n    return mask * LOW", "-1e+09"),
    "default of a parameter": ("def f(mask, low=-1e9):\n    return mask * low", "-1e+09"),
    "computed from a default": ("def f(mask, low=1e9):\n    return mask * -low", "-1e+09"),
    "class attribute": ("class A:\n    low = -1e9\n    def f(self, mask):\n        return mask * self.low", "-1e+09"),
    "flag": (
        "tf.flags.DEFINE_float('low', -1e9, '')\nFLAGS = tf.flags.FLAGS\ny = mask * FLAGS.low",
        "-1e+09",
    ),
}


@pytest.mark.parametrize(("text", "constant"), _SPELLINGS.values(), ids=_SPELLINGS.keys())
def test_constant_however_it_is_written(text: str, constant: str) -> None:
    (fact,) = facts(_HEAD + text + "\n", "mask_constant")
    assert (fact.name, fact.get("constant"), fact.get("becomes")) == ("multiply", constant, "-inf")


def test_constant_of_another_module() -> None:
    files = {
        "a.py": f"{_HEAD}from limits import VERY_NEGATIVE\ndef f(mask):\n    return mask * VERY_NEGATIVE\n",
        "limits.py": "VERY_NEGATIVE = -1e9\n",
    }
    assert [fact.get("constant") for fact in facts(files, "mask_constant")] == ["-1e+09"]


# text -> how the constant meets the tensor; nothing: it does not
_ROLES = {
    "complement of a mask": ("y = (1.0 - x) * -1e9", ["multiply"]),
    "complement of a cast mask": ("y = (1 - tf.cast(m, tf.float32)) * -1e9", ["multiply"]),
    "function": ("y = tf.multiply(-1e9, attention_mask)", ["multiply"]),
    "padding": ("y = tf.ones_like(x) * (-2 ** 32 + 1)", ["fill"]),
    "added to zeros": ("y = tf.zeros_like(x) + -1e9", ["fill"]),
    "filled": ("y = tf.fill(tf.shape(x), -1e9)", ["fill"]),
    "chosen": ("y = tf.where(mask, x, -1e9)", ["fill"]),
    "loss": ("y = tf.reduce_mean(x) * 1e6", ["scale"]),
    "by a name": ("t = tf.reduce_sum(x) + 1.0\ny = t / 1e6", ["divide"]),
    "within float16": ("y = mask * -65504.0\nz = tf.reduce_mean(x) * 65504.0", []),
    "infinite, which every float is": ("y = tf.where(mask, x, -np.inf)", []),
    "base of indices": ("y = mask * 100000 + tf.range(4)", []),
    "float64": ("y = tf.cast(mask, tf.float64) * -1e9", []),
    "integers": ("y = tf.cast(mask, tf.int32) * -100000\nz = tf.ones_like(x, dtype=tf.int64) * -100000", []),
    "from integers": ("y = tf.cast(tf.not_equal(tf.cast(mask, tf.int32), 0), tf.float32) * -1e9", ["multiply"]),
    "of NumPy": ("mask = np.isnan(rows)\ny = mask * -1e9", []),
    "loss scale": ("y = tf.reduce_mean(x) * 131072.0\nloss_scale = 1e6\nz = tf.reduce_mean(x) * loss_scale", ["scale"]),
    "numbers": ("y = time.time() * 1e6\nz = len(x) / 1e6", []),
    "compared": ("y = tf.greater(x, 1e9)", []),
}


@pytest.mark.parametrize(("text", "roles"), _ROLES.values(), ids=_ROLES.keys())
def test_how_a_large_constant_meets_a_tensor(text: str, roles: list[str]) -> None:
    assert [fact.name for fact in facts(f"{_HEAD}{text}\n", "mask_constant")] == roles


# text -> constants that float16 loses
_LOST = {
    "eps of float64": ("y = tf.log(x + np.finfo(float).eps)", ["2.22044605e-16"]),
    "eps of float32": ("y = tf.log(x + np.finfo(np.float32).eps)", []),
    "upper bound": ("p = tf.clip_by_value(x, 1e-7, 1 - 1e-7)\ny = tf.log(1 - p)", ["0.9999999"]),
    "upper bound within float16": ("p = tf.clip_by_value(x, 1e-3, 1 - 1e-3)\ny = tf.log(1 - p)", []),
    "in a variable": ("p = tf.maximum(x, 1e-12)\ny = tf.sqrt(p)", ["1e-12"]),
    "of the backend": ("from tensorflow.keras import backend as K\ny = K.log(K.clip(x, 1e-10, 1.0))", ["1e-10"]),
    "inside a call": ("y = tf.reduce_mean(x / (tf.reduce_sum(x) + 1e-9))", ["1e-09"]),
    "argument": ("y = tf.nn.batch_normalization(x, m, v, b, s, variance_epsilon=1e-12)", ["1e-12"]),
    "before a norm": ("y = tf.norm(x + 1e-8, axis=1)", ["1e-08"]),
    "default": ("def f(x, eps=1e-12):\n    return tf.rsqrt(x + eps)", ["1e-12"]),
    "float64": ("y = tf.log(tf.maximum(tf.cast(x, tf.float64), 1e-12))", []),
}


@pytest.mark.parametrize(("text", "constants"), _LOST.values(), ids=_LOST.keys())
def test_small_constant_that_float16_loses(text: str, constants: list[str]) -> None:
    found = [fact.get("constant") for fact in facts(f"{_HEAD}{text}\n", "small_constant")]
    assert [one for one in found if one != "none"] == constants


_TORCH = "import numpy as np\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
_NET = "class Net(nn.Module):\n    def forward(self, x):\n"
# text -> what makes the guarded tensor float16
_HALF = {
    "product": ("y = torch.log(torch.sigmoid(a @ b) + 1e-8)", "autocast"),
    "bounded": ("p = torch.bmm(a, b).clamp(min=1e-10)\ny = torch.log(p)", "autocast"),
    "bounded by position": ("y = torch.clamp(F.linear(x, w), 1e-10, 1.0).log()", "autocast"),
    "module": ("head = nn.Linear(4, 4)\ny = torch.log(head(x).sigmoid() + 1e-8)", "autocast"),
    "layers": ("n = nn.Sequential(nn.Linear(4, 4), nn.Sigmoid())\ny = torch.log(n(x) + 1e-8)", "autocast"),
    "layers that end with softmax": (
        "n = nn.Sequential(nn.Linear(4, 4), nn.Softmax(-1))\ny = torch.log(n(x) + 1e-8)",
        "unknown",
    ),
    "layers of a list": ("n = nn.Sequential(*layers)\ny = torch.log(n(x) + 1e-8)", "unknown"),
    "own module": (f"{_NET}        return torch.sigmoid(x @ w)\nn = Net()\ny = torch.log(n(x) + 1e-8)", "autocast"),
    "own module that gives float32": (
        f"{_NET}        return (x @ w).softmax(-1)\nn = Net()\ny = torch.log(n(x) + 1e-8)",
        "unknown",
    ),
    "own module that gives either": (
        f"{_NET}        if self.training:\n            return x @ w\n        return x\n"
        "n = Net()\ny = torch.log(n(x) + 1e-8)",
        "unknown",
    ),
    "divisor": ("s = a @ b\ny = a / (s + 1e-10)", "autocast"),
    "cast": ("y = torch.rsqrt(x.half() + 1e-12)", "cast"),
    "softmax is float32": ("y = torch.log(torch.softmax(a @ b, -1) + 1e-8)", "unknown"),
    "sum is float32": ("y = a / ((a @ b).sum() + 1e-10)", "unknown"),
    "back to float32": ("y = torch.log((a @ b).float() + 1e-8)", "unknown"),
    "joined with another": ("y = torch.log(a @ b + c + 1e-8)", "unknown"),
    "of any type": ("y = torch.log(x + 1e-8)", "unknown"),
}


@pytest.mark.parametrize(("text", "half"), _HALF.values(), ids=_HALF.keys())
def test_type_of_a_guarded_tensor(text: str, half: str) -> None:
    found = [fact for fact in facts(f"{_TORCH}{text}\n", "small_constant") if fact.get("constant") != "none"]
    assert [fact.get("half") for fact in found] == [half]


def test_guard_that_float16_can_represent() -> None:
    found = facts(f"{_TORCH}y = torch.log(a @ b + 1e-6)\nz = a / (a @ b + 1e-7)\n", "small_constant")
    assert [fact.get("constant") for fact in found] == ["none", "none"]


_FILLS = {
    "finfo": ("x = x.masked_fill(m, torch.finfo(torch.float32).min)", [_LOWEST]),
    "finfo of the tensor": ("x = x.masked_fill(m, torch.finfo(x.dtype).min)", []),
    "finfo of bfloat16": ("x = x.masked_fill(m, torch.finfo(torch.bfloat16).min)", []),
    "finfo of float16": ("x = x.masked_fill(m, torch.finfo(torch.float16).min)", []),
    "power": ("x = x.masked_fill(m, -2**32 + 1)", ["-4.29497e+09"]),
    "product by a name": ("LOW = -1e9\nx = (1 - m) * LOW", ["-1e+09"]),
}


@pytest.mark.parametrize(("text", "fills"), _FILLS.values(), ids=_FILLS.keys())
def test_mask_constants_of_pytorch_however_they_are_written(text: str, fills: list[str]) -> None:
    assert [fact.get("fill") for fact in facts(f"{_TORCH}{text}\n", "mask_fill")] == fills


@pytest.mark.parametrize(
    ("number", "becomes"),
    [(65519.0, "65519"), (65520.0, "inf"), (-65520.0, "-inf"), (2.0**-25, "0"), (3.1e-8, "3.1e-08"), (0.9998, "1")],
)
def test_what_a_number_becomes_in_float16(number: float, becomes: str) -> None:
    assert in_half(number) == becomes


def test_limits_of_types() -> None:
    assert named_number("torch.float32.min") is None  # a dtype of PyTorch has no limits
    assert limit_of("torch.half", "max") == limit_of("numpy.float16", "max") == 65504.0
    assert limit_of("?x.dtype", "min") is None
    assert limit_of("numpy.float32", "bits") is None
    assert limit_of("float", "eps") == 2.0**-52

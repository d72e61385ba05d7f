"""Parameter maps of custom optimizers by other names, of which every entry is a setting."""

from __future__ import annotations

import pytest

from tests.support import facts

_OP = (
    "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
    "cfg = tf.ConfigProto()\nop = cfg.graph_options.rewrite_options.custom_optimizers.add()\nop.name = 'NpuOptimizer'\n"
)


def settings(source: str) -> list[tuple[str, str, bool]]:
    """Name, field, and whether the custom optimizer is known, of each session key."""
    found = [one for one in facts(source, "setting") if one.get("via") == "session_key"]
    return [(one.name, str(one.get("field")), bool(one.get("entry"))) for one in found]


@pytest.mark.parametrize(
    "source",
    [
        "pm = op.parameter_map\npm['k'].s = b'v'\n",
        "entry = op.parameter_map['k']\nentry.s = b'v'\n",
        "pm = op.parameter_map\nentry = pm['k']\nentry.s = b'v'\n",
        "def fill(pm):\n    pm['k'].s = b'v'\nfill(op.parameter_map)\n",
        "def the_map():\n    return op.parameter_map\nthe_map()['x']\npm = the_map()\npm['k'].s = b'v'\n",
        "class C:\n    def __init__(self):\n        self.m = op.parameter_map\n"
        "    def f(self):\n        self.m['k'].s = b'v'\n",
        "pm = op.parameter_map\nfor name in ('k',):\n    pm[name].s = b'v'\n",
        "for name in ('k',):\n    entry = op.parameter_map[name]\n    entry.s = b'v'\n",
    ],
)
def test_other_names_of_a_map_and_its_entries(source: str) -> None:
    assert settings(_OP + source) == [("k", "s", True)]


def test_branches_around_an_entry_choose_among_its_keys() -> None:
    source = """
    for name, value in {"use_off_line": True, "precision_mode": "force_fp16"}.items():
        entry = op.parameter_map[name]
        if isinstance(value, bool):
            entry.b = value
        else:
            entry.s = tf.compat.as_bytes(value)
    """
    assert settings(_OP + source.replace("\n    ", "\n")) == [
        ("use_off_line", "b", True),
        ("precision_mode", "s", True),
    ]


def test_a_map_of_unknown_origin_in_a_file_of_helpers() -> None:
    assert settings("import npu\npm = npu.parameter_map\npm['k'].b = True\n") == [("k", "b", False)]
    assert settings("import npu_bridge\ndef f(pm):\n    pm['use_off_line'].b = True\n    pm['k'].i = 1\n") == [
        ("use_off_line", "b", False),
        ("k", "i", False),
    ]


@pytest.mark.parametrize(
    "source",
    [
        "node.attr['precision_mode'].s = b'v'\n",
        "class Layer:\n    def build(self):\n        self.b = 1\n        self.s = op\n",
        "def f(cells):\n    cells['a'].s = 1\n",
        "table = {'a': op}\nentry = table['a']\nentry.b = True\n",
    ],
)
def test_what_looks_alike_is_no_map(source: str) -> None:
    assert settings(_OP + source) == []

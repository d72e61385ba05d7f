"""The key `minor` of a check: what it finds of the reported facts is a note, and fails no readiness item."""

from __future__ import annotations

import pytest

from npulint.commands.examples import check_sources
from npulint.judge.catalogue.load import load_catalogue

_PYTHON = (
    "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import *\n"
    "def boxes(x):\n    return tf.py_func(match, [x], tf.float32)\n"
    "step = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean({loss}))\n{more}"
    "with tf.Session(config=npu_config_proto()) as sess:\n    sess.run(step)\n"
)
_PORTED = "import npu_device\nnpu_device.open().as_default()\n"
_XLA = (
    "import argparse\nimport tensorflow as tf\n{ported}p = argparse.ArgumentParser()\n"
    "p.add_argument('--xla', action='store_true')\nargs = p.parse_args()\nif {test}:\n"
    "    tf.config.optimizer.set_jit(True)\nmodel = tf.keras.Sequential()\nmodel.fit(x, y)\n"
)


@pytest.mark.parametrize(
    ("text", "name", "severity"),
    [
        pytest.param(_PYTHON.format(loss="boxes(x)", more=""), "py-func-in-graph", "warning", id="it feeds the loss"),
        pytest.param(
            _PYTHON.format(loss="network(x)", more="shown = put(boxes(x))\n"),
            "py-func-in-graph",
            "note",
            id="where it stands is not known",
        ),
        pytest.param(_XLA.format(test="True", ported=_PORTED), "xla-left-on", "", id="always"),
        pytest.param(_XLA.format(test="args.xla", ported=""), "xla-left-on", "note", id="behind an option that is off"),
    ],
)
def test_minor_findings_are_notes(text: str, name: str, severity: str) -> None:
    catalogue = load_catalogue()
    found = [finding for finding in check_sources({"train.py": text}, {}, catalogue).findings if finding.name == name]
    own = next(check.severity for check in catalogue.checks if check.name == name)
    assert [finding.severity for finding in found] == [severity or own]


def test_minor_findings_fail_no_item() -> None:
    text = _PYTHON.format(loss="network(x)", more="shown = put(boxes(x))\n")
    [program] = [one for one in check_sources({"train.py": text}, {}, load_catalogue()).programs if one.checklist]
    assert [item.status for item in program.checklist if item.item == "operators"] != ["failed"]

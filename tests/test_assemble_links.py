"""What facts say about each other: entries of one custom optimizer, wrapped optimizers, launched devices."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.facts.model import FileFacts, Span
from npulint.read.launcher_facts import LaunchFact, StartedScript, VariableRecord
from npulint.read.python import read_python
from tests.support import facts

_PROTO = (
    "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
    "proto = tf.ConfigProto()\n"
    "op = proto.graph_options.rewrite_options.custom_optimizers.add()\n"
    'op.name = "NpuOptimizer"\n'
)
_LIST = 'op.parameter_map["modify_mixlist"].s = tf.compat.as_bytes("ops.json")\n'
_MODE = 'op.parameter_map["precision_mode"].s = tf.compat.as_bytes("{}")\n'

_MIXED = {
    "a mixed mode on the same entry": (_PROTO + _MODE.format("allow_mix_precision") + _LIST, "yes"),
    "another mode on the same entry": (_PROTO + _MODE.format("force_fp32") + _LIST, "no"),
    "no mode at all": (_PROTO + _LIST, "unset"),
    "the mode on the run configuration": (
        _PROTO + _LIST + 'c = NPURunConfig(session_config=proto, precision_mode="allow_mix_precision")\n',
        "unset",
    ),
    "a mode that cannot be known": (_PROTO + 'op.parameter_map["precision_mode"].s = mode()\n' + _LIST, "unknown"),
    "an entry that cannot be known": (
        "import tensorflow\ndef fill(op):\n    " + _LIST + "    " + _MODE.format("allow_mix_precision"),
        "unknown",
    ),
}


@pytest.mark.parametrize(("text", "mixed"), _MIXED.values(), ids=_MIXED.keys())
def test_list_knows_the_mode_of_its_entry(text: str, mixed: str) -> None:
    assert [f.get("mixed") for f in facts(text, "setting", "modify_mixlist")] == [mixed]


def test_custom_optimizer_knows_its_keys() -> None:
    text = _PROTO + _MODE.format("allow_mix_precision") + 'op.parameter_map["use_off_line"].b = True\n'
    assert [f.get("options") for f in facts(text, "npu_optimizer")] == ["precision_mode use_off_line"]


_ATTRIBUTES = {
    "shard by a local rank in a variable": (
        "import tensorflow as tf\nimport horovod.tensorflow as hvd\ni = hvd.local_rank()\n"
        "d = tf.data.TFRecordDataset(['a']).shard(hvd.size(), i)\n",
        ("input_stage", "shard", "shard_by", "horovod.tensorflow.local_rank()"),
    ),
    "a wrapper around loss scaling": (
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
        "o = NPULossScaleOptimizer(tf.train.AdamOptimizer(), FixedLossScaleManager(8))\n"
        "o = npu_distributed_optimizer_wrapper(o)\n",
        ("distribution", "", "wraps_scaled", "yes"),
    ),
    "a wrapper around a plain optimizer": (
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
        "o = npu_distributed_optimizer_wrapper(tf.train.AdamOptimizer())\n",
        ("distribution", "", "wraps_scaled", "no"),
    ),
    "the names in k": (
        "import tensorflow as tf\ny = tf.nn.top_k(x, k=3 * int(cfg.AVG_COUNT))\n",
        ("top_k", "", "words", "cfg.avg_count"),
    ),
    "log of one plus": ("import tensorflow as tf\ny = tf.log(x + 1.0)\n", ("call", "tensorflow.log", "of", "one_plus")),
    "log of something else": ("import tensorflow as tf\ny = tf.log(x + e)", ("call", "tensorflow.log", "of", "other")),
}


@pytest.mark.parametrize(("text", "wanted"), _ATTRIBUTES.values(), ids=_ATTRIBUTES.keys())
def test_attribute(text: str, wanted: tuple[str, str, str, str]) -> None:
    kind, name, attribute, value = wanted
    assert [f.get(attribute) for f in facts(text, kind, name)] == [value]


def _launcher(path: str, script: str, size: str) -> FileFacts:
    started = LaunchFact(script, path, Span(2), StartedScript(script, script))
    return FileFacts(path, "shell", facts=[VariableRecord("RANK_SIZE", path, Span(1), size, "shell"), started])


_RANKS = {
    "eight devices": ([_launcher("test/8p.sh", "train.py", "8")], "many"),
    "one device": ([_launcher("test/1p.sh", "train.py", "1")], "one"),
    "both": ([_launcher("test/1p.sh", "train.py", "1"), _launcher("test/8p.sh", "train.py", "8")], "many"),
    "eight devices for another script": (
        [_launcher("test/1p.sh", "train.py", "1"), _launcher("test/8p.sh", "train_8p.py", "8")],
        "one",
    ),
    "no launcher": ([], "unknown"),
    "a size that cannot be known": ([_launcher("run.sh", "train.py", "$1")], "unknown"),
}


@pytest.mark.parametrize(("launchers", "ranks"), _RANKS.values(), ids=_RANKS.keys())
def test_ranks_are_those_of_the_launchers_that_start_the_script(launchers: list[FileFacts], ranks: str) -> None:
    code, _ = read_python('import tensorflow as tf\nif __name__ == "__main__":\n    pass\n', "code/train.py")
    programs = assemble("", [FileFacts("code/train.py", "python", code), *launchers])
    assert [p.fact.get("ranks") for p in programs if p.entry] == [ranks]

"""What is known of where options stand: names as written, literals, names of custom optimizers, unused imports."""

from __future__ import annotations

import pytest

from tests.support import facts

_HEAD = """
import tensorflow as tf
from npu_bridge.npu_init import *

config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
"""

_LITERALS = {
    'op.parameter_map["dump_mode"].s = tf.compat.as_bytes("all")': "yes",
    'op.parameter_map["dump_mode"].s = b"all"': "yes",
    'op.parameter_map["dump_mode"].s = tf.compat.as_bytes(mode)': "no",
    'op.parameter_map["dump_mode"].s = mode': "no",
    'NPURunConfig(dump_mode="all")': "yes",
    "NPURunConfig(dump_mode=mode)": "no",
}


@pytest.mark.parametrize(("line", "wanted"), _LITERALS.items(), ids=_LITERALS)
def test_a_setting_tells_whether_its_value_stands_there(line: str, wanted: str) -> None:
    assert [one.get("literal") for one in facts(f'{_HEAD}mode = "all"\n{line}\n', "setting")] == [wanted]


def test_a_setting_tells_its_holder_and_its_last_segment() -> None:
    text = f'{_HEAD}op.parameter_map["dump_mode"].s = b"all"\nmade().parameter_map["dump_step"].s = b"0"\n'
    found = {one.name: (one.get("root"), one.get("key")) for one in facts(text, "setting")}
    assert found == {"dump_mode": ("op", "dump_mode"), "dump_step": ("unknown", "dump_step")}
    (one,) = facts(f"{_HEAD}dump = DumpConfig(dump_mode='all')\n", "setting")
    assert (one.name, one.get("key")) == ("DumpConfig.dump_mode", "dump_mode")


def test_a_key_that_stands_beside_is_not_meant_once_more() -> None:
    alone = facts("from npu_bridge.npu_init import *\nNPURunConfig(precison_mode='fp16')\n", "setting")
    both = facts(
        "from npu_bridge.npu_init import *\nNPURunConfig(precison_mode='a', precision_mode='b')\n",
        "setting",
        "precison_mode",
    )
    assert [one.get("meant") for one in (*alone, *both)] == ["precision_mode", "-"]


def test_a_custom_optimizer_tells_its_name_and_its_rewriter_options() -> None:
    (op,) = facts(_HEAD, "npu_optimizer")
    (name,) = facts(_HEAD, "custom_optimizer_name")
    assert (op.get("target"), op.get("rewriter")) == ("op", "config.graph_options.rewrite_options")
    assert (name.span.line, name.get("target"), name.get("spelling")) == (7, "op", "right")


def test_an_optimizer_without_a_name_of_its_own_has_no_target() -> None:
    text = "import tensorflow as tf\nconfig = tf.ConfigProto()\n"
    text += "config.graph_options.rewrite_options.custom_optimizers.add().name = 'NpuOptimizer'\n"
    assert [one.get("target") for one in facts(text, "npu_optimizer")] == ["unknown"]


_IMPORTS = {
    "import precision_tool.tf_config as tool": "no",
    "import precision_tool.tf_config as tool\ntool.run()": "yes",
    "import precision_tool.tf_config as tool\nx = tool.action": "yes",
    "from precision_tool.tf_config import action": "no",
    "from precision_tool.tf_config import action\n@action\ndef f(): pass": "yes",
    "from precision_tool.tf_config import Base\nclass A(Base): pass": "yes",
    "from precision_tool.tf_config import *": "unknown",
}


@pytest.mark.parametrize(("text", "wanted"), _IMPORTS.items(), ids=_IMPORTS)
def test_an_import_tells_whether_it_is_used(text: str, wanted: str) -> None:
    assert facts(f"import tensorflow\n{text}\n", "import")[1].get("used") == wanted


def test_hooks_tell_whether_the_list_is_handed_on() -> None:
    head = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
    handed = facts(f"{head}est.train(hooks=npu_hooks_append(mine))\nprint(mine[-1])\n", "hooks")
    alone = facts(f"{head}npu_hooks_append(mine)\nprint(mine[-1])\n", "hooks")
    assert [one.get("kept") for one in (*handed, *alone)] == ["yes", "no"]

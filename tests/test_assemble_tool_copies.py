"""Copies of the precision tool in a project: recognized by what they contain, by whatever name."""

from __future__ import annotations

import pytest

from npulint.commands.build import assembled
from tests.support import read_sources

_CONFIG = """
import tensorflow as tf
from . import config as cfg

def session_dump_config(session_config=None, action=None):
    return update_custom_op(session_config, action)

def update_custom_op(custom_op, action=None):
    custom_op.parameter_map["dump_path"].s = tf.compat.as_bytes(cfg.NPU_OVERFLOW_DUMP_DIR)
    return custom_op

def sess_dump(sess):
    return sess
"""
_SETTINGS = "NPU_OVERFLOW_DUMP_DIR = 'a'\nDEFAULT_NPU_DUMP_DIR = 'b'\nTF_DEBUG_DUMP_DIR = 'c'\n"
_OWN = "def session_dump_config(path):\n    open(path).close()\n\ndef load():\n    pass\n"


def _copies(sources: dict[str, str]) -> dict[str, str]:
    project = assembled("/p", read_sources(sources)).context.project
    importer = next(iter(project.modules.values()))
    foreign = {path: path.removesuffix(".py").replace("/", ".") for path in sources if path not in project.modules}
    return {path: project.foreign_name(dotted, importer) for path, dotted in foreign.items()}


def test_a_whole_copy_is_foreign() -> None:
    found = _copies(
        {
            "train.py": "import tensorflow as tf\n",
            "tools/ptool/tf_config.py": _CONFIG,
            "tools/ptool/config.py": _SETTINGS,
            "tools/ptool/cli.py": "import sys\n",
            "tools/ptool/lib/precision_tool.py": "class PrecisionTool:\n    pass\n",
            "tools/ptool/lib/util.py": "def f():\n    pass\n",
        }
    )
    assert found == {
        "tools/ptool/tf_config.py": "precision_tool.tf_config",
        "tools/ptool/config.py": "precision_tool.config",
        "tools/ptool/cli.py": "precision_tool.cli",
        "tools/ptool/lib/precision_tool.py": "precision_tool.lib.precision_tool",
        "tools/ptool/lib/util.py": "precision_tool.lib.util",
    }


def test_single_copied_files_leave_their_neighbours_to_the_project() -> None:
    sources = {"lib/net/tf_config.py": _CONFIG, "lib/net/config.py": _SETTINGS, "lib/net/train.py": "import os\n"}
    assert sorted(_copies(sources)) == ["lib/net/config.py", "lib/net/tf_config.py"]


def test_a_module_that_shares_a_name_is_no_copy() -> None:
    assert _copies({"train.py": "import dumping\n", "dumping.py": _OWN, "config.py": _SETTINGS}) == {}


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("from tools.ptool.tf_config import sess_dump\nx = sess_dump(s)\n", "precision_tool.tf_config.sess_dump"),
        ("import tools.ptool.tf_config as t\nx = t.sess_dump(s)\n", "precision_tool.tf_config.sess_dump"),
        (
            "import tools.ptool.tf_config\nx = tools.ptool.tf_config.sess_dump(s)\n",
            "precision_tool.tf_config.sess_dump",
        ),
        ("from tools.ptool import tf_config\nx = tf_config.sess_dump(s)\n", "precision_tool.tf_config.sess_dump"),
        ("from .tools.ptool import tf_config as t\nx = t.sess_dump(s)\n", "precision_tool.tf_config.sess_dump"),
        ("from .tools.ptool.tf_config import sess_dump as d\nx = d(s)\n", "precision_tool.tf_config.sess_dump"),
    ],
)
def test_names_from_a_copy_are_those_of_the_tool(written: str, name: str) -> None:
    sources = {"tools/__init__.py": "", "tools/ptool/tf_config.py": _CONFIG, "train.py": written}
    context = assembled("/p", read_sources(sources)).context
    module = next(one for path, one in context.project.modules.items() if path.endswith("train.py"))
    assert context.names.of_calls(module) == [name]


@pytest.mark.parametrize(
    "written", ["import lib.precision_tool.tf_config as t", "from .precision_tool import tf_config as t"]
)
def test_a_copy_that_is_not_among_the_files_is_known_by_its_name(written: str) -> None:
    context = assembled("/p", read_sources({"train.py": f"{written}\nx = t.sess_dump(s)\n"})).context
    assert context.names.of_calls(context.project.modules["train.py"]) == ["precision_tool.tf_config.sess_dump"]

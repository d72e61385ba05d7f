"""Which file a setting names, and whether the project has it."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.facts.model import FileFacts
from tests.support import read_sources

_HEAD = """\
import os
import os.path as osp
import pathlib
from pathlib import Path
import tensorflow.compat.v1 as tf
from npu_bridge.npu_init import *

def here():
    return os.path.dirname(os.path.abspath(__file__))

LIST = Path(__file__).parent / "ops.json"
"""


def _file(text: str, *existing: str, root: str = "", more: dict[str, str] | None = None) -> tuple[str, str]:
    """Whether the project has the file that ``code/train.py`` names, and its path."""
    prefix = f"{root}/" if root else ""
    sources = {"code/train.py": _HEAD + text, **(more or {})}
    files = read_sources({prefix + path: source for path, source in sources.items()})
    files += [FileFacts(prefix + path, "mixlist") for path in existing]
    found = [fact for program in assemble(root, files) for fact in program.index.of_kind("setting")]
    (named,) = {(fact.get_text("file"), fact.get_text("file_path")) for fact in found if fact.name == "modify_mixlist"}
    return named


def _config(path: str) -> str:
    return f"NPURunConfig(modify_mixlist={path})\n"


_BESIDE = {
    "join and dirname": "os.path.join(os.path.dirname(__file__), 'ops.json')",
    "an alias of os.path": "osp.join(osp.dirname(osp.realpath(__file__)), 'ops.json')",
    "a sum": "os.path.dirname(os.path.abspath(__file__)) + '/ops.json'",
    "an f-string": "f'{os.path.dirname(__file__)}/ops.json'",
    "percent": "'%s/ops.json' % os.path.dirname(__file__)",
    "format": "'{}/ops.json'.format(os.path.dirname(__file__))",
    "split": "os.path.join(os.path.split(os.path.abspath(__file__))[0], 'ops.json')",
    "pathlib": "str(Path(__file__).parent / 'ops.json')",
    "pathlib with its module": "str(pathlib.Path(__file__).resolve().parents[0].joinpath('ops.json'))",
    "another name": "Path(__file__).with_name('ops.json').as_posix()",
    "a helper": "os.path.join(here(), 'ops.json')",
    "a constant": "str(LIST)",
    "bytes": "tf.compat.as_bytes(str(LIST))",
    "up and down": "os.path.join(os.path.dirname(__file__), '..', 'code', 'ops.json')",
}


@pytest.mark.parametrize("path", _BESIDE.values(), ids=_BESIDE.keys())
def test_path_that_begins_at_the_script_is_exact(path: str) -> None:
    assert _file(_config(path)) == ("no", "code/ops.json")
    assert _file(_config(path), "code/ops.json") == ("yes", "code/ops.json")
    assert _file(_config(path), "other/ops.json") == ("no", "code/ops.json")
    assert _file(_config(path), "code/ops.json", root="/p/net") == ("yes", "code/ops.json")
    assert _file(_config(path), root="/p/net") == ("no", "code/ops.json")


_UNKNOWN = {
    "the environment": "os.path.join(os.environ['LISTS'], 'ops.json')",
    "a name of nowhere": "os.path.join(folder, 'ops.json')",
    "above the project": "os.path.join(os.path.dirname(__file__), '../../ops.json')",
    "a folder of the installation": "'/opt/ops.json'",
    "the home folder": "os.path.expanduser('~/ops.json')",
    "a variable of the shell": "os.path.expandvars('$LISTS/ops.json')",
    "no JSON": "os.path.join(here(), 'ops.txt')",
    "one of two": "str(LIST) if flag() else load()",
}


@pytest.mark.parametrize("path", _UNKNOWN.values(), ids=_UNKNOWN.keys())
def test_path_that_leads_elsewhere_is_unknown(path: str) -> None:
    assert _file(_config(path))[0] == "unknown"


_BY_NAME = {
    "relative": "'./ops.json'",
    "in the working directory": "os.path.join(os.getcwd(), 'ops.json')",
    "made absolute": "os.path.abspath('ops.json')",
    "copied by ModelArts": "os.path.join('/home', 'ma-user', 'modelarts', 'work', 'ops.json')",
    "copied by older ModelArts": "os.path.join('/home', 'work', 'user-job-dir', 'code', 'ops.json')",
    "in a copy of the project": "'/home/someone/net/code/ops.json'",
}


@pytest.mark.parametrize("path", _BY_NAME.values(), ids=_BY_NAME.keys())
def test_other_paths_are_judged_by_the_name(path: str) -> None:
    assert _file(_config(path), root="/p/net")[0] == "no"
    assert _file(_config(path), "lists/ops.json", root="/p/net")[0] == "yes"


def test_file_that_the_project_writes_is_not_missing() -> None:
    text = "with open(os.path.join(here(), 'ops.json'), 'w') as stream:\n    stream.write('{}')\n"
    assert _file(text + _config("str(LIST)"))[0] == "unknown"
    assert _file(text.replace("'w'", "'r'") + _config("str(LIST)"))[0] == "no"


def test_path_of_another_module_begins_there() -> None:
    paths = "import os, tensorflow\nMIXLIST = os.path.join(os.path.dirname(__file__), 'ops.json')\n"
    more = {"code/conf/paths.py": paths, "code/conf/__init__.py": ""}
    for way in ("from conf.paths import *\n", "from conf.paths import MIXLIST\n"):
        assert _file(way + _config("MIXLIST"), more=more) == ("no", "code/conf/ops.json")
    assert _file("import conf.paths\n" + _config("conf.paths.MIXLIST"), more=more) == ("no", "code/conf/ops.json")


def test_path_in_a_loop_and_in_options() -> None:
    operator = "op = tf.ConfigProto().graph_options.rewrite_options.custom_optimizers.add()\n"
    loop = "for k, v in {'modify_mixlist': LIST}.items():\n    op.parameter_map[k].s = tf.compat.as_bytes(str(v))\n"
    assert _file(operator + loop) == ("no", "code/ops.json")
    assert _file("NPURunConfig(**dict(modify_mixlist=str(LIST)))\n") == ("no", "code/ops.json")


def test_path_of_an_option_is_unknown() -> None:
    text = "tf.flags.DEFINE_string('list', './ops.json', '')\nFLAGS = tf.flags.FLAGS\n"
    assert _file(text + _config("FLAGS.list"))[0] == "unknown"
    assert _file(text + _config("os.path.join(here(), FLAGS.list)"))[0] == "unknown"

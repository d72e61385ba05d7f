"""What is known of values that a program loads from its own YAML, JSON and TOML files."""

from __future__ import annotations

from textwrap import dedent

import pytest

from npulint.commands.build import assemble
from npulint.discover.kinds import SourceFile
from npulint.facts.model import FileFacts
from npulint.facts.values import PossibleValues
from npulint.read.files import LoadedFile, read

HEAD = """\
import argparse, json, os, pathlib, sys
import os.path as osp
from pathlib import Path
import toml, tomllib, yaml
import tensorflow as tf
from box import Box
from easydict import EasyDict
from munch import Munch, munchify
from omegaconf import OmegaConf
from types import SimpleNamespace
"""
YAML = """\
k: 8
name: deep
train:
  k: 9
  inner: {k: 10}
options:
  k: 11
  sorted: true
stages:
- {k: 12}
- {k: 13}
sizes: [3, 14]
"""
JSON = '{"k": 8, "train": {"k": 9}}'
TOML = 'k = 8\n[train]\nk = 9\nname = "deep"\n'
DATA = {
    "config.yaml": YAML,
    "conf/other.yaml": "k: 80\ntrain: {k: 90}\n",
    "conf/big.yaml": "k: 8\n",
    "config.json": JSON,
    "config.toml": TOML,
}
LOADED = 'with open("config.yaml") as file:\n    cfg = yaml.safe_load(file)\n'


def known(text: str | dict[str, str], files: dict[str, str] | None = None, root: str = "") -> PossibleValues:
    """The second argument of the last call of ``top_k``."""
    sources = {"train.py": text} if isinstance(text, str) else text
    prefix = f"{root}/" if root else ""
    code = {
        path: (HEAD if path.endswith(".py") else "") + dedent(source).replace("LOADED", LOADED)
        for path, source in sources.items()
    }
    everything = {**DATA, **(files or {}), **code}
    programs = assemble(root or ".", [as_read(prefix + path, content.encode()) for path, content in everything.items()])
    found = {
        id(fact): fact
        for program in programs
        for fact in program.index.of_kind("call")
        if fact.name == "tensorflow.nn.top_k"
    }
    last = max(found.values(), key=lambda fact: (fact.path, fact.span))
    value = last.args.argument_value("k", 1)
    assert isinstance(value, PossibleValues)
    return value


def as_read(path: str, content: bytes) -> FileFacts:
    """A file as it is read."""
    kind = {"py": "python", "sh": "shell"}.get(path.rpartition(".")[2], "data")
    found = read(LoadedFile(SourceFile(path, kind, path, ".", len(content)), content))
    assert not found.problems
    return found


LOADERS = {
    "yaml.safe_load of an open file": LOADED,
    "yaml.load with a loader": """\
with open("config.yaml", "r", encoding="utf-8") as f:
    cfg = yaml.load(f, Loader=yaml.FullLoader)
""",
    "yaml.full_load": 'cfg = yaml.full_load(open("config.yaml"))\n',
    "a name for the open file": 'f = open("config.yaml", "rb")\ncfg = yaml.safe_load(f)\nf.close()\n',
    "the text of the file": 'cfg = yaml.safe_load(open("config.yaml").read())\n',
    "the text of a path": 'cfg = yaml.safe_load(Path("config.yaml").read_text())\n',
    "an opened path": 'with Path("config.yaml").open() as f:\n    cfg = yaml.safe_load(f)\n',
    "a path of the script": """\
HERE = os.path.dirname(os.path.abspath(__file__))
cfg = yaml.safe_load(open(os.path.join(HERE, "config.yaml")))
""",
    "pathlib beside the script": """\
cfg = yaml.safe_load((Path(__file__).resolve().parent / "config.yaml").read_text())
""",
    "json.load": 'cfg = json.load(open("config.json"))\n',
    "json.loads": 'with open("./config.json") as f:\n    cfg = json.loads(f.read())\n',
    "toml.load of a path": 'cfg = toml.load("config.toml")\n',
    "tomllib.load": 'with open("config.toml", "rb") as f:\n    cfg = tomllib.load(f)\n',
    "tomllib.loads": 'cfg = tomllib.loads(Path("config.toml").read_text())\n',
    "OmegaConf.load": 'cfg = OmegaConf.load("config.yaml")\n',
    "OmegaConf to a dict": 'cfg = OmegaConf.to_container(OmegaConf.load("config.yaml"), resolve=True)\n',
    "a function that loads": """\
def read(path):
    with open(path) as f:
        return yaml.safe_load(f)
cfg = read("config.yaml")
""",
    "a function for several files": """\
def read(path):
    with open(path) as f:
        return yaml.safe_load(f)
other = read("conf/other.yaml")
cfg = read("config.yaml")
""",
    "a function with a name for the result": """\
def read(path="config.yaml"):
    with open(path) as f:
        found = yaml.safe_load(f)
    return found
cfg = read()
""",
    "a default of an option": """\
parser = argparse.ArgumentParser()
parser.add_argument("--config", default="config.yaml")
args = parser.parse_args()
cfg = yaml.safe_load(open(args.config))
""",
    "an empty file may be": 'cfg = yaml.safe_load(open("config.yaml")) or {}\n',
    "ruamel": 'from ruamel.yaml import YAML\ncfg = YAML(typ="safe").load(open("config.yaml"))\n',
    "a class that holds it": """\
class Settings:
    def __init__(self):
        self.all = yaml.safe_load(open("config.yaml"))
settings = Settings()
cfg = settings.all
""",
    "easydict": 'cfg = EasyDict(yaml.safe_load(open("config.yaml")))\n',
    "munch": 'cfg = Munch.fromDict(yaml.safe_load(open("config.yaml")))\n',
    "munchify": 'cfg = munchify(yaml.safe_load(open("config.yaml")))\n',
    "box": 'cfg = Box.from_yaml(filename="config.yaml")\n',
}


@pytest.mark.parametrize("before", LOADERS.values(), ids=LOADERS)
def test_a_loaded_value_is_known(before: str) -> None:
    assert known(before + "tf.nn.top_k(x, cfg['k'])\n") == PossibleValues((8,), True)
    assert known(before + "tf.nn.top_k(x, cfg['train']['k'])\n") == PossibleValues((9,), True)


USES = {
    "a key of a key": ("cfg['train']['inner']['k']", 10),
    "get": ("cfg.get('k')", 8),
    "get with a default that is not used": ("cfg.get('k', 1)", 8),
    "get of what is not there": ("cfg.get('m', 1)", 1),
    "get within get": ("cfg.get('train', {}).get('k', 1)", 9),
    "an item of a list": ("cfg['sizes'][1]", 14),
    "a dict in a list": ("cfg['stages'][1]['k']", 13),
    "arithmetic": ("cfg['k'] * 2", 16),
    "int": ("int(cfg['train']['k'])", 9),
    "attributes": ("EasyDict(cfg).train.k", 9),
    "attributes of a namespace": ("SimpleNamespace(**cfg).k", 8),
    "an attribute of an item": ("EasyDict(cfg)['train'].inner.k", 10),
    "getattr": ("getattr(argparse.Namespace(**cfg), 'k', 1)", 8),
    "a copy": ("cfg.copy()['k']", 8),
    "dict": ("dict(cfg)['k']", 8),
    "a conditional": ("cfg['k'] if cfg['name'] == 'deep' else 1", 8),
    "a part of it under a name": ("train['k']", 9),
    "a parameter": ("given(cfg['train'])", 9),
    "an attribute of a class": ("Net(cfg).k()", 8),
}


@pytest.mark.parametrize(("expression", "value"), USES.values(), ids=USES)
def test_each_way_to_a_value(expression: str, value: int) -> None:
    text = f"""\
LOADED
class Net:
    def __init__(self, config):
        self.config = config
    def k(self):
        return self.config["k"]
def given(options):
    return options["k"]
train = cfg["train"]
tf.nn.top_k(x, {expression})
"""
    assert known(text) == PossibleValues((value,), True)


def test_attributes_of_a_name() -> None:
    text = 'cfg = OmegaConf.load("config.yaml")\ndef run(config):\n    tf.nn.top_k(x, config.train.inner.k)\nrun(cfg)\n'
    assert known(text) == PossibleValues((10,), True)


def test_keywords_from_a_part() -> None:
    assert known(LOADED + "tf.nn.top_k(x, **cfg['options'])\n") == PossibleValues((11,), True)


def test_a_parameter_that_keywords_fill() -> None:
    text = "def run(k=1, sorted=False):\n    tf.nn.top_k(x, k)\n" + LOADED + "run(**cfg['options'])\n"
    assert known(text) == PossibleValues((11,), True)


def test_an_option_that_launchers_name() -> None:
    text = """\
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", required=True)
    args = parser.parse_args()
    cfg = yaml.safe_load(open(args.config))
    tf.nn.top_k(x, cfg["k"])
    """
    assert known(text).values == ()
    assert known({"train.py": text, "run.sh": "python train.py --config conf/other.yaml\n"}).values == (80,)
    two = "python train.py --config conf/other.yaml\npython train.py --config config.yaml\n"
    assert set(known({"train.py": text, "run.sh": two}).values) == {80, 8}


def test_an_option_that_names_a_part_of_the_path() -> None:
    text = """\
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="other")
    args = parser.parse_args()
    cfg = yaml.safe_load(open(os.path.join("conf", f"{args.model}.yaml")))
    tf.nn.top_k(x, cfg["train"]["k"])
    """
    assert known(text) == PossibleValues((90,), True)
    assert known(text.replace('f"{args.model}.yaml"', 'args.model + ".yaml"')) == PossibleValues((90,), True)


OPTION = 'parser = argparse.ArgumentParser()\nparser.add_argument("--k", default=1)\nargs = parser.parse_args()\n'


def test_an_option_of_the_same_name_is_something_else() -> None:
    assert known(OPTION + LOADED + "tf.nn.top_k(x, cfg['k'])\n").values == (8,)
    assert known(OPTION + LOADED + "cfg = EasyDict(cfg)\ntf.nn.top_k(x, cfg.k)\n").values == (8,)
    assert known(OPTION + LOADED + "tf.nn.top_k(x, args.k)\n").values == (1,)


def test_two_files_that_one_path_may_mean() -> None:
    text = {"code/train.py": LOADED + "tf.nn.top_k(x, cfg['k'])\n"}
    assert known(text).values == (8,)
    assert known(text, {"code/config.yaml": "k: 5\n"}).values == ()
    path = 'Path(__file__).parent / "config.yaml"'
    beside = {"code/train.py": f"cfg = yaml.safe_load(({path}).read_text())\ntf.nn.top_k(x, cfg['k'])\n"}
    assert known(beside, {"code/config.yaml": "k: 5\n"}).values == (5,)
    assert known(beside).values == ()


def test_a_file_of_another_folder_is_not_meant() -> None:
    text = {"code/train.py": 'cfg = json.load(open("old.json"))\ntf.nn.top_k(x, cfg["k"])\n'}
    assert known(text, {"examples/old.json": '{"k": 5}'}).values == ()


def test_a_loop_over_dicts() -> None:
    loop = LOADED + "for stage in cfg['stages']:\n    tf.nn.top_k(x, stage['k'])\n"
    assert known(loop).single is None


def test_merged_files() -> None:
    text = 'cfg = OmegaConf.merge(OmegaConf.load("config.yaml"), OmegaConf.load("conf/other.yaml"))\n'
    assert known(text + "tf.nn.top_k(x, cfg.train.k)\n") == PossibleValues((90,), True)
    assert known(text + "tf.nn.top_k(x, cfg.train.inner.k)\n") == PossibleValues((10,), True)
    both = 'a = yaml.safe_load(open("config.yaml"))\nb = yaml.safe_load(open("conf/other.yaml"))\n'
    assert known(both + "cfg = dict(a, **b)\ntf.nn.top_k(x, cfg['k'])\n") == PossibleValues((80,), True)


def test_a_file_above_the_script() -> None:
    text = 'cfg = yaml.safe_load(open("../config.yaml"))\ntf.nn.top_k(x, cfg["k"])\n'
    assert known({"code/train.py": text}, root="work") == PossibleValues((8,), True)


POSSIBLE = {
    "an entry that is set later": 'LOADED\ncfg["k"] = count()\n',
    "an entry that is set by a name": "LOADED\nfor key in sys.argv:\n    cfg[key] = 1\n",
    "an update": "LOADED\ncfg.update(vars(args))\n",
    "an update of this key": "LOADED\ncfg.update(k=count())\n",
    "a function that updates": """\
def merge(config, args):
    for key in vars(args):
        config[key] = args[key]
LOADED
merge(cfg, args)
""",
    "a function of a function": """\
def put(c, key):
    c[key] = 1
def merge(config, key):
    put(config, key)
LOADED
merge(cfg, args.key)
""",
    "a command line": 'cfg = OmegaConf.merge(OmegaConf.load("config.yaml"), OmegaConf.from_cli())\n',
    "a list of options": 'cfg = OmegaConf.load("config.yaml")\ncfg.merge_from_list(args.opts)\n',
    "setattr": 'cfg = EasyDict(yaml.safe_load(open("config.yaml")))\nfor key in sys.argv:\n    setattr(cfg, key, 1)\n',
    "an attribute": 'cfg = EasyDict(yaml.safe_load(open("config.yaml")))\ncfg.k = count()\n',
    "one of two objects": "LOADED\nif args.other:\n    cfg = other()\n",
    "a variable that names the file": 'cfg = yaml.safe_load(open(os.environ.get("CONFIG", "config.yaml")))\n',
    "a file that the program writes": 'with open("config.yaml", "w") as out:\n    out.write(text())\nLOADED\n',
    "an entry that is removed": 'LOADED\ncfg.pop("k")\n',
}


@pytest.mark.parametrize("before", POSSIBLE.values(), ids=POSSIBLE)
def test_a_value_that_something_may_replace_is_possible(before: str) -> None:
    found = known(before + "tf.nn.top_k(x, cfg['k'])\n")
    assert not found.exact
    assert 8 in found.values


UNTOUCHED = {
    "another entry": 'LOADED\ncfg["m"] = count()\ncfg["train"]["m"] = 1\n',
    "an update of another key": "LOADED\ncfg.update(m=count())\n",
    "a function that reads": "def show(config):\n    print(config['k'])\nLOADED\nshow(cfg)\n",
    "another file that is written": 'LOADED\nyaml.dump(cfg, open("out/config.yaml", "w"))\n',
}


@pytest.mark.parametrize("before", UNTOUCHED.values(), ids=UNTOUCHED)
def test_what_else_changes_leaves_it_known(before: str) -> None:
    assert known(before + "tf.nn.top_k(x, cfg['k'])\n") == PossibleValues((8,), True)


UNKNOWN = {
    "a file that is not there": 'cfg = yaml.safe_load(open("missing.yaml"))\n',
    "a file elsewhere": 'cfg = yaml.safe_load(open("/data/config.yaml"))\n',
    "a file from the home": 'cfg = yaml.safe_load(open("~/config.yaml"))\n',
    "a file that is only written": 'cfg = yaml.safe_load(open("config.yaml", "w"))\n',
    "a computed name": "cfg = yaml.safe_load(open(choose()))\n",
    "another library": 'cfg = pickle.load(open("config.yaml"))\n',
    "a text in the code": "cfg = yaml.safe_load(TEXT)\n",
    "another key": 'LOADED\ncfg = cfg["train"]["inner"]["k"]\n',
}


@pytest.mark.parametrize("before", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_loaded_is_unknown(before: str) -> None:
    assert known(before + "tf.nn.top_k(x, cfg['k'])\n").values == ()


HOSTILE = {
    "aliases that multiply": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)),
    "a cycle": "k: &k\n  k: *k\n",
    "too deep": "[" * 8000,
    "deep mappings": "".join(" " * n + "k:\n" for n in range(150)),
    "a class": "k: !!python/object/apply:os.system ['touch /tmp/never']\n",
    "no YAML": "k: [\x00",
    "not UTF-8 either": "\ufeffk: : :",
    "a list": "- 1\n- 2\n",
    "a scalar": "8",
    "nothing": "# nothing\n",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_unknown(text: str) -> None:
    found = known(LOADED + "tf.nn.top_k(x, cfg['k'])\n", {"config.yaml": text})
    assert all(not isinstance(one, int) for one in found.values)

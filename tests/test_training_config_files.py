"""Which configuration files a program loads, and which of their values a name in its code means."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npulint.commands.training_config.tracer import Tracer
from npulint.model.values.cursors import scope_at
from tests.config_support import Laid

YOLO_TRAIN = """
import argparse
import yaml
import torch

def train(hyp, opt, device):
    with open(opt.data) as f:
        data_dict = yaml.load(f, Loader=yaml.FullLoader)
    nc = int(data_dict['nc'])
    optimizer = torch.optim.SGD(model.parameters(), lr=hyp['lr0'], momentum=hyp['momentum'])

if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--hyp', type=str, default='data/hyp.scratch.yaml')
    parser.add_argument('--data', type=str, default='data/coco128.yaml')
    opt = parser.parse_args()
    opt.data, opt.hyp = check_file(opt.data), check_file(opt.hyp)
    with open(opt.hyp) as f:
        hyp = yaml.load(f, Loader=yaml.FullLoader)
    train(hyp, opt, 'cpu')
"""
YOLO = {
    "train.py": YOLO_TRAIN,
    "data/hyp.scratch.yaml": "lr0: 0.01  # initial\nmomentum: 0.937\n",
    "data/hyp.finetune.yaml": "lr0: 0.0032\nmomentum: 0.843\n",
    "data/coco128.yaml": "nc: 80\nnames: [a, b]\n",
    "test/train_full_1p.sh": "cd ..\npython3 train.py --hyp data/hyp.finetune.yaml --data ./data/coco128.yaml\n",
}


def test_the_hyperparameters_of_yolo(tmp_path: Path) -> None:
    laid = Laid(tmp_path, YOLO)
    assert laid.files("train.py") == ["data/coco128.yaml", "data/hyp.scratch.yaml"]
    assert laid.values("train.py", "hyp[lr0]", "train.py") == [0.01]
    assert laid.values("train.py", "data_dict[nc]", "train.py") == [80]
    assert laid.values("train.py", "hyp[nc]", "train.py") == []


def test_a_launcher_chooses_the_file(tmp_path: Path) -> None:
    laid = Laid(tmp_path, YOLO)
    assert laid.files("train.py", "test/train_full_1p.sh") == ["data/coco128.yaml", "data/hyp.finetune.yaml"]
    assert laid.values("train.py", "hyp['lr0']", "train.py", "test/train_full_1p.sh") == [0.0032]


def test_a_value_has_its_place(tmp_path: Path) -> None:
    laid = Laid(tmp_path, YOLO)
    (value,) = laid.lookup(laid.configs.under(laid.path("train.py")), "train.py", "hyp.momentum")
    assert (value.path, value.span.line, value.span.column, value.key) == (
        laid.path("data/hyp.scratch.yaml"),
        2,
        11,
        ("momentum",),
    )


YACS = {
    "config/defaults.py": """
from yacs.config import CfgNode as CN
_C = CN()
_C.SOLVER = CN()
_C.SOLVER.BASE_LR = 0.1
_C.SOLVER.IMS_PER_BATCH = 16
_C.MODEL = CN(dict(DEPTH=50))
""",
    "config/__init__.py": "from .defaults import _C as cfg\n",
    "solver/build.py": """
import torch
def make_optimizer(cfg, model):
    return torch.optim.SGD(model.parameters(), lr=cfg.SOLVER.BASE_LR, momentum=cfg.SOLVER.MOMENTUM)
""",
    "tools/train_net.py": """
import argparse
import torch
from config import cfg
from solver.build import make_optimizer

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config-file", default="", metavar="FILE")
    parser.add_argument("opts", default=None, nargs=argparse.REMAINDER)
    args = parser.parse_args()
    cfg.merge_from_file(args.config_file)
    cfg.merge_from_list(args.opts)
    cfg.freeze()
    optimizer = make_optimizer(cfg, model)

if __name__ == "__main__":
    main()
""",
    "configs/r50.yaml": '_BASE_: "base.yaml"\nSOLVER:\n  BASE_LR: 0.02\n',
    "configs/base.yaml": "SOLVER:\n  BASE_LR: 0.5\n  MOMENTUM: 0.9\n",
    "run_1p.sh": "python tools/train_net.py --config-file configs/r50.yaml SOLVER.MOMENTUM 0.8 OUTPUT_DIR out\n",
}


def test_a_file_is_merged_into_nodes_of_yacs(tmp_path: Path) -> None:
    laid = Laid(tmp_path, YACS)
    where = ("solver/build.py", "cfg.SOLVER.BASE_LR", "tools/train_net.py", "run_1p.sh")
    assert laid.values(*where) == [0.02]


def test_words_of_a_launcher_override_a_file(tmp_path: Path) -> None:
    laid = Laid(tmp_path, YACS)
    launch = laid.launch("tools/train_net.py", "run_1p.sh")
    view = laid.configs.under(laid.path("tools/train_net.py"), launch)
    (value,) = laid.lookup(view, "solver/build.py", "cfg.SOLVER.MOMENTUM")
    assert (value.value, value.path, value.span.line) == (0.8, laid.path("run_1p.sh"), 1)


def test_without_a_file_there_is_nothing(tmp_path: Path) -> None:
    laid = Laid(tmp_path, YACS)
    assert laid.files("tools/train_net.py") == []
    assert laid.values("solver/build.py", "cfg.SOLVER.MOMENTUM", "tools/train_net.py") == []


MMCV = {
    "tools/train.py": """
import argparse
import torch
from mmcv import Config
from mmdet.apis import train_detector

def parse_args():
    parser = argparse.ArgumentParser()
    parser.add_argument('config', help='train config file path')
    return parser.parse_args()

def main():
    args = parse_args()
    cfg = Config.fromfile(args.config)
    train_detector(cfg)

if __name__ == '__main__':
    main()
""",
    "mmdet/apis.py": """
import torch
def train_detector(cfg):
    optimizer = build_optimizer(model, cfg.optimizer)
    runner.run(cfg.data.samples_per_gpu, cfg.total_epochs)
""",
    "mmdet/__init__.py": "",
    "configs/_base_/schedule.py": """
optimizer = dict(type='SGD', lr=0.02, momentum=0.9)
total_epochs = 12
""",
    "configs/ssd.py": """
_base_ = ['./_base_/schedule.py']
img_scale = (300, 300)
data = dict(
    samples_per_gpu=8,
    train=dict(type='CocoDataset', pipeline=[dict(type='Resize', img_scale=img_scale)]))
optimizer = dict(_delete_=True, type='SGD', lr=2e-3)
""",
    "train_1p.sh": "python3 ./tools/train.py configs/ssd.py --seed 0\n",
}


def test_a_configuration_of_mmcv(tmp_path: Path) -> None:
    laid = Laid(tmp_path, MMCV)
    assert laid.files("tools/train.py", "train_1p.sh") == ["configs/ssd.py"]
    start = ("tools/train.py", "train_1p.sh")
    assert laid.values("mmdet/apis.py", "cfg.optimizer.lr", *start) == [2e-3]
    assert laid.values("mmdet/apis.py", "cfg.optimizer.momentum", *start) == []
    assert laid.values("mmdet/apis.py", "cfg.total_epochs", *start) == [12]
    assert laid.values("mmdet/apis.py", "cfg.data.samples_per_gpu", *start) == [8]
    assert laid.values("mmdet/apis.py", "cfg.data.train.type", *start) == ["CocoDataset"]
    assert laid.values("mmdet/apis.py", "cfg.data.train.pipeline[0].type", *start) == ["Resize"]
    assert laid.values("mmdet/apis.py", "cfg.data.train.pipeline[0].img_scale", *start) == [(300, 300)]


BERT = {
    "modeling.py": """
import json
import six
import tensorflow as tf

class BertConfig(object):
  def __init__(self, vocab_size, hidden_size=768, hidden_dropout_prob=0.1):
    self.vocab_size = vocab_size
    self.hidden_size = hidden_size

  @classmethod
  def from_dict(cls, json_object):
    config = BertConfig(vocab_size=None)
    for (key, value) in six.iteritems(json_object):
      config.__dict__[key] = value
    return config

  @classmethod
  def from_json_file(cls, json_file):
    with tf.gfile.GFile(json_file, "r") as reader:
      text = reader.read()
    return cls.from_dict(json.loads(text))

class BertModel(object):
  def __init__(self, config, is_training):
    config = copy.deepcopy(config)
    self.size = config.hidden_size
""",
    "run_pretraining.py": """
import modeling
import tensorflow as tf
flags = tf.flags
FLAGS = flags.FLAGS
flags.DEFINE_string("bert_config_file", None, "config json")

def model_fn_builder(bert_config):
  def model_fn(features):
    model = modeling.BertModel(config=bert_config, is_training=True)
    return tf.nn.dropout(x, rate=bert_config.hidden_dropout_prob)
  return model_fn

def main(_):
  bert_config = modeling.BertConfig.from_json_file(FLAGS.bert_config_file)
  model_fn = model_fn_builder(bert_config=bert_config)

if __name__ == "__main__":
  tf.app.run()
""",
    "configs/bert_base.json": '{\n  "hidden_size": 1024,\n  "hidden_dropout_prob": 0.2\n}\n',
    "scripts/run.sh": "python3 ../run_pretraining.py --bert_config_file=../configs/bert_base.json\n",
}


@pytest.mark.parametrize("script", ["", "scripts/run.sh"])
def test_the_configuration_of_bert(tmp_path: Path, script: str) -> None:
    laid = Laid(tmp_path, BERT)
    assert laid.files("run_pretraining.py", script) == ["configs/bert_base.json"]
    start = ("run_pretraining.py", script)
    assert laid.values("modeling.py", "config.hidden_size", *start) == [1024]
    assert laid.values("run_pretraining.py", "bert_config.hidden_dropout_prob", *start) == [0.2]
    assert laid.values("modeling.py", "self.hidden_size", *start) == []


HYDRA = {
    "main.py": """
import hydra
import torch
from omegaconf import DictConfig, OmegaConf

@hydra.main(version_base=None, config_path="conf", config_name="train")
def main(cfg: DictConfig):
    opt_cfg = cfg.optimizer
    optimizer = torch.optim.AdamW(model.parameters(), lr=opt_cfg.lr, weight_decay=cfg.optimizer.weight_decay)
    loader = torch.utils.data.DataLoader(data, batch_size=cfg.trainer.batch_size)

if __name__ == "__main__":
    main()
""",
    "conf/train.yaml": "defaults:\n  - optimizer: adamw\n  - _self_\ntrainer:\n  batch_size: 64\n",
    "conf/optimizer/adamw.yaml": "lr: 3e-4\nweight_decay: 0.1\n",
    "conf/optimizer/sgd.yaml": "lr: 0.1\n",
    "run.sh": "python main.py trainer.batch_size=32 optimizer=sgd\n",
}


def test_hydra_composes_a_configuration(tmp_path: Path) -> None:
    laid = Laid(tmp_path, HYDRA)
    assert laid.values("main.py", "cfg.trainer.batch_size", "main.py") == [64]
    assert laid.values("main.py", "opt_cfg.lr", "main.py") == [3e-4]
    assert laid.values("main.py", "cfg.optimizer.weight_decay", "main.py") == [0.1]


def test_hydra_is_told_otherwise(tmp_path: Path) -> None:
    laid = Laid(tmp_path, HYDRA)
    assert laid.values("main.py", "cfg.trainer.batch_size", "main.py", "run.sh") == [32]
    assert laid.values("main.py", "opt_cfg.lr", "main.py", "run.sh") == [0.1]


UPDATES = {
    "vars": "vars(args).update(yaml.safe_load(open(args.config)))",
    "dict": "cfg = yaml.safe_load(open(args.config))\n    args.__dict__.update(cfg)",
    "setattr": "cfg = yaml.safe_load(open(args.config))\n    for k, v in cfg.items():\n        setattr(args, k, v)",
    "item": "cfg = yaml.safe_load(open(args.config))\n    opt = vars(args)\n    opt.update(cfg)",
    "defaults": "parser.set_defaults(**yaml.safe_load(open('config.yaml')))\n    args = parser.parse_args()",
    "namespace": "cfg = yaml.safe_load(open(args.config))\n    args = argparse.Namespace(**cfg)",
    "edict": "args = EasyDict(yaml.safe_load(open(args.config)))",
    "omegaconf": "args = OmegaConf.merge(OmegaConf.create(vars(args)), OmegaConf.load(args.config))",
}


@pytest.mark.parametrize("how", sorted(UPDATES))
def test_options_take_the_values_of_a_file(tmp_path: Path, how: str) -> None:
    text = f"""
import argparse, json, yaml, torch
from easydict import EasyDict
from omegaconf import OmegaConf

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-c", "--config", default="config.yaml")
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--epochs", type=int, default=90)
    args = parser.parse_args()
    {UPDATES[how]}
    optimizer = torch.optim.SGD(model.parameters(), args.lr)

if __name__ == "__main__":
    main()
"""
    laid = Laid(tmp_path, {"train.py": text, "config.yaml": "lr: 0.05\nother: 1\n"})
    assert laid.files("train.py") == ["config.yaml"]
    module = laid.module("train.py")
    line = text[: text.index("optimizer =")].count("\n") + 1
    block = next(number for number, one in enumerate(module.blocks) if one.name == "main")
    scope = scope_at(laid.context, module, block)
    found = laid.configs.under(laid.path("train.py")).lookup(scope.named("args.lr", line))
    assert [one.value for one in found] == [0.05]
    assert laid.configs.lookup(scope.named("args.epochs", line)) == []


@pytest.mark.parametrize(("how", "found"), [("parser.set_defaults(**cfg)", []), ("", []), ("late", [0.05])])
def test_what_a_launcher_passes_counts_before_the_defaults_of_a_file(
    tmp_path: Path, how: str, found: list[object]
) -> None:
    text = f"""
import argparse, yaml, torch
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
cfg = yaml.safe_load(open("config.yaml"))
{"" if how == "late" else how}
args = parser.parse_args()
{"vars(args).update(cfg)" if how == "late" else ""}
optimizer = torch.optim.SGD(model.parameters(), args.lr)
"""
    files = {"train.py": text, "config.yaml": "lr: 0.05\n", "run.sh": "python train.py --lr 0.3\n"}
    assert Laid(tmp_path, files).values("train.py", "args.lr", "train.py", "run.sh") == found


def test_an_option_is_no_setting_of_a_file_that_is_not_put_into_it(tmp_path: Path) -> None:
    text = """
import argparse, yaml, torch
parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.1)
args = parser.parse_args()
cfg = yaml.safe_load(open("config.yaml"))
optimizer = torch.optim.SGD(model.parameters(), args.lr)
"""
    laid = Laid(tmp_path, {"train.py": text, "config.yaml": "lr: 0.05\n"})
    assert laid.values("train.py", "args.lr", "train.py") == []
    assert laid.values("train.py", "cfg.lr", "train.py") == [0.05]
    assert laid.values("train.py", "model.lr", "train.py") == []


def test_a_class_loads_its_own_file(tmp_path: Path) -> None:
    text = """
import json, os, torch
class Params:
    def __init__(self, json_path):
        with open(json_path) as f:
            params = json.load(f)
            self.__dict__.update(params)

def main(folder):
    json_path = os.path.join(folder, 'params.json')
    params = Params(json_path)
    fit(params)

def fit(params):
    torch.optim.Adam(model.parameters(), lr=params.learning_rate)

main('experiments/base')
"""
    files = {"train.py": text, "experiments/base/params.json": '{"learning_rate": 1e-3}', "params.json": "{}"}
    laid = Laid(tmp_path, files)
    assert laid.values("train.py", "params.learning_rate", "train.py") == [1e-3]


def test_two_files_by_one_function_stay_apart(tmp_path: Path) -> None:
    text = """
import yaml, torch, os
HERE = os.path.dirname(os.path.abspath(__file__))
def load(path):
    with open(os.path.join(HERE, 'conf', path)) as f:
        return yaml.safe_load(f)
model_config = load('model.yaml')
train_config = load(path=f'train.yaml')
"""
    files = {"src/train.py": text, "src/conf/model.yaml": "lr: 1\n", "src/conf/train.yaml": "lr: 2\n"}
    laid = Laid(tmp_path, files)
    assert laid.values("src/train.py", "model_config[lr]", "src/train.py") == [1]
    assert laid.values("src/train.py", "train_config[lr]", "src/train.py") == [2]


def test_the_parser_of_ini_files(tmp_path: Path) -> None:
    text = """
import configparser, torch
config = configparser.ConfigParser()
config.read('settings.ini')
lr = config.getfloat('train', 'lr')
batch = int(config['train']['batch'])
"""
    laid = Laid(tmp_path, {"train.py": text, "settings.ini": "[train]\nlr = 1e-2 ; note\nbatch: 8\n"})
    assert laid.values("train.py", "config[train][lr]", "train.py") == [1e-2]
    assert laid.values("train.py", "config.train.batch", "train.py") == [8]


def test_data_is_no_configuration(tmp_path: Path) -> None:
    files = {
        "train.py": "import json, torch\nlabels = json.load(open('labels.json'))\nn = json.load(open('ones.json'))\n",
        "labels.json": '[{"id": 1}, {"id": 2}]',
        "ones.json": "{" + ", ".join(f'"{n}": {n}' for n in range(5000)) + "}",
    }
    assert Laid(tmp_path, files).files("train.py") == []


def test_nothing_is_looked_for_elsewhere(tmp_path: Path) -> None:
    """A relative path that leads nowhere is no file of the same name in another folder."""
    files = {
        "train.py": "import json, torch\ncfg = json.load(open('configs/a.json'))\nlr = cfg['lr']\n",
        "tests/a.json": '{"lr": 1}',
    }
    laid = Laid(tmp_path, files)
    assert laid.files("train.py") == []
    assert laid.values("train.py", "cfg[lr]", "train.py") == []


SIMPLE = """
import argparse, yaml, torch
parser = argparse.ArgumentParser()
parser.add_argument("--config", default="conf/small.yaml")
parser.add_argument("--large", action="store_true")
args = parser.parse_args()
if __name__ == "__main__":
    name = "conf/large.yaml" if args.large else args.config
    cfg = yaml.safe_load(open(name))
    torch.optim.SGD(model.parameters(), lr=cfg["optim"]["lr"])
"""
SIMPLE_FILES = {
    "train.py": SIMPLE,
    "conf/small.yaml": "optim: {lr: 1}\n",
    "conf/large.yaml": "optim: {lr: 2}\n",
    "conf/other.yaml": "optim: {lr: 3}\n",
    "a.sh": 'cur_path=`pwd`\npython3 train.py --config="${cur_path}/conf/other.yaml"\n',
    "b.sh": 'python3 train.py --config="$1"\n',
    "c.sh": 'python3 train.py --config="${data}/small.yaml"\n',
}


@pytest.mark.parametrize(
    ("script", "files"),
    [("", ["conf/small.yaml"]), ("a.sh", ["conf/other.yaml"]), ("b.sh", []), ("c.sh", [])],
)
def test_a_path_that_the_launcher_puts_together(tmp_path: Path, script: str, files: list[str]) -> None:
    """The caller of b.sh may name any file; c.sh takes one that lies beside the data, outside of the project."""
    assert Laid(tmp_path, SIMPLE_FILES).files("train.py", script) == files


@pytest.mark.parametrize(
    "line",
    [
        "cfg = yaml.safe_load(open(os.path.join(sys.path[0], 'a.yaml')))",
        "cfg = yaml.safe_load(open(sys.argv[1]))",
        "args = vars(argparse.ArgumentParser().parse_args())\ncfg = yaml.safe_load(open(args['exp']))",
        "cfg = load(path='a.yaml')",
        "cfg = yaml.safe_load(open(Path(__file__).resolve().parent / 'a.yaml'))",
        "cfg = yaml.safe_load(Path('a.yaml').read_text())",
        "cfg = yaml.safe_load(open('%s.yaml' % 'a'))",
        "cfg = yaml.safe_load(open('{}.{}'.format('a', 'yaml')))",
        "name = 'a'\ncfg = yaml.safe_load(open(f'./{name}.yaml'))",
        "for path in 'a.yaml,'.split(','):\n    cfg = yaml.safe_load(open(path))",
    ],
)
def test_ways_to_name_a_file(tmp_path: Path, line: str) -> None:
    text = f"""
import argparse, os, sys, yaml, torch
from pathlib import Path
parser = argparse.ArgumentParser()
parser.add_argument("exp")
def load(**kwargs):
    with open(kwargs["path"]) as f:
        return yaml.safe_load(f)
{line}
lr = cfg["lr"]
"""
    files = {
        "src/train.py": text,
        "src/a.yaml": "lr: 1\n",
        "b.yaml": "lr: 2\n",
        "run.sh": "cd src; python train.py a.yaml",
    }
    laid = Laid(tmp_path, files)
    assert laid.files("src/train.py", "run.sh") == ["src/a.yaml"]
    assert laid.values("src/train.py", "cfg[lr]", "src/train.py", "run.sh") == [1]


def test_a_value_is_traced_to_its_file(tmp_path: Path) -> None:
    laid = Laid(tmp_path, SIMPLE_FILES)
    entry, launch = laid.path("train.py"), laid.launch("train.py", "a.sh")
    tracer = Tracer(laid.context, launch, laid.configs.under(entry, launch), entry)
    (site,) = scope_at(laid.context, laid.module("train.py"), 0).calls_named("SGD")
    traced = tracer.trace(site.keywords["lr"])
    assert (traced.known, traced.value) == (True, 3)
    assert traced.provenance[0].path == laid.path("conf/other.yaml")


def test_values_are_guessed_only_where_one_fits(tmp_path: Path) -> None:
    files = {
        "train.py": "import yaml, torch, registry\nregistry.use(yaml.safe_load(open('a.yaml')))\nimport model\n",
        "model.py": "import torch\ndef build(cfg):\n    return torch.f(cfg.MODEL.DEPTH, cfg.WIDTH, cfg.LR)\n",
        "a.yaml": "MODEL: {DEPTH: 50, WIDTH: 1}\nHEAD: {WIDTH: 2}\n",
    }
    laid = Laid(tmp_path, files)
    found = {name: laid.values("model.py", name, "train.py") for name in ("cfg.MODEL.DEPTH", "cfg.WIDTH", "cfg.LR")}
    assert found == {"cfg.MODEL.DEPTH": [50], "cfg.WIDTH": [], "cfg.LR": []}
    assert laid.values("model.py", "net.DEPTH", "train.py") == []


def test_files_that_are_handed_on_unseen_belong_to_the_program(tmp_path: Path) -> None:
    files = {
        "train.py": """
import argparse, deepspeed, torch
parser = argparse.ArgumentParser()
parser = deepspeed.add_config_arguments(parser)
args = parser.parse_args()
engine = deepspeed.initialize(args=args, model=net)
""",
        "ds.json": '{"train_batch_size": 32, "fp16": {"enabled": true}}',
        "labels.json": '{"a": 1}',
        "run.sh": "deepspeed train.py --deepspeed --deepspeed_config ds.json\n",
    }
    assert Laid(tmp_path, files).files("train.py", "run.sh") == ["ds.json"]


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    laid = Laid(tmp_path, {"train.py": "import yaml, torch\nc = yaml.safe_load(open('a.yaml'))\n", "a.yaml": "a: [1\n"})
    assert laid.files("train.py") == []
    assert [(problem.path, problem.reason) for problem in laid.configs.problems] == [
        (laid.path("a.yaml"), "syntax-error")
    ]


def test_bases_in_a_circle_end(tmp_path: Path) -> None:
    files = {
        "train.py": "import yaml, torch\ncfg = yaml.safe_load(open('a.yaml'))\nlr = cfg['lr']\n",
        "a.yaml": "_base_: b.yaml\nlr: 1\n",
        "b.yaml": "_base_: [a.yaml, b.yaml]\nwd: 2\n",
    }
    laid = Laid(tmp_path, files)
    assert laid.values("train.py", "cfg[lr]") == [1]
    assert laid.values("train.py", "cfg[wd]") == [2]


CIRCLES = """
import yaml, torch
def load(path, depth=0):
    path = resolve(path)
    cfg = yaml.safe_load(open(path))
    cfg.update(load(cfg['base'], depth + 1))
    return merge(cfg, load(path))
def merge(a, b):
    for k, v in b.items():
        a[k] = merge(a[k], v)
    return a
def resolve(path):
    return resolve(path + path) if path else resolve(str(path) + '/x.yaml')
cfg = merge(load('a.yaml'), load('b.yaml'))
cfg = merge(cfg, cfg)
args = cfg
cfg = args
"""


@cache
def _circles(folder: Path) -> Laid:
    return Laid(folder, {"train.py": CIRCLES, "a.yaml": "lr: 1\ncfg: {lr: 2}\n", "b.yaml": "lr: 3\n"})


@given(st.text(st.sampled_from("cfgargslr.[]'*0 é"), max_size=20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_no_name_and_no_circle_ends_the_search(tmp_path: Path, name: str) -> None:
    laid = _circles(tmp_path)
    assert all(one.value in (1, 2, 3) for one in laid.lookup(laid.configs, "train.py", name))

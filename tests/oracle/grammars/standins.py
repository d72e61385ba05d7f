"""Modules that stand in for libraries, as text: of torch, of libraries for options, and loaders of configurations."""

from __future__ import annotations

TORCH = """
import os
state = {"grad": 1, "amp": 0, "seed": SEED}
class cuda:
    @staticmethod
    def is_available():
        return bool(os.environ.get("FAST"))
    @staticmethod
    def device_count():
        return int(os.environ.get("RANK", "0")) + 1
def manual_seed(seed):
    state["seed"] = seed
    return state
class no_grad:
    def __enter__(self):
        self.before = state["grad"]
        state["grad"] = 0
        return self
    def __exit__(self, *error):
        state["grad"] = self.before
"""

NN = """
class Module:
    def __init__(self):
        self.__dict__["parts"] = {}
        self.training = True
        self.hooks = []
    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self.parts[name] = value
        super().__setattr__(name, value)
    def __call__(self, x):
        out = self.forward(x)
        for hook in self.hooks:
            out = hook(out)
        return out
    def train(self, mode=True):
        self.training = mode
        for part in self.parts.values():
            part.train(mode)
        return self
    def eval(self):
        return self.train(False)
    def modules(self):
        yield self
        for part in self.parts.values():
            yield from part.modules()
    def parameters(self):
        return [each.weight for each in self.modules() if hasattr(each, "weight")]
class Linear(Module):
    def __init__(self, dim, bias=True):
        super().__init__()
        self.dim = dim
        self.weight = dim * 2 + bias
    def forward(self, x):
        return x + self.weight if self.training else x - self.dim
"""

SEQUENTIAL = """
class Sequential(Module):
    def __init__(self, *parts):
        super().__init__()
        for at, part in enumerate(parts):
            setattr(self, f"part{at}", part)
    def forward(self, x):
        for part in self.parts.values():
            x = part(x)
        return x
"""

OPTIM = """
class Optimizer:
    defaults = {"lr": 0.1, "decay": 0}
    def __init__(self, groups, **options):
        self.param_groups = []
        for group in groups:
            made = {**self.defaults, **options}
            made.update(group)
            self.param_groups.append(made)
        self.steps = 0
    def step(self):
        self.steps += 1
        for group in self.param_groups:
            group["scale"] = group.get("scale", 0) + 1
        return self.steps
    def state(self):
        return {"steps": self.steps, "groups": self.param_groups}
    def load(self, state):
        self.steps = state["steps"]
        self.param_groups = state["groups"]
class SGD(Optimizer):
    pass
class Adam(Optimizer):
    defaults = {**Optimizer.defaults, "lr": 0.01, "depth": 2}
"""

SCHEDULER = """
class StepLR:
    def __init__(self, optimizer, every, gamma=0.5):
        self.optimizer, self.every, self.gamma = optimizer, every, gamma
        self.base = [group["lr"] for group in optimizer.param_groups]
        self.epoch = 0
    def step(self):
        self.epoch += 1
        for group, lr in zip(self.optimizer.param_groups, self.base):
            group["lr"] = lr * self.gamma ** (self.epoch // self.every)
"""

LOADER = """
class DataLoader:
    def __init__(self, data, batch_size=1, drop_last=False):
        self.data, self.batch_size, self.drop_last = data, batch_size, drop_last
    def __iter__(self):
        for at in range(0, len(self.data), self.batch_size):
            batch = self.data[at:at + self.batch_size]
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch
    def __len__(self):
        full, rest = divmod(len(self.data), self.batch_size)
        return full + (1 if rest and not self.drop_last else 0)
"""

# libraries for options; each defines `declare(**defaults)` or reads a class, and gives an object with the options

FLAGS = """
import sys
class _Flags:
    def __init__(self):
        self.__dict__["_table"] = {}
        self.__dict__["_parsed"] = False
    def __getattr__(self, name):
        if not self._parsed:
            self._parse(sys.argv[1:])
        try:
            return self._table[name][1]
        except KeyError:
            raise AttributeError(name)
    def __setattr__(self, name, value):
        self._table[name] = (self._table[name][0], value)
    def _parse(self, words):
        self.__dict__["_parsed"] = True
        self.__dict__["rest"] = []
        for word in words:
            name, sep, value = word[2:].partition("=")
            if word.startswith("--") and name in self._table:
                kind = self._table[name][0]
                self._table[name] = (kind, kind(value) if sep else True)
            else:
                self.rest.append(word)
FLAGS = _Flags()
def _define(kind):
    def define(name, default, help=""):
        FLAGS._table[name] = (kind, default)
    return define
define_integer, define_float, define_string = _define(int), _define(float), _define(str)
def define_bool(name, default, help=""):
    FLAGS._table[name] = (lambda text: text.lower() in ("1", "true"), default)
"""

FIELDS = """
import dataclasses
import sys
def parse(cls, words=None):
    words = list(sys.argv[1:] if words is None else words)
    given, rest = {}, []
    names = {field.name: field for field in dataclasses.fields(cls)}
    while words:
        word = words.pop(0)
        name, sep, value = word.lstrip("-").partition("=")
        if not word.startswith("--") or name not in names:
            rest.append(word)
            continue
        default = names[name].default
        given[name] = True if isinstance(default, bool) and not sep else type(default)(value)
    made = cls(**given)
    made.rest = rest
    return made
"""

DECORATED = """
import functools
import sys
def option(name, default=None, type=str):
    def add(f):
        f.options = [(name, default, type), *getattr(f, "options", ())]
        return f
    return add
def command(f):
    @functools.wraps(f)
    def run(words=None):
        values = {name: default for name, default, _ in f.options}
        rest = []
        for word in sys.argv[1:] if words is None else words:
            key, sep, value = word.partition("=")
            kinds = {f"--{name}": (name, kind) for name, _, kind in f.options}
            if key in kinds:
                name, kind = kinds[key]
                values[name] = kind(value) if sep else True
            else:
                rest.append(word)
        return f(rest=rest, **values)
    return run
"""

# loaders of configurations; each defines `load(path, overrides)`

MERGED = """
import json
def merge(base, over):
    out = dict(base)
    for key, value in over.items():
        if isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = merge(out[key], value)
        else:
            out[key] = value
    return out
def literal(text):
    try:
        return json.loads(text)
    except ValueError:
        return text
def load(path, overrides=()):
    with open(path) as file:
        data = json.load(file)
    if "base" in data:
        data = merge(load(data.pop("base")), data)
    for text in overrides:
        path, _, value = text.partition("=")
        *parents, last = path.split(".")
        node = data
        for parent in parents:
            node = node.setdefault(parent, {})
        node[last] = literal(value)
    return data
"""

NODES = """
import copy
import json
class Node(dict):
    def __init__(self, data=()):
        super().__init__()
        for key, value in dict(data).items():
            self[key] = Node(value) if isinstance(value, dict) else value
    def __getattr__(self, name):
        if name in self:
            return self[name]
        raise AttributeError(name)
    def __setattr__(self, name, value):
        self[name] = value
    def clone(self):
        return copy.deepcopy(self)
    def merge_from_list(self, pairs):
        for key, value in zip(pairs[0::2], pairs[1::2]):
            *parents, last = key.split(".")
            node = self
            for parent in parents:
                node = node[parent]
            if last not in node:
                raise KeyError(key)
            node[last] = type(node[last])(value)
def load(path, overrides=()):
    with open(path) as file:
        node = Node(json.load(file))
    node.merge_from_list([part for text in overrides for part in text.split("=")])
    return node
"""

CLASSES = """
class Base:
    name = "base"
    steps = 2
    class optim:
        lr = 0.5
        decay = 1
    class model:
        dim = 4
        depth = 2
class Large(Base):
    name = "large"
    class model(Base.model):
        dim = 16
def plain(cls):
    found = {}
    for base in reversed(cls.__mro__):
        for key, value in vars(base).items():
            if not key.startswith("_"):
                found[key] = plain(value) if isinstance(value, type) else value
    return found
def load(path, overrides=()):
    data = plain({"base.json": Base, "large.json": Large}[path])
    for text in overrides:
        key, _, value = text.partition("=")
        group, _, last = key.rpartition(".")
        target = data[group] if group else data
        target[last] = type(target[last])(value)
    return data
"""

OPTION_LIBRARIES = {"flags": FLAGS, "fields": FIELDS, "decorated": DECORATED}
LOADERS = {"merged": MERGED, "nodes": NODES, "classes": CLASSES}

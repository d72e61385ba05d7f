"""Ways in which a file or a project can be large: for each a project of any size, and how large it is made."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import msgspec

Files = dict[str, str]

TORCH = "import torch\n"
TRAIN = (
    "model = torch.nn.Linear(3, 3).cuda()\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "for batch in loader:\n    loss = model(batch).sum()\n    loss.backward()\n    optimizer.step()\n"
)
PROGRAM = {"train.py": TORCH + TRAIN}
PLOG = "[ERROR] RUNTIME(1,python3):2026-01-01-00:00:00.000.000 [x.cc:1]1 "


class Case(msgspec.Struct, frozen=True):
    """A way to be large: the project of a size, the largest size that is tried, and further words for ``check``."""

    project: Callable[[int], Mapping[str, str]]
    size: int = 800
    words: tuple[str, ...] = ()


def _many(text: str, count: int) -> str:
    """A text so many times, with its number in the place of ``~``."""
    return "".join(text.replace("~", str(number)) for number in range(count))


def _script(text: str, head: str = "", tail: str = "", size: int = 800) -> Case:
    """A script that repeats a text."""
    return Case(lambda count: {"train.py": TORCH + head + _many(text, count) + tail}, size)


def _beside(name: str, text: str, head: str = "", tail: str = "", size: int = 800) -> Case:
    """A training program beside a file that repeats a text."""
    return Case(lambda count: {**PROGRAM, name: head + _many(text, count) + tail}, size)


def _words(number: int) -> str:
    """A word without digits for each number."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def _log(name: str, text: str, head: str = "", size: int = 800) -> Case:
    """A log in which no sentence comes twice."""

    def project(count: int) -> Files:
        return {name: head + "".join(text.replace("~", _words(number)) for number in range(count))}

    return Case(project, size)


def _files(name: str, text: str, others: Mapping[str, str] | None = None, size: int = 160) -> Case:
    """A project of many files."""

    def project(count: int) -> Files:
        files = {name.replace("~", str(n)): text.replace("~", str(n)) for n in range(count)}
        return {**(others or {}), **files}

    return Case(project, size)


def _circle(count: int) -> Files:
    """Modules each of which imports the next one, and the last one the first."""
    text = "import torch\nfrom m{} import f{}\ndef f{}(x):\n    return x.cuda()\n"
    return {**PROGRAM, **{f"m{n}.py": text.format((n + 1) % count, (n + 1) % count, n) for n in range(count)}}


def _star_chain(count: int) -> Files:
    """Modules each of which takes all names of the next one."""
    modules = {f"m{n}.py": f"from m{n + 1} import *\nv{n} = {n}\n" for n in range(count)}
    return {"train.py": TORCH + "from m0 import *\n" + TRAIN, **modules, f"m{count}.py": "device = 'cuda:1'\n"}


def _everyone(count: int) -> Files:
    """Modules each of which imports some others."""
    imports = [f"from m{(n * 7 + k) % count} import f\n" for n in range(count) for k in (1, 2, 3)]
    text = "import torch\n{}def f(x):\n    return x.to('cuda')\n"
    return {f"m{n}.py": text.format("".join(imports[3 * n : 3 * n + 3])) for n in range(count)}


def _arguments(count: int) -> Files:
    """One call with many arguments of a function with as many parameters."""
    parameters = ",".join(f"a{n}=torch.device('cuda')" for n in range(count))
    given = ",".join(f"a{n}=1" for n in range(count))
    return {"train.py": f"{TORCH}def f({parameters}): pass\nf({given})\n"}


def _notebook(count: int) -> Files:
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": [line]}
        for line in ("import torch", *(f"x{n} = torch.ones({n}).cuda()" for n in range(count)))
    ]
    return {"train.ipynb": json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})}


def _mixlist(count: int) -> Files:
    lists = {"black-list": {"to-add": [f"Op{n}" for n in range(count)]}, "white-list": {"to-add": ["MatMul"]}}
    return {**PROGRAM, "mixlist.json": json.dumps(lists)}


def _launcher_options(count: int) -> Files:
    options = "".join(f"parser.add_argument('--a{n}', default='cuda')\n" for n in range(count))
    head = TORCH + "import argparse\nparser = argparse.ArgumentParser()\n"
    given = " ".join(f"--a{n} cuda:{n}" for n in range(count))
    return {"train.py": f"{head}{options}args = parser.parse_args()\n{TRAIN}", "run.sh": f"python train.py {given}\n"}


def _loaded_yaml(count: int) -> Files:
    reads = _many("c~ = yaml.safe_load(open('c~.yaml'))\nx.to(c~['device'])\n", count)
    files = {f"c{n}.yaml": f"device: cuda:{n}\nlr: 0.{n}\n" for n in range(count)}
    return {"train.py": f"{TORCH}import yaml\n{reads}{TRAIN}", **files}


def _chain(count: int) -> Files:
    """Functions each of which calls the next one."""
    calls = "".join(f"def f{n}(x, d='cuda'):\n    return f{n + 1}(x.to(d))\n" for n in range(count))
    return {"train.py": f"{TORCH}{calls}def f{count}(x):\n    return x\nf0(torch.ones(1))\n"}


def _programs(count: int) -> Files:
    """Entry points that share a module."""
    shared = "import torch\ndef put(x, device='cuda'):\n    return x.to(device)\n"
    text = "import torch\nfrom shared import put\nput(torch.ones({}))\n"
    return {"shared.py": shared, **{f"train{n}.py": text.format(n) + TRAIN for n in range(count)}}


def _baseline(count: int) -> Files:
    """Findings, each with an entry that accepts another one."""
    lines = (f"x{n} = torch.ones({n + 1}).to('cuda:{n}')" for n in range(count))
    entries = [{"path": "train.py", "check": "cuda-left-over", "code": "NPU2180", "line": line} for line in lines]
    baseline = json.dumps({"version": 1, "findings": entries})
    return {"train.py": TORCH + _many("x~ = torch.ones(~).to('cuda:~')\n", count), "npulint-baseline.json": baseline}


CASES: dict[str, Case] = {
    "statements of one function": _script("    x~ = torch.relu(x)\n", "def f(x):\n"),
    "a name bound again": _script("    x = x.cuda()\n", "def f(x):\n"),
    "functions that bind a global name": _script(
        "def f~():\n    global d\n    d = 'cuda:~'\n    x.to(d)\n", "d = 'cuda'\n", size=400
    ),
    "arguments of a call": Case(_arguments),
    "elif branches": _script("elif c == ~:\n    x = x.to('cuda:~')\n", "if c == -1:\n    pass\n", size=100),
    "if statements": _script("if c == ~:\n    d = 'cuda:~'\n    m = torch.nn.Linear(~, 3).to(d)\n"),
    "options of a parser": _script(
        "p.add_argument('--a~', default='cuda')\n", "import argparse\np = argparse.ArgumentParser()\n"
    ),
    "options that are used": Case(
        lambda count: {
            "train.py": f"{TORCH}import argparse\np = argparse.ArgumentParser()\n"
            + _many("p.add_argument('--a~', default='cuda')\n", count)
            + "args = p.parse_args()\n"
            + _many("x.to(args.a~)\n", count)
        }
    ),
    "with statements after each other": _script("with torch.autocast('cuda'):\n    x~ = x.cuda()\n"),
    "try statements": _script("try:\n    x = x.cuda(~)\nexcept RuntimeError:\n    x = x.cpu()\n"),
    "loops": _script("for i~ in range(3):\n    x = f(x).cuda()\n"),
    "comprehensions": _script("x~ = [one.cuda() for one in xs if one > ~]\n"),
    "lambdas": _script("f~ = lambda x: x.cuda(~)\n"),
    "decorated functions": _script("@torch.no_grad()\ndef f~(x):\n    return x.cuda()\n"),
    "classes": _script("class C~(torch.nn.Module):\n    def forward(self, x):\n        return x.cuda()\n", size=400),
    "methods of a class": _script("    def f~(self, x):\n        return self.a.to('cuda')\n", "class C:\n"),
    "attributes of a class": _script("        self.a~ = torch.ones(~).cuda()\n", "class C:\n    def __init__(self):\n"),
    "entries of a dict": _script("    'k~': 'cuda:~',\n", "d = {\n", "}\nx.to(d['k1'])\n"),
    "strings that are joined": _script(" + 'cuda:~'", "d = 'a'", "\nx.to(d)\n", size=200),
    "f-strings": _script("x~ = x.to(f'cuda:{~}')\n"),
    "environment variables": _script("os.environ['ASCEND_~'] = '1'\n", "import os\n"),
    "calls of one function": _script("f(x~, 'cuda:~')\n", "def f(x, device='cuda'):\n    return x.to(device)\n"),
    "functions that call the next one": Case(_chain, 160),
    "imports of a file": _script("import torch.nn.functional as f~\nf~.relu(x).cuda()\n"),
    "modules in a circle": Case(_circle, 80),
    "modules that import others": Case(_everyone, 120),
    "star imports in a chain": Case(_star_chain, 80),
    "programs": Case(_programs, 80),
    "launchers": _files("run~.sh", "export RANK_SIZE=8\npython train.py --lr ~\n", PROGRAM),
    "functions of a shell script": _beside(
        "run.sh", "f~() {\n  export ASCEND_A~=1\n  python train.py\n}\nf~\n", size=200
    ),
    "variables of a shell script": _beside("run.sh", "export A~=$A/x~\n", tail="python train.py\n"),
    "options of a launcher": Case(_launcher_options),
    "files that programs load": Case(_loaded_yaml, 160),
    "entries of a YAML file": Case(
        lambda count: {
            "train.py": f"{TORCH}import yaml\nc = yaml.safe_load(open('c.yaml'))\nx.to(c['key1']['device'])\n",
            "c.yaml": _many("key~:\n  device: cuda:~\n", count),
        }
    ),
    "lines of requirements": _beside("requirements.txt", "package~==1.~\n", "torch==2.1.0\n"),
    "cells of a notebook": Case(_notebook, 400),
    "findings of different kinds of places": _script("x~ = torch.ones(~).cuda()\ntorch.cuda.synchronize()\n"),
    "comments that silence a finding": _script("x~ = torch.ones(~).cuda()  # npulint: ignore\n"),
    "entries of a baseline": Case(_baseline, 400),
    "findings that become one": _script("torch.cuda.synchronize()\n"),
    "lines of a Dockerfile": _beside("Dockerfile", "RUN pip install package~\n", "FROM nvidia/cuda:12.1\n"),
    "lines of a log": _log("plog-1_20260101000000000.log", PLOG + "EI0003: failed ~\n"),
    "lines of a training log": _log("train.log", "[NPU] ~ epoch 1 step 2 loss 0.3 0.1 sec/step\n"),
    "a log of one line": Case(
        lambda count: {"plog-1_20260101000000000.log": PLOG + _many("loss 0x~ ", count) + "\n"}, 400_000
    ),
    "tracebacks of a log": _log(
        "train.log",
        'Traceback (most recent call last):\n  File "train.py", line 3, in ~\nRuntimeError: EI0003: ~\n',
        "torch_npu\n",
    ),
    "operators of a mixlist": Case(_mixlist),
    "nodes of a graph": _beside(
        "graph.pbtxt", 'node { name: "n~" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }\n'
    ),
}

"""Distribution of PyTorch: backends at the place where they are written, process groups, collectives, ranks."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact
from tests.support import facts, programs

_HEAD = """\
import argparse
import datetime
import os
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

parser = argparse.ArgumentParser()
parser.add_argument("--dist-backend", default="nccl")
parser.add_argument("--on", action="store_true")
args = parser.parse_args()
"""
_OPTION = 9  # its line
_FIRST = 12  # the first line after the head


def _found(text: str, kind: str, what: str = "") -> list[Fact]:
    return [f for f in facts(_HEAD + text + "\n", kind) if not what or f.get("what") == what]


# text -> (backend, line, source)
_BACKENDS = {
    "a literal": ("dist.init_process_group('nccl')", [("nccl", _FIRST, "literal")]),
    "a keyword": ("dist.init_process_group(backend='NCCL')", [("nccl", _FIRST, "literal")]),
    "a composite": ("dist.init_process_group('cpu:gloo,cuda:nccl')", [("nccl", _FIRST, "literal")]),
    "a name": ("B = 'nccl'\ndist.init_process_group(B)", [("nccl", _FIRST, "assigned")]),
    "an option": ("dist.init_process_group(args.dist_backend)", [("nccl", _OPTION, "option")]),
    "an option that is replaced": (
        "args.dist_backend = 'gloo'\ndist.init_process_group(args.dist_backend)",
        [("gloo", _FIRST, "assigned")],
    ),
    "an option that may be replaced": (
        "if args.on:\n    args.dist_backend = 'gloo'\ndist.init_process_group(args.dist_backend)",
        [("nccl", _OPTION, "option"), ("gloo", _FIRST + 1, "assigned")],
    ),
    "a choice": (
        "b = 'hccl' if npu else 'nccl'\ndist.init_process_group(b)",
        [("hccl", _FIRST, "assigned"), ("nccl", _FIRST, "assigned")],
    ),
    "a default": ("def f(b='nccl'):\n    dist.init_process_group(b)", [("nccl", _FIRST, "default")]),
    "a default that is left": (
        "def f(b='nccl'):\n    dist.init_process_group(b)\nf()",
        [("nccl", _FIRST, "parameter")],
    ),
    "an argument": ("def f(b='nccl'):\n    dist.init_process_group(b)\nf('hccl')", [("hccl", _FIRST + 2, "literal")]),
    "the environment's default": (
        "dist.init_process_group(os.environ.get('B', 'nccl'))",
        [("nccl", _FIRST, "literal")],
    ),
    "an own function's result": (
        "def b():\n    return 'nccl'\ndist.init_process_group(b())",
        [("nccl", _FIRST + 1, "assigned")],
    ),
    "a second group": ("dist.new_group([0], backend='nccl')", [("nccl", _FIRST, "literal")]),
    "a configuration": ("dist_params = dict(backend='nccl')", [("nccl", _FIRST, "config")]),
    "no backend": ("plot = dict(backend='agg')\ndist.init_process_group()", []),
    "a comparison": ("x = dist.get_backend() == 'nccl'", []),
    "nothing known": ("def f(b):\n    dist.init_process_group(b)", []),
}


@pytest.mark.parametrize(("text", "expected"), _BACKENDS.values(), ids=_BACKENDS.keys())
def test_backend(text: str, expected: list[tuple[str, int, str]]) -> None:
    found = [(f.name, f.span.line, f.get("source")) for f in _found(text, "backend")]
    assert sorted(found) == sorted(expected)


_BESIDE = {
    "alone": ("dist.init_process_group('nccl')", ""),
    "a choice": ("dist.init_process_group('hccl' if npu else 'nccl')", "hccl"),
    "a sibling": (
        "if npu:\n    dist.init_process_group('hccl')\nelse:\n    dist.init_process_group('nccl')",
        "hccl",
    ),
    "the choices of its option": (
        "parser.add_argument('--to', default='nccl', choices=['nccl', 'hccl'])\ndist.init_process_group(args.to)",
        "hccl",
    ),
    "entries of a table": ("t = {'npu': 'hccl'}\ndist.init_process_group(t.get(kind, 'nccl'))", "hccl"),
}


@pytest.mark.parametrize(("text", "beside"), _BESIDE.values(), ids=_BESIDE.keys())
def test_what_else_it_may_be(text: str, beside: str) -> None:
    assert [f.get("beside") for f in _found(text, "backend") if f.name == "nccl"] == [beside]


@pytest.mark.parametrize(
    ("text", "runs"),
    [("dist.init_process_group('nccl')", "yes"), ("if args.on:\n    dist.init_process_group('nccl')", "no")],
    ids=["always", "behind an option"],
)
def test_whether_the_group_is_started(text: str, runs: str) -> None:
    assert [f.get("runs") for f in _found(text, "backend")] == [runs]


def test_a_backend_in_another_module() -> None:
    sources = {
        "comm.py": "import torch\n\ndef join(b):\n    torch.distributed.init_process_group(backend=b)\n",
        "train.py": "import comm\n\nif __name__ == '__main__':\n    comm.join('nccl')\n",
    }
    assert [(f.path, f.span.line) for f in facts(sources, "backend")] == [("train.py", 4)]


_DEVICES = {
    "before": ("def f(r):\n    torch.npu.set_device(r)\n    dist.init_process_group('hccl')", "before"),
    "by the caller": (
        "def f():\n    dist.init_process_group('hccl')\ndef g(r):\n    torch.npu.set_device(r)\n    f()",
        "before",
    ),
    "by an own function": (
        "def s(r):\n    torch.cuda.set_device(r)\ndef f(r):\n    s(r)\n    dist.init_process_group('nccl')",
        "before",
    ),
    "given": ("dist.init_process_group('hccl', device_id=d)", "given"),
    "after": ("def f(r):\n    dist.init_process_group('hccl')\n    torch.npu.set_device(r)", "after"),
    "after a collective": (
        "def f(r):\n    dist.init_process_group('hccl')\n    dist.barrier()\n    torch.npu.set_device(r)",
        "late",
    ),
    "nowhere": ("dist.init_process_group('hccl')", "unknown"),
}


@pytest.mark.parametrize(("text", "when"), _DEVICES.values(), ids=_DEVICES.keys())
def test_when_the_device_is_chosen(text: str, when: str) -> None:
    assert [f.get("device_set") for f in _found(text, "distribution", "init")] == [when]


_TIMEOUTS = {
    "seconds": ("datetime.timedelta(seconds=90)", 90),
    "minutes and seconds": ("datetime.timedelta(minutes=2, seconds=5)", 125),
    "by position": ("datetime.timedelta(1, 1)", 86401),
    "unknown": ("datetime.timedelta(seconds=n)", None),
    "something else": ("limit", None),
}


@pytest.mark.parametrize(("value", "seconds"), _TIMEOUTS.values(), ids=_TIMEOUTS.keys())
def test_timeout(value: str, seconds: float | None) -> None:
    found = _found(f"dist.init_process_group('hccl', timeout={value})", "distribution", "init")
    assert [f.get("timeout") for f in found] == [seconds]


_SIZES = {
    "the number of GPUs": ("mp.spawn(f, nprocs=torch.cuda.device_count())", "torch.cuda.device_count"),
    "by a name": ("n = torch.cuda.device_count()\nmp.spawn(f, (n,), n)", "torch.cuda.device_count"),
    "one of two": ("n = 8 if npu else torch.cuda.device_count()\nmp.spawn(f, nprocs=n)", ""),
    "in one branch": (
        "if npu:\n    n = torch.npu.device_count()\nelse:\n    n = torch.cuda.device_count()\nmp.spawn(f, nprocs=n)",
        "",
    ),
    "a number": ("mp.spawn(f, nprocs=8)", ""),
}


@pytest.mark.parametrize(("text", "source"), _SIZES.values(), ids=_SIZES.keys())
def test_number_of_processes(text: str, source: str) -> None:
    assert [f.get("size_from") for f in _found(text, "distribution", "processes")] == [source]


_VIEWS = {
    "transposed": ("dist.all_reduce(x.t())", "no"),
    "by attribute": ("dist.all_reduce(y().T)", "no"),
    "by a name": ("def f(x):\n    y = x.permute(1, 0)\n    dist.broadcast(y, 0)", "no"),
    "a column": ("dist.all_reduce(x[:, 0])", "no"),
    "what is gathered": ("dist.all_gather(parts, x.expand(4, 4))", "no"),
    "a row": ("dist.all_reduce(x[0])", "unknown"),
    "copied": ("dist.all_reduce(x.t().contiguous())", "unknown"),
    "computed": ("def f(x):\n    y = x.t() * 2\n    dist.all_reduce(y)", "unknown"),
    "one of two": ("def f(x):\n    y = x\n    if a:\n        y = x.t()\n    dist.all_reduce(y)", "unknown"),
}


@pytest.mark.parametrize(("text", "contiguous"), _VIEWS.values(), ids=_VIEWS.keys())
def test_views(text: str, contiguous: str) -> None:
    assert [f.get("contiguous") for f in _found(text, "distribution", "collective")] == [contiguous]


_RANKS = {
    "never read": ("", "no"),
    "subscript": ("r = int(os.environ['LOCAL_RANK'])", "yes"),
    "getenv": ("r = os.getenv('LOCAL_RANK', '0')", "yes"),
    "tested": ("if 'LOCAL_RANK' in os.environ:\n    pass", "yes"),
    "another variable": ("r = int(os.environ['RANK'])", "no"),
}


@pytest.mark.parametrize(("text", "read"), _RANKS.values(), ids=_RANKS.keys())
def test_local_rank(text: str, read: str) -> None:
    found = _found(f"parser.add_argument('--local_rank', type=int)\n{text}", "distribution", "local_rank")
    assert [f.get("from_environment") for f in found] == [read]


_LOOP = "def f(model, rows, optimizer):\n    for i, x in enumerate(rows):\n        model(x).backward()\n        <step>"
_STEPS = {
    "every few rounds": ("if (i + 1) % 4 == 0:\n            optimizer.step()", 1),
    "or at the end": ("if (i + 1) % n == 0 or last:\n            optimizer.step()", 1),
    "every round": ("optimizer.step()", 0),
    "every round, told so": ("if (i + 1) % 1 == 0:\n            optimizer.step()", 0),
    "a schedule": ("optimizer.step()\n        if i % 9 == 0:\n            scheduler.step()", 0),
}


@pytest.mark.parametrize(("text", "count"), _STEPS.values(), ids=_STEPS.keys())
def test_accumulation(text: str, count: int) -> None:
    assert len(_found(_LOOP.replace("<step>", text), "distribution", "accumulation")) == count


_NAMES = {
    "torch.nn.DataParallel(m)": "parallel",
    "torch.nn.parallel.DataParallel(m)": "parallel",
    "torch.nn.parallel.data_parallel(m, x)": "parallel",
    "torch.nn.parallel.DistributedDataParallel(m)": "ddp",
    "torch.nn.SyncBatchNorm.convert_sync_batchnorm(m)": "sync_bn",
    "torch.utils.data.DistributedSampler(d)": "sampler",
    "dist.get_rank()": "rank",
    "sampler.set_epoch(1)": "epoch",
    "with_model.no_sync()": "no_sync",
    "torch.nn.Linear(1, 1)": "",
}


@pytest.mark.parametrize(("call", "what"), _NAMES.items())
def test_what(call: str, what: str) -> None:
    assert [f.get("what") for f in _found(call, "distribution")] == ([what] if what else [])


def test_a_class_derived_from_data_parallel() -> None:
    text = "class Mine(torch.nn.DataParallel):\n    pass\nMine(m)"
    assert [(f.name, f.get("what")) for f in _found(text, "distribution")] == [("torch.nn.DataParallel", "parallel")]


_DDP = "model = torch.nn.parallel.DistributedDataParallel(model)"
_DEVICES_OF_PROGRAM = {
    "always": (f"dist.init_process_group('hccl')\n{_DDP}", "yes"),
    "on demand": (f"if args.on:\n    dist.init_process_group('hccl')\n    {_DDP}", "unknown"),
    "one process": ("model = torch.nn.DataParallel(model)", "no"),
}


@pytest.mark.parametrize(("text", "many"), _DEVICES_OF_PROGRAM.values(), ids=_DEVICES_OF_PROGRAM.keys())
def test_programs_of_several_devices(text: str, many: str) -> None:
    found = programs({"train.py": f"{_HEAD}if __name__ == '__main__':\n    pass\n{text}\n"})
    assert [p.fact.get("multi_device") for p in found] == [many]


_NPU_BRANCHES = {
    "elif": ("if kind == 'cpu':\n    dist.init_process_group('gloo')\nelif kind == 'npu':\n    f()", "yes"),
    "after elif": ("if kind == 'npu':\n    f()\nelif kind == 'cpu':\n    dist.init_process_group('gloo')", "yes"),
    "else": ("if kind == 'npu':\n    f()\nelse:\n    dist.init_process_group('gloo')", "yes"),
    "other devices": ("if kind == 'cpu':\n    dist.init_process_group('gloo')\nelif kind == 'xpu':\n    f()", "no"),
    "no condition": ("dist.init_process_group('gloo')", "no"),
}


@pytest.mark.parametrize(("text", "answer"), _NPU_BRANCHES.values(), ids=_NPU_BRANCHES.keys())
def test_whether_a_backend_has_a_branch_for_the_npu_beside_it(text: str, answer: str) -> None:
    assert [f.get("npu_branch") for f in _found(text, "backend")] == [answer]

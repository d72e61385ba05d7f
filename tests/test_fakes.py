"""The fakes of the adapter and of torch_npu: they have the names of the real plugins, and refuse what these refuse."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from npulint.data.names import npu_members
from npulint.fakes.__main__ import main
from npulint.fakes.launch import RECORD, environment, read_record, run
from tests.test_fix_runs_programs import run_all, tensorflow1
from tests.tools import missing

_ON_PATH = Path(__file__).parent.parent / "npulint" / "fakes" / "on_path"
_SESSION = """
import tensorflow as tf
config = tf.ConfigProto()
npu = config.graph_options.rewrite_options.custom_optimizers.add()
npu.name = "NpuOptimizer"
npu.parameter_map{parameter}
from npu_bridge.npu_init import *
tf.Session(config=config)
"""
# What a program for TensorFlow does, and a part of what is raised; empty where it runs.
_REFUSED = {
    "all names": (
        "from npu_bridge.npu_init import *\nprint(npu_ops, util, npu_config_proto, NPUEstimator, profiler)",
        "",
    ),
    "unknown name": ("from npu_bridge.npu_init import NPUstimator", "cannot import name"),
    "unknown module": ("import npu_bridge.estimator.npu.npu_lstm", "No module named"),
    "what is not simulated": (
        "from npu_bridge.estimator import npu_aicore_ops as a\na.tabulatefusion(1)",
        "does not simulate",
    ),
    "legal option": (_SESSION.format(parameter='["precision_mode"].s = b"allow_mix_precision"'), ""),
    "unknown option": (_SESSION.format(parameter='["precison_mode"].s = b"force_fp16"'), "knows no option"),
    "wrong member": (_SESSION.format(parameter='["precision_mode"].b = True'), "is a text"),
    "wrong value": (_SESSION.format(parameter='["precision_mode"].s = b"fp16"'), "should be one of"),
    "unknown argument": (
        "from npu_bridge.npu_init import *\nNPURunConfig(precison_mode='fp16')",
        "unexpected argument",
    ),
    "wrong type": ("from npu_bridge.npu_init import *\nNPURunConfig(dump_config=True)", "must be provided with type"),
    "configuration of an estimator": (
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
        "NPUEstimator(lambda features: None, config=tf.estimator.RunConfig())",
        "`config` must be provided",
    ),
    "rank before the device": ("from npu_bridge.npu_init import *\nget_rank_id()", "no session has opened the NPU"),
    "rank": ("from npu_bridge.npu_init import *\ninit_resource()\nassert get_npu_rank_size() == 1", ""),
    "small loss scale": ("from npu_bridge.npu_init import *\nFixedLossScaleManager(0.5)", "at least 1"),
    "dropout of whole numbers": (
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\nnpu_ops.dropout(tf.constant([1]), 0.9)",
        "floating point",
    ),
    "loop of a tensor": (
        "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
        "util.set_iteration_per_loop(tf.Session(), tf.constant(1.0), 2)",
        "no 'Operation'",
    ),
}
_TORCH = {
    "no CUDA": ("import torch\nassert not torch.cuda.is_available()\ntorch.ones(1).cuda()", "CUDA"),
    "without the import": ("import torch\nassert torch.npu.is_available()\nassert torch.ones(1).npu().is_npu", ""),
    "unknown member": ("import torch\ntorch.npu.graph_capture_all", "has no attribute"),
    "unknown operator": ("import torch_npu\ntorch_npu.npu_flash", "has no attribute"),
    "operator that the fake lacks": ("import torch_npu\ntorch_npu.npu_grouped_matmul([], [])", "does not simulate"),
    "modules of contrib": (
        "import torch\nfrom torch_npu.contrib.module import DropoutWithByteMask, Mish\n"
        "from torch_npu.utils.profiler import Profile\nfrom torch_npu.profiler import _ExperimentalConfig, profile\n"
        "assert Mish()(DropoutWithByteMask(0.1)(torch.ones(2).npu())).is_npu",
        "",
    ),
    "unknown module of contrib": ("import torch_npu.contrib.modules", "No module named"),
    "two devices": ("import torch\nprint(torch.ones(2).npu() + torch.ones(2))", "mixed"),
    "second NPU": ("import torch\ntorch.npu.set_device(1)", "Invalid device ID 1"),
    "gradients set to None": (
        "import torch\nimport torch_npu\np = torch.nn.Linear(1, 1).npu().parameters()\n"
        "torch_npu.optim.NpuFusedSGD(p, lr=0.1).zero_grad(set_to_none=True)",
        "set_to_none is not supported",
    ),
    "argument of another optimizer": (
        "import torch\nimport torch_npu\np = torch.nn.Linear(1, 1).npu().parameters()\n"
        "torch_npu.optim.NpuFusedAdam(p, lr=0.1, fused=True)",
        "unexpected keyword argument 'fused'",
    ),
    "float64 over ranks": (
        "import torch\nimport torch.distributed as dist\nimport tempfile\n"
        "dist.init_process_group('hccl', init_method='file://' + tempfile.mktemp(), rank=0, world_size=1)\n"
        "dist.all_reduce(torch.ones(1, dtype=torch.float64).npu())",
        "float64",
    ),
    "optimizers of apex for CUDA": ("from apex.optimizers import FusedSGD\nFusedSGD([], lr=0.1)", "cuda extensions"),
    "optimizer before the move": (
        "import torch\nm = torch.nn.Linear(2, 1)\nw = m.weight\noptimizer = torch.optim.SGD(m.parameters(), lr=1.0)\n"
        "m.npu()(torch.ones(1, 2).npu()).sum().backward()\nbefore = w.detach().clone()\noptimizer.step()\n"
        "assert m.weight is w and w.is_npu and torch.allclose(before - 1, w)",
        "",
    ),
    "traced by torch.jit": (
        "import torch\nm = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Conv2d(2, 2, 1)).npu()\n"
        "x = torch.ones(1, 1, 4, 4).npu()\nassert '_convolution' in str(torch.jit.trace(m, x).inlined_graph)",
        "",
    ),
    "device around factories": (
        "import torch\nwith torch.device('meta'):\n    assert torch.tensor([1]).is_meta and torch.asarray([1]).is_meta",
        "",
    ),
    "sums of products in half precision": (
        "import torch\na = torch.arange(64 * 64).reshape(64, 64) % 7 + torch.tensor(0.1)\nb = a.half().npu()\n"
        "assert torch.equal((b @ b).cpu(), (a.half().float() @ a.half().float()).half())",
        "",
    ),
    "default type": ("import torch\ntorch.set_default_tensor_type(torch.npu.FloatTensor)", "invalid type"),
    "transfer": (
        "import torch\nfrom torch_npu.contrib import transfer_to_npu\nm = torch.nn.Linear(2, 2).cuda()\n"
        "x = torch.ones(2, 2, device='cuda:0')\nassert torch.cuda.is_available() and x.is_cuda\n"
        "with torch.autocast('cuda', dtype=torch.float16):\n    y = m(x.to(torch.device('cuda')))\n"
        "assert y.device.type == 'npu' and y.dtype is torch.float16",
        "",
    ),
}


@pytest.mark.slow
def test_the_fake_adapter_refuses_what_the_real_one_does(tmp_path: Path) -> None:
    programs = [{"files": {"train.py": text}} for text, _ in _REFUSED.values()]
    raised = run_all(programs, tmp_path, "tensorflow1", tensorflow1())
    found = dict(zip(_REFUSED, raised, strict=True))
    wrong = {name: text for name, text in found.items() if not _as_wanted(text, _REFUSED[name][1])}
    assert wrong == {}


@pytest.mark.slow
def test_the_fake_torch_npu_refuses_what_the_real_one_does(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        missing("torch")
    programs = [{"files": {"train.py": text}} for text, _ in _TORCH.values()]
    raised = run_all(programs, tmp_path, "torch", sys.executable)
    found = dict(zip(_TORCH, raised, strict=True))
    assert {name: text for name, text in found.items() if not _as_wanted(text, _TORCH[name][1])} == {}


def _as_wanted(raised: str, wanted: str) -> bool:
    return wanted in raised if wanted else not raised


@pytest.mark.slow
def test_the_fake_torch_npu_has_the_members_of_the_real_one(tmp_path: Path) -> None:
    if importlib.util.find_spec("torch") is None:
        missing("torch")
    text = "import json, torch\nprint(json.dumps([name for name in dir(torch.npu) if not name.startswith('_')]))"
    done = run("torch", [sys.executable, "-c", text], capture_output=True)
    assert npu_members() <= set(json.loads(done.stdout))


def test_the_environment_names_the_fakes_before_other_paths() -> None:
    found = environment("tensorflow1", "record.jsonl", {"PYTHONPATH": "/own", "RANK_ID": "3"})
    paths = found["PYTHONPATH"].split(":")
    assert paths == [str(_ON_PATH / "tensorflow1"), str(_ON_PATH / "shared"), "/own"]
    assert (found["RANK_ID"], found["RANK_SIZE"], found["CUDA_VISIBLE_DEVICES"]) == ("3", "1", "")
    assert Path(found[RECORD]).is_absolute()


def test_an_inherited_record_is_not_written_to() -> None:
    assert RECORD not in environment("torch", base={RECORD: "other.jsonl"})


def test_an_unknown_framework_is_refused() -> None:
    with pytest.raises(ValueError, match="jax"):
        environment("jax")  # type: ignore[arg-type]


def test_the_command_runs_a_script_with_its_arguments(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import sys\nimport npulint_record\nnpulint_record.add('runs', {'arguments': sys.argv[1:]})\nsys.exit(3)\n"
    )
    record = str(tmp_path / "record.jsonl")
    assert main(["--framework", "tensorflow1", "--record", record, str(script), "--lr", "0.1"]) == 3
    assert read_record(record) == [{"runs": [{"arguments": ["--lr", "0.1"]}]}]


def test_a_program_that_configures_nothing_leaves_no_record(tmp_path: Path) -> None:
    assert read_record(str(tmp_path / "record.jsonl")) == []

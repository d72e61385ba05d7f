"""Which fixes are safe: they ask whether the code also runs without an NPU, whether an error is caught, and what else a
setting or value is used for."""

from __future__ import annotations

from functools import cache

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.catalogue.page import render_page

Files = dict[str, str]

_STEP = """
model = torch.nn.Linear(2, 2).to(device)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = (model(x.to(device)) - y.to(device)).sum()
    loss.backward()
    optimizer.step()
"""
_NPU = "import torch\nimport torch_npu\ndevice = 'npu:0'\n"
_TRIED = "import torch\ntry:\n    import torch_npu\n    device = 'npu:0'\nexcept ImportError:\n    device = 'cuda:0'\n"
_CHOSEN = (
    "import argparse\nimport torch\nparser = argparse.ArgumentParser()\n"
    "parser.add_argument('--device', default='npu')\ndevice = parser.parse_args().device\n"
    "if device == 'npu':\n    import torch_npu\n"
)
_LOADING = "import torch\n\ndef load(model):\n    model.load_state_dict(torch.load('a.pt', map_location='cuda:0'))\n"
_ON_GPU = "import torch\nfrom util import load\nmodel = torch.nn.Linear(2, 2).cuda()\nload(model)\nprint(model(1))\n"
_FLAG = "torch.backends.cudnn.benchmark = True\n"
_GROUP = "torch.distributed.init_process_group('nccl')\n"
_TENSORFLOW = "import tensorflow as tf\nfrom npu_bridge.npu_init import *\n"
_CONFIG = "config = tf.ConfigProto()\nconfig.gpu_options.allow_growth = True\n"
_TRAINED = (
    "with tf.Session(config=npu_config_proto(config_proto=config)) as session:\n"
    "    session.run(tf.train.AdamOptimizer().minimize(net()))\n"
)
_SHARED = (
    "import tensorflow as tf\n\ndef make():\n    config = tf.ConfigProto()\n"
    "    config.gpu_options.allow_growth = True\n    return config\n"
)
_NORM = "y = torch_npu.npu_rms_norm(x, g, eps=1e-6)\n"
_FUSED = "torch_npu.optim.NpuFusedAdamW"


def torch(head: str, more: str = "") -> Files:
    return {"train.py": head + more + _STEP}


# Code, program: the fix is safe there.
SAFE: dict[str, tuple[str, Files]] = {
    "a name of CUDA in a program for the NPU": ("NPU2102", torch(_NPU, "torch.zeros(3).cuda()\n")),
    "a flag of cuDNN in a program for the NPU": ("NPU2403", torch(_NPU, _FLAG)),
    "a module that only programs for the NPU load": (
        "NPU2102",
        {"train.py": _NPU + "from util import load\n" + _STEP + "load(model)\n", "util.py": _LOADING},
    ),
    "a module that imports torch_npu": (
        "NPU2102",
        {
            "train.py": _NPU + "from util import load\n" + _STEP + "load(model)\n",
            "util.py": _LOADING.replace("torch\n", "torch\nimport torch_npu\n", 1),
            "eval_gpu.py": _ON_GPU,
        },
    ),
    "a module that only tests load as well": (
        "NPU2102",
        {
            "train.py": _NPU + "from util import load\n" + _STEP + "load(model)\n",
            "util.py": _LOADING,
            "tests/test_util.py": "from util import load\nload(None)\n",
        },
    ),
    "torch_npu is imported by a helper": (
        "NPU2403",
        {
            "train.py": "import torch\nimport start\ndevice = 'npu:0'\n" + _FLAG + _STEP,
            "start.py": "import torch_npu\n",
        },
    ),
    "nccl in a program for the NPU": ("NPU2180", torch(_NPU, _GROUP)),
    "a misspelt argument": ("NPU21L0", torch(_NPU, _NORM)),
    "an argument that a fused class refuses": (
        "NPU2117",
        torch(_NPU, f"optimizer = {_FUSED}(model.parameters(), foreach=True)\n"),
    ),
    "GPU options in a program for the NPU": ("NPU1415", {"train.py": _TENSORFLOW + _CONFIG + _TRAINED}),
}
# Code, program: the fix is unsafe there.
UNSAFE: dict[str, tuple[str, Files]] = {
    "a flag of cuDNN where the NPU is tried": ("NPU2403", torch(_TRIED, _FLAG)),
    "a flag of cuDNN where the device is an option": ("NPU2403", torch(_CHOSEN, _FLAG)),
    "nccl where the device is an option": ("NPU2180", torch(_CHOSEN, _GROUP)),
    "a module that a script for GPUs loads": (
        "NPU2102",
        {
            "train.py": _NPU + "from util import load\n" + _STEP + "load(model)\n",
            "util.py": _LOADING,
            "eval_gpu.py": _ON_GPU,
        },
    ),
    "GPU options that a script for GPUs gets": (
        "NPU1415",
        {
            "train.py": _TENSORFLOW + "from conf import make\nconfig = make()\n" + _TRAINED,
            "eval_gpu.py": "import tensorflow as tf\nfrom conf import make\n"
            "with tf.Session(config=make()) as session:\n    print(session.run(net()))\n",
            "conf.py": _SHARED,
        },
    ),
    "a misspelt argument whose error is caught": (
        "NPU21L0",
        torch(_NPU, "try:\n    " + _NORM + "except TypeError:\n    y = x\n"),
    ),
    "an argument of a class that may be another": (
        "NPU2117",
        torch(
            _NPU,
            f"cls = {_FUSED} if fused else torch.optim.AdamW\noptimizer = cls(model.parameters(), foreach=True)\n",
        ),
    ),
    "a misspelt option that the adapter ignores": (
        "NPU1106",
        {
            "train.py": _TENSORFLOW + "config = tf.ConfigProto()\n"
            "npu = config.graph_options.rewrite_options.custom_optimizers.add()\nnpu.name = 'NpuOptimizer'\n"
            "npu.parameter_map['precison_mode'].s = tf.compat.as_bytes('allow_mix_precision')\n" + _TRAINED
        },
    ),
}
# Code, program, reason: the fix is refused there.
REFUSED: dict[str, tuple[str, Files, str]] = {
    "a flag of cuDNN that is read": (
        "NPU2403",
        torch(_NPU, "from torch.backends import cudnn\n" + _FLAG + "print(cudnn.benchmark)\n"),
        "still-read",
    ),
    "GPU options that are read": (
        "NPU1415",
        {"train.py": _TENSORFLOW + _CONFIG + "size = 4 if config.gpu_options.allow_growth else 8\n" + _TRAINED},
        "still-read",
    ),
    "an argument whose computation does something": (
        "NPU2117",
        torch(_NPU, f"optimizer = {_FUSED}(model.parameters(), fused=settings.pop('fused'))\n"),
        "effects",
    ),
}


@cache
def _catalogue() -> Catalogue:
    return load_catalogue()


def changed(code: str, files: Files, unsafe: bool) -> list[str]:
    """The files that the fixes of a check change."""
    return [one.path for one in fix_texts(files, {}, _catalogue(), (code,), unsafe).files]


@pytest.mark.parametrize("name", SAFE)
def test_a_fix_is_safe_where_nothing_else_runs_the_code(name: str) -> None:
    assert changed(*SAFE[name], unsafe=False)


@pytest.mark.parametrize("name", UNSAFE)
def test_a_fix_is_unsafe_where_something_else_may(name: str) -> None:
    assert not changed(*UNSAFE[name], unsafe=False)
    assert changed(*UNSAFE[name], unsafe=True)


@pytest.mark.parametrize("name", REFUSED)
def test_a_fix_leaves_what_the_file_needs(name: str) -> None:
    code, files, reason = REFUSED[name]
    mended = fix_texts(files, {}, _catalogue(), (code,))
    assert not mended.files
    assert [one.reason for one in mended.refused] == [reason]


_SUMS = (
    _TENSORFLOW + "estimator = NPUEstimator(model_fn, config=NPURunConfig(precision_mode='allow_mix_precision'))\n"
    "loss = tf.reduce_sum(x)\ntf.train.AdamOptimizer().minimize(loss)\n"
)
_KERNELS = """Op Name,OP Type,Task Type,Task Duration(us),Block Dim,Input Shapes,Input Data Types
MatMul_1,MatMulV2,AI_CORE,3000,24,"256,256",DT_FLOAT16
Sum_1,ReduceSumD,AI_CORE,1500,{cores},"1,256,256,3",DT_FLOAT16
"""


@pytest.mark.parametrize("cores", ["1", "24", ""])
def test_sums_enter_the_blacklist_only_if_a_profile_shows_them_on_one_core(cores: str) -> None:
    profile = {"mindstudio_profiler_output/op_summary_1.csv": _KERNELS.format(cores=cores)} if cores else {}
    mended = fix_texts({"train.py": _SUMS, **profile}, {}, _catalogue(), ("NPU1313", "NPU5301"))
    assert [one.path for one in mended.files] == (["ops_info.json", "train.py"] if cores == "1" else [])


def test_the_page_of_a_check_says_why_its_fixes_are_safe() -> None:
    for check in _catalogue().checks:
        for lang, heading in (("en", "## Why the fix is safe"), ("zh", "## 修复为何安全")):
            page = render_page(check, lang)
            assert (heading in page) == (check.applicability == "safe")
            assert check.safe is None or check.safe.text[lang] in page

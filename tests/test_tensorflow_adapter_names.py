"""Names of npu_bridge and npu_device that no release of the adapter has."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.data.npu_symbols import is_recorded, meant, missing
from tests.support import facts, read_sources

_STAR = "from npu_bridge.npu_init import *\n"
_SPEC = ("npu_bridge.npu_init.NPUstimatorSpec", "npu_bridge.npu_init.NPUEstimatorSpec")


def _found(sources: str | dict[str, str]) -> list[tuple[str, str]]:
    named = {"train.py": sources} if isinstance(sources, str) else sources
    texts = {path: f"import tensorflow.compat.v1 as tf\n{text}" for path, text in named.items()}
    return [(fact.name, fact.get_text("nearest")) for fact in facts(texts, "adapter_name")]


_WRONG: dict[str, tuple[str | dict[str, str], tuple[str, str]]] = {
    "an import": ("from npu_bridge.npu_init import NPUstimatorSpec\nNPUstimatorSpec()\n", _SPEC),
    "an import with an alias": ("from npu_bridge.npu_init import NPUstimatorSpec as S\nS()\n", _SPEC),
    "a star import": (f"{_STAR}x = NPUstimatorSpec(mode, loss)\n", _SPEC),
    "a star import of an own module": (
        {"train.py": "from common import *\nx = NPUstimatorSpec(mode)\n", "common.py": _STAR},
        _SPEC,
    ),
    "a module with an alias": ("import npu_bridge.npu_init as n\nn.NPUstimatorSpec()\n", _SPEC),
    "in a class": (f"{_STAR}class M:\n    def f(self, mode):\n        return NPUstimatorSpec(mode)\n", _SPEC),
    "an argument": (
        f"{_STAR}train(optimizer=NPUOptimiser)\n",
        ("npu_bridge.npu_init.NPUOptimiser", "npu_bridge.npu_init.NPUOptimizer"),
    ),
    "another case": (
        "from npu_bridge.npu_init import NpuOptimiser\n",
        ("npu_bridge.npu_init.NpuOptimiser", "npu_bridge.npu_init.NPUOptimizer"),
    ),
    "another module": (
        "from npu_bridge.estimator.npu.npu_config import NPUEstimator\n",
        ("npu_bridge.estimator.npu.npu_config.NPUEstimator", "npu_bridge.npu_init.NPUEstimator"),
    ),
    "a module of another package": (
        "from npu_bridge.estimator.npu_optimizer import NPUDistributedOptimizer\n",
        ("npu_bridge.estimator.npu_optimizer", "npu_bridge.estimator.npu.npu_optimizer"),
    ),
    "a misspelt module": (
        "import npu_bridge.estimator.npu.npu_optimiser\n",
        ("npu_bridge.estimator.npu.npu_optimiser", "npu_bridge.estimator.npu.npu_optimizer"),
    ),
    "an operator": (
        "from npu_bridge.estimator import npu_ops\nnpu_ops.dropot(x)\n",
        ("npu_bridge.npu_init.npu_ops.dropot", "npu_bridge.npu_init.npu_ops.dropout"),
    ),
    "a misspelt root": (
        f"{_STAR}npu_opss.dropout(x)\n",
        ("npu_bridge.npu_init.npu_opss", "npu_bridge.npu_init.npu_ops"),
    ),
    "npu_device": ("import npu_device\nnpu_device.opn().as_default()\n", ("npu_device.opn", "npu_device.open")),
    "options of npu_device": (
        "import npu_device as npu\nnpu.global_option().precision_mode = 'x'\n",
        ("npu_device.global_option", "npu_device.global_options"),
    ),
    "the copy in npu_device": (
        "from npu_device.compat.v1.npu_init import NPUEstimaor\n",
        ("npu_device.compat.v1.npu_init.NPUEstimaor", "npu_device.compat.v1.npu_init.NPUEstimator"),
    ),
}


@pytest.mark.parametrize(("sources", "expected"), _WRONG.values(), ids=_WRONG.keys())
def test_wrong_name_is_found_once_with_what_is_meant(sources: str | dict[str, str], expected: tuple[str, str]) -> None:
    assert _found(sources) == [expected]


_RIGHT: dict[str, str | dict[str, str]] = {
    "names of a star import": f"{_STAR}npu_ops.dropout(x, 0.5)\nget_rank_size()\nNPUEstimatorSpec()\nutil.anything\n"
    "hccl_ops.allreduce(x)\nnpu_unary_ops.gelu(x)\nRewriterConfig.OFF\ntf.reduce_sum(x)\nos.getenv('x')\n",
    "members of objects": "from npu_bridge.estimator import npu_ops\nnpu_ops.gen_npu_ops.some_operator(x)\n",
    "operators by their module": "from npu_bridge.estimator.npu_aicore_ops import npu_aicore_ops\n"
    "npu_aicore_ops.some_operator(x)\n",
    "npu_device": "import npu_device as npu\nnpu.open().as_default()\nnpu.distribute.all_reduce(x)\n"
    "npu.train.optimizer.NpuLossScaleOptimizer(o)\nnpu.compat.enable_v1()\n",
    "the copy in npu_device": "from npu_device.compat.v1.npu_init import *\nfrom npu_device.compat.v1.estimator import "
    "npu_ops\nnpu_ops.dropout(x, 0.5)\nNPUEstimatorSpec()\n",
    "an import that is tried": "try:\n    from npu_bridge.npu_init import NPUstimatorSpec\nexcept ImportError:\n"
    "    NPUstimatorSpec = None\n",
    "an own function": f"{_STAR}def NPUstimatorSpec():\n    pass\nNPUstimatorSpec()\n",
    "another star import": f"{_STAR}from other import *\nNPUstimatorSpec()\n",
    "an attribute that the project sets": "import npu_bridge\nnpu_bridge.npu_clos = 1\nnpu_bridge.npu_clos()\n",
    "a question": "import npu_device\nif hasattr(npu_device, 'opn'):\n    npu_device.opn()\n",
    "an own package of this name": {
        "train.py": "from npu_bridge.npu_init import NPUstimatorSpec\n",
        "npu_bridge/__init__.py": "",
        "npu_bridge/npu_init.py": "NPUstimatorSpec = 1\n",
    },
}


@pytest.mark.parametrize("sources", _RIGHT.values(), ids=_RIGHT.keys())
def test_names_that_exist_or_may_exist_are_not_found(sources: str | dict[str, str]) -> None:
    assert _found(sources) == []


@pytest.mark.parametrize("text", ["from npu_bridge.npu_init import frobnicate\n", "import npu_bridge.quantum\n"])
def test_name_like_no_other_may_be_a_newer_one(text: str) -> None:
    assert [nearest for _, nearest in _found(text)] == ["-"]


def test_only_names_of_the_declared_release_are_suggested() -> None:
    module, member = "npu_bridge.npu_init", "TellMeStepOrLosHook"
    assert meant(module, member, "1.15", "") == f"{module}.TellMeStepOrLossHook"
    assert meant(module, member, "1.13", "") == ""


def test_release_that_is_not_recorded_needs_more_similar_names() -> None:
    assert is_recorded("1.15", "") and is_recorded("", "8.0.RC2") and not is_recorded("", "10.0")
    text = "from npu_bridge.estimator.npu.npu_config import NPUEstimator\n"
    files = read_sources({"train.py": f"import tensorflow as tf\n{text}"})
    for cann, nearest in (("9.0", "npu_bridge.npu_init.NPUEstimator"), ("10.0", "-")):
        (program,) = assemble("", files, cann=cann)
        (fact,) = program.index.of_kind("adapter_name")
        assert fact.get("nearest") == nearest


def test_only_names_of_the_adapter_can_be_missing() -> None:
    assert missing("tensorflow.nonsense") is None
    assert missing("npu_bridge._tf_adapter") is None
    assert missing("npu_bridge.npu_init.NPURunConfig.whatever") is None
    assert missing("npu_bridge.npu_init.whatever.more") == ("npu_bridge.npu_init", "whatever")

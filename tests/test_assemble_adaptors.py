"""Adaptors of a project: which packages run under one, and what it replaces."""

from __future__ import annotations

import pytest

from npulint.commands.build import assembled
from npulint.data.adaptor_patches import patches
from npulint.data.frameworks import adaptors
from npulint.model.running.adaptors import packages_under_adaptor, patched, stands_in_for, transferred
from npulint.model.running.npu_server import npu_server
from npulint.model.values.context import Context
from tests.support import read_sources

_APPLIES = "import torch\nfrom torch_npu.contrib import transfer_to_npu\n"
_PLAIN = "import torch\nimport torch_npu\n"


def _context(sources: dict[str, str]) -> Context:
    return assembled("/p", read_sources(sources), torch="2.7").context


@pytest.mark.parametrize(
    ("sources", "packages"),
    [
        pytest.param({"lib/__init__.py": _APPLIES}, ("lib/",), id="a package imports it"),
        pytest.param(
            {"lib/__init__.py": "from lib import adaptor\n", "lib/adaptor.py": _APPLIES},
            ("lib/",),
            id="through a module",
        ),
        pytest.param(
            {"lib/__init__.py": "import os\nif os.environ.get('X', 'y'):\n    import mindspeed.megatron_adaptor\n"},
            ("lib/",),
            id="under a condition",
        ),
        pytest.param(
            {"lib/__init__.py": "def apply():\n    import mindspeed.megatron_adaptor\n"}, (), id="in a function"
        ),
        pytest.param({"lib/__init__.py": "", "lib/adaptor.py": _APPLIES}, (), id="a module that programs may import"),
        pytest.param(
            {"mindspeed/__init__.py": "", "mindspeed/megatron_adaptor.py": _APPLIES, "mindspeed/core/__init__.py": ""},
            ("mindspeed/",),
            id="the package of an adaptor itself",
        ),
        pytest.param({"tests/__init__.py": _APPLIES}, (), id="tests"),
        pytest.param({"train.py": _APPLIES}, (), id="a script"),
    ],
)
def test_a_package_runs_under_the_adaptor_that_importing_it_applies(
    sources: dict[str, str], packages: tuple[str, ...]
) -> None:
    assert packages_under_adaptor(_context({"main.py": "import torch\n", **sources})) == packages


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (_APPLIES, True),
        ("import mindspeed.megatron_adaptor\n", True),
        ("from mindspeed import megatron_adaptor\n", True),
        ("from mindspeed.ops import npu_matmul_add\n", False),
        (_PLAIN, False),
        ("# from torch_npu.contrib import transfer_to_npu\nimport torch\n", False),
    ],
)
def test_a_project_is_transferred_by_an_import_of_an_adaptor(source: str, found: bool) -> None:
    assert transferred(_context({"a.py": source})) is found


def test_what_an_adaptor_replaces_counts_where_it_is_applied() -> None:
    under = _context({"a.py": _APPLIES, "b.py": "from mindspeed.core import args\n"})
    assert patched(under, "apex.optimizers.FusedAdam") == "npu"
    assert patched(under, "torch.cuda.DoubleTensor") == "torch.npu.FloatTensor"
    assert patched(under, "apex.optimizers.FusedLAMB") is None
    assert stands_in_for(under, "transformer_engine")
    assert npu_server(under).importable("transformer_engine") is None
    plain = _context({"a.py": _APPLIES})
    assert patched(plain, "apex.optimizers.FusedAdam") is None
    assert npu_server(plain).importable("transformer_engine") is False
    ported = _context({"a.py": _PLAIN, "b.py": "from mindspeed.core import args\n"})
    assert patched(ported, "apex.optimizers.FusedAdam") is None
    assert not stands_in_for(ported, "transformer_engine")


def test_packages_of_patches_belong_to_recorded_adaptors() -> None:
    assert all(any(f"{one}.".startswith(f"{package}.") for one in adaptors()) for package in patches())


@pytest.mark.parametrize(
    ("source", "transfer"),
    [
        ("import torch\nx = torch.zeros(3)  # also on the npu\n", None),
        ('"""Trains on the NPU, too."""\nimport torch\n', None),
        ("import torch\nparser.add_argument('--x', help='name of the NPU to use')\n", None),
        ("import torch\nurl = 'https://hub/NPU-ASLP/model'\n", None),
        ("import torch\ndevice = 'npu:0'\n", False),
        ("import torch\nbackend = 'cpu:gloo,npu:hccl'\n", False),
        ("from transformers.utils import is_torch_npu_available\n", False),
        ("import torch_npu\n", False),
        ("import torch\nx = torch.zeros(3).npu()\n", False),
    ],
)
def test_only_code_names_the_npu(source: str, transfer: bool | None) -> None:
    assert npu_server(_context({"a.py": source})).transferred is transfer

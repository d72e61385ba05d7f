"""Libraries, extensions and operators that are bound to CUDA, or to an old torch_npu."""

from __future__ import annotations

import pytest

from npulint.data.libraries import library, retired_op
from tests.support import facts, lines


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import flash_attn", [("flash_attn", "top")]),
        ("from flash_attn.flash_attn_interface import flash_attn_func", [("flash_attn", "top")]),
        ("import xformers.ops as xops", [("xformers", "top")]),
        ("from numba import cuda", [("numba.cuda", "top")]),
        ("import numba", []),
        ("from nvidia.dali import fn", [("nvidia.dali", "top")]),
        ("import nvidia_thing", []),
        ("from apex.contrib.multihead_attn import SelfMultiheadAttn", [("apex.contrib", "top")]),
        ("from apex.contrib.combine_tensors import combine_npu", [("apex.contrib.combine_tensors", "top")]),
        ("from apex import amp", []),
        ("try:\n    import cupy\nexcept ImportError:\n    cupy = None", [("cupy", "try")]),
        ("try:\n    import cupy\nexcept ImportError:\n    raise ImportError('no cupy')", [("cupy", "top")]),
        ("def stop():\n    exit(1)\ntry:\n    import cupy\nexcept ImportError:\n    stop()", [("cupy", "top")]),
        (
            "def f(needed):\n    try:\n        import cupy\n    except ImportError:\n        if not needed:\n"
            "            return None\n        raise",
            [("cupy", "try")],
        ),
        ("def f():\n    import cupy\n    return cupy.zeros(3)", [("cupy", "function")]),
        ("import os\nif os.getenv('GPU'):\n    import cupy", [("cupy", "condition")]),
        ("if __name__ == '__main__':\n    import cupy", [("cupy", "top")]),
        ("from . import cupy", []),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_import_is_known_by_its_longest_recorded_name_and_its_place(source: str, expected: list[object]) -> None:
    found = facts(f"import torch\n{source}\n", "library")
    assert [(fact.name, fact.get("placed")) for fact in found] == expected


@pytest.mark.parametrize(
    "stub", ["cupy.py", "cupy/__init__.py", "vendor/cupy.py"], ids=["a file", "a package", "a file elsewhere"]
)
def test_a_module_of_the_project_is_no_library(stub: str) -> None:
    assert facts({"train.py": "import torch\nimport cupy\n", stub: "x = 1\n"}, "library") == []


@pytest.mark.parametrize(
    ("source", "used"),
    [
        ("import pynvml\npynvml.nvmlInit()", "yes"),
        ("from pynvml import nvmlInit\nnvmlInit()", "yes"),
        ("from GPUtil import getGPUs as gpus\nx = gpus", "yes"),
        ("from spconv.pytorch import SparseModule\nclass Net(SparseModule):\n    pass", "yes"),
        ("import pynvml", "no"),
        ("import pynvml\npynvml_ready = False\nprint(pynvml_ready)", "no"),
        ("from pynvml import *", "unknown"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_whether_a_library_is_used(source: str, used: str) -> None:
    assert [fact.get("used") for fact in facts(f"import torch\n{source}\n", "library")] == [used]


def test_projects_without_pytorch_are_not_asked() -> None:
    assert facts("import cupy\nimport tensorflow as tf\n", "library") == []


@pytest.mark.parametrize(
    ("source", "what", "cuda"),
    [
        ("E.CUDAExtension('a', ['a.cpp', 'a.cu'])", "build", "yes"),
        ("E.load(name='a', sources=['a.cpp', 'a.cu'])", "load", "yes"),
        ("import os\nE.load(name='a', sources=[os.path.join('src', 'a.cu')])", "load", "yes"),
        ("here = 'src/'\nE.load('a', [here + 'a.cu'])", "load", "yes"),
        ("E.load(name='a', sources=['a.cpp'])", "load", "no"),
        ("E.load(name='a', sources=['a.cpp'], with_cuda=True)", "load", "yes"),
        ("import glob\nE.load(name='a', sources=glob.glob('*'))", "load", "unknown"),
        ("E.load_inline('a', cpp, cuda_sources=kernel)", "inline", "yes"),
        ("E.load_inline('a', cpp_sources=cpp)", "inline", "no"),
        ("E.CppExtension('a', ['a.cpp'])", "", ""),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_an_extension_compiles(source: str, what: str, cuda: str) -> None:
    found = facts(f"import torch\nfrom torch.utils import cpp_extension as E\n{source}\n", "cuda_extension")
    assert [(fact.get("what"), fact.get("cuda")) for fact in found] == ([(what, cuda)] if what else [])


def test_a_builder_that_is_handed_on_counts_where_it_is_named() -> None:
    source = """
        import torch
        from torch.utils.cpp_extension import CppExtension, CUDAExtension

        def make(name):
            extension = CppExtension
            if torch.cuda.is_available():
                extension = CUDAExtension
            return extension(name)
    """
    found = facts({"setup.py": source}, "cuda_extension")
    assert (8, "cuda") in [(fact.span.line, fact.get("behind")) for fact in found]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"ops/__init__.py": "", "ops/a.py": "import torch\nfrom . import roi_cuda\n"}, [2]),
        ({"ops/__init__.py": "", "ops/a.py": "import torch\nfrom .roi_ext import forward\n"}, [2]),
        ({"ops/a.py": "import torch\nimport roi_cuda\n"}, [2]),
        ({"ops/a.py": "import torch\nimport roi_cuda\n", "roi_cuda.py": ""}, []),
        ({"ops/__init__.py": "def use_cuda(): pass\n", "ops/a.py": "import torch\nfrom . import use_cuda\n"}, []),
        ({"ops/a.py": "import torch\nfrom torch.version import cuda\n"}, []),
        (
            {
                "setup.py": "from torch.utils.cpp_extension import CUDAExtension as E\nE('pkg.fast', ['a.cu'])\n",
                "a.py": "import torch\nfrom pkg import fast\n",
            },
            [2, 2],
        ),
    ],
    ids=["relative", "relative member", "by its name", "own module", "own function", "a member of torch", "as built"],
)
def test_imports_of_what_only_a_cuda_compiler_makes(files: dict[str, str], expected: list[int]) -> None:
    assert lines(files, "cuda_extension") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import triton\n@triton.jit\ndef f(x):\n    pass", ["f"]),
        ("from triton import jit, autotune\n@autotune(configs=[], key=[])\n@jit\ndef f(x):\n    pass", ["f"]),
        ("import triton as tr\n@tr.heuristics({})\n@tr.jit\ndef f(x):\n    pass", ["f"]),
        ("@torch.jit.script\ndef f(x):\n    pass", []),
        ("import triton\ndef f(x):\n    pass", []),
    ],
    ids=lambda value: str(value)[:40],
)
def test_functions_that_triton_compiles(source: str, expected: list[str]) -> None:
    assert [fact.name for fact in facts(f"import torch\n{source}\n", "triton_kernel")] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("torch_npu.npu_silu(x)", [("planned", "torch.nn.functional.silu")]),
        ("torch.npu_one_hot(x)", [("unmaintained", "")]),
        ("torch.ops.npu.npu_giou(x)", [("unmaintained", "")]),
        ("torch_npu.contrib.module.Mish()", [("planned", "torch.nn.Mish")]),
        ("torch_npu.npu_fusion_attention(x)", []),
        ("npu_giou(x)", []),
        ("torch.nn.Mish()", []),
    ],
    ids=lambda value: str(value)[:40],
)
def test_operators_that_go_away(source: str, expected: list[tuple[str, str]]) -> None:
    found = facts(f"import torch\nimport torch_npu\n{source}\n", "retired_op")
    assert [(fact.get("status"), fact.get("substitute")) for fact in found] == expected


def test_the_tables_answer_for_prefixes_only_at_dots() -> None:
    assert library("cupy.cuda.nccl") is not None
    assert library("cupyfoo") is None
    assert library("") is None
    assert retired_op("npu_linear") is None


def test_an_extension_that_may_be_built_without_cuda_is_reported_where_cuda_is_chosen() -> None:
    setup = (
        "import torch\nfrom torch.utils.cpp_extension import CUDA_HOME, CppExtension, CUDAExtension\n"
        "extension = CppExtension\nif CUDA_HOME is not None:\n    extension = CUDAExtension\n"
        "modules = [extension('net._C', sources)]\n"
    )
    use = "import torch\nfrom net import _C\n"
    found = facts({"setup.py": setup, "net/__init__.py": "", "net/layers.py": use}, "cuda_extension")
    assert [(f.path, f.span.line, f.get("placed")) for f in found] == [("setup.py", 5, "condition")]

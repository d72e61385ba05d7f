"""Interfaces that the NPU lacks, by spelling and release; the release that a project pins; double precision."""

from __future__ import annotations

from textwrap import dedent

import pytest

from npulint.commands.build import assemble
from npulint.data.torch_api import find
from npulint.facts.model import Fact, FileFacts
from npulint.model.programs.torch_release import torch_release
from npulint.read.dependency import read_dependency
from npulint.read.python import read_python
from npulint.recognizers.programs import Program


def _files(source: str, **others: str) -> list[FileFacts]:
    code, problems = read_python(dedent(source), "train.py")
    assert not problems
    named = {name.replace("_txt", ".txt"): text for name, text in others.items()}
    given = [FileFacts(name, "dependency", facts=read_dependency(dedent(text), name)) for name, text in named.items()]
    return [FileFacts("train.py", "python", code), *given]


def _programs(source: str, torch: str = "", **others: str) -> list[Program]:
    return assemble("", _files(source, **others), "", torch)


def _facts(source: str, kind: str, torch: str = "") -> list[Fact]:
    found = {id(f): f for program in _programs(source, torch) for f in program.index.of_kind(kind)}
    return sorted(found.values(), key=lambda f: f.span)


# What a call is taken for: its name, whether the documentation supports it and what computes it.
_CALLS = [
    ("torch.lgamma(x)", "", "torch.lgamma unknown cpu"),
    ("torch.special.gammaln(x)", "2.8.0", "torch.special.gammaln unknown cpu"),
    ("from torch import lgamma as g; g(x)", "", "torch.lgamma unknown cpu"),
    ("g = torch.poisson; g(x)", "", "torch.poisson no cpu"),
    ("getattr(torch, 'poisson')(x)", "", "torch.poisson no cpu"),
    ("torch.slogdet(x)", "", "torch.slogdet unknown no_gradient"),
    ("x.slogdet()", "2.7.1", "torch.Tensor.slogdet unknown no_gradient"),
    ("torch.nn.Parameter(x).logdet()", "", "torch.Tensor.logdet unknown cpu"),
    ("torch.randn(3).abs().lgamma()", "", "torch.Tensor.lgamma unknown cpu"),
    ("torch.max(x, 1)[0].mode()", "", "torch.Tensor.mode no cpu"),
    ("x.lgamma_()", "", "torch.Tensor.lgamma_ unknown cpu"),
    ("x.float().unique_consecutive()", "2.1.0", "torch.Tensor.unique_consecutive no npu"),
    ("x.float().unique_consecutive()", "2.7.1", "torch.Tensor.unique_consecutive partial npu"),
    ("x.float().unique_consecutive()", "", "torch.Tensor.unique_consecutive partial npu"),
    ("torch.nn.MaxPool2d(2)", "2.1.0", "torch.nn.MaxPool2d no npu"),
    ("torch.nn.MaxPool2d(2)", "2.4.0", "torch.nn.MaxPool2d no npu"),
    ("torch.nn.MaxPool2d(2)", "2.6", "torch.nn.MaxPool2d no npu"),
    ("torch.nn.MaxPool2d(2)", "2.8.0", "torch.nn.MaxPool2d partial npu"),
    ("torch.nn.MaxPool2d(2)", "2.20.0", "torch.nn.MaxPool2d partial npu"),
    ("torch.nn.MaxPool2d(2)", "1.8.1", "torch.nn.MaxPool2d partial npu"),
    ("torch.nn.modules.pooling.MaxPool3d(2)", "", "torch.nn.MaxPool3d no npu"),
    ("torch.nn.Transformer()", "2.8.0", "torch.nn.Transformer no npu"),
    ("torch.nn.Transformer()", "", "torch.nn.Transformer partial npu"),
    ("torch.linalg.cholesky(x)", "2.6.0", "torch.linalg.cholesky unknown cpu"),
    ("torch.linalg.cholesky(x)", "2.7.1", "torch.linalg.cholesky partial npu"),
    ("torch.linalg.cholesky(x)", "", "torch.linalg.cholesky partial unknown"),
    ("x.scatter_reduce(0, i, s, reduce='sum')", "2.8.0", "torch.Tensor.scatter_reduce no cpu"),
    ("x.scatter_reduce(0, i, s, reduce='sum')", "2.13.0", "torch.Tensor.scatter_reduce no npu"),
    ("x.scatter_(0, i, s, reduce='add')", "", "torch.Tensor.scatter_ partial cpu"),
    ("torch.scatter(x, 0, i, s, reduce='add')", "", "torch.scatter partial cpu"),
    ("torch.nn.functional.embedding_bag(x, w, o)", "", "torch.nn.functional.embedding_bag no backward_cpu"),
    ("torch.distributions.gamma.Gamma(a, b)", "", "torch.distributions.Gamma unknown cpu"),
    ("torch.distributions.Gamma(a, b)", "", "torch.distributions.Gamma unknown cpu"),
    ("torch.sparse_csr_tensor(a, b, c)", "2.8.0", "torch.sparse_csr_tensor no none"),
    ("torch.sparse.mm(a, x)", "2.8.0", "torch.sparse.mm unknown none"),
    ("torch.sparse.FloatTensor(i, s, (2, 2))", "2.8.0", "torch.sparse.FloatTensor unknown npu"),
    ("torch._VF.gru(x, a, w, True, 1, 0.0, True, False, True)", "2.8.0", "torch._VF.gru no npu"),
    ("torch.nn.Linear(3, 3).share_memory()", "", "torch.nn.Module.share_memory no host"),
]


@pytest.mark.parametrize(("call", "release", "expected"), _CALLS, ids=[f"{c} on {r or 'any'}" for c, r, _ in _CALLS])
def test_a_call_is_known_by_any_spelling_and_judged_by_the_release(call: str, release: str, expected: str) -> None:
    source = f"import torch\n\ndef run(x, i, s, w, o, a, b, c):\n    {call}\n"
    found = _facts(source, "torch_api", release)
    assert [f"{f.name} {f.get('support')} {f.get('kernel')}" for f in found] == [expected]


@pytest.mark.parametrize(
    "call",
    [
        "np.hypot(x, x)",
        "np.linalg.inv(x)",
        "math.lgamma(x)",
        "x.mode()",
        "x.histogram()",
        "df.mode()",
        "pd.Series(x).sparse.to_dense()",
        "Own().lgamma()",
        "x.scatter(0, i, s)",
        "torch.scatter(x, 0, i, s)",
        "plt.scatter(x, x)",
        "torch.slogdet(x.detach())",
        "x.detach().slogdet()",
        "torch.inverse(x)",
        "torch.optim.Adam(x).step()",
        "lgamma(x)",
        "'torch.lgamma(x)'",
        "torch.load(x).mode()",
        "Own.RNN(1)",
    ],
)
def test_what_is_no_tensor_or_has_a_kernel_is_not_taken_for_one(call: str) -> None:
    source = f"""
        import math
        import numpy as np
        import pandas as pd
        import matplotlib.pyplot as plt
        import torch

        def lgamma(x):
            return x

        class Own:
            class RNN:
                pass

            def lgamma(self):
                return 1

        def run(x, i, s):
            df = pd.DataFrame(x)
            {call}
        """
    assert [f.name for f in _facts(source, "torch_api")] == []


def test_a_base_class_and_a_mention_are_found_once_each() -> None:
    source = """
        import torch
        from torch import nn

        LOSSES = {"huber": nn.HuberLoss, "mse": nn.MSELoss}

        class Cell(nn.RNNCell):
            pass
        """
    found = [(f.name, f.get("what"), f.span.line) for f in _facts(source, "torch_api")]
    assert found == [("torch.nn.HuberLoss", "mention", 5), ("torch.nn.RNNCell", "base", 7)]


def test_a_fact_says_which_releases_refuse_it_which_adds_it_and_what_to_write() -> None:
    source = "import torch\n\npool = torch.nn.MaxPool2d(2)\ninverse = torch.linalg.inv(torch.eye(3))\n"
    pool, inverse = _facts(source, "torch_api")
    assert (pool.get("versions_no"), pool.get("added"), pool.get("instead")) == ("2.1-2.6", "2.7", "")
    assert (inverse.get("versions_no"), inverse.get("added"), inverse.get("ops")) == ("-", "", "linalg_inv_ex")
    assert inverse.get("instead") == "torch.inverse(a)"


@pytest.mark.parametrize(
    ("call", "along"),
    [
        ("torch.gather(x, 1, i.unsqueeze(-1).repeat(1, 1, 8))", "repeated"),
        ("x.gather(1, i.expand(-1, 8))", "repeated"),
        ("j = i[..., None].expand_as(x); x.gather(dim=1, index=j)", "repeated"),
        ("torch.gather(x, 1, i)", "other"),
        ("x.gather(1, i.unsqueeze(1))", "other"),
    ],
)
def test_a_gather_says_whether_its_index_is_one_column_repeated(call: str, along: str) -> None:
    source = f"import torch\n\ndef pick(x, i):\n    return 0\n    {call}\n"
    assert [f.get("along") for f in _facts(source, "torch_api")] == [along]


def test_a_gather_of_a_process_group_is_none() -> None:
    source = "import torch.distributed as dist\n\ndef run(x, comm):\n    dist.gather(x)\n    comm.gather(x)\n"
    assert _facts(source, "torch_api") == []


_PINS = [
    ("import torch", "torch==2.1.0", "2.1.0"),
    ("import torch", "torch==2.6.0+cpu\ntorch_npu==2.6.0.post3", "2.6.0"),
    ("import torch", "torch~=2.8.0", "2.8.0"),
    ("import torch", "torch==1.6.0", ""),
    ("import torch, torch_npu", "torch==1.8.1", "1.8.1"),
    ("import torch", "torch==2.0.1\ntorch-npu==2.1.0.post12", "2.1.0"),
    ("import torch", "torch>=2.1", ""),
    ("import torch", "torch>=2.1,<2.2", ""),
    ("import torch", "torch==2.1.0\ntorch==2.4.0", ""),
    ("import torch", "torchvision==0.16.0", ""),
]


@pytest.mark.parametrize(("source", "requirements", "release"), _PINS, ids=[p[1].replace("\n", " ") for p in _PINS])
def test_the_release_is_what_the_project_pins(source: str, requirements: str, release: str) -> None:
    files = _files(source, requirements_txt=requirements)
    assert torch_release(files) == release
    assert {program.fact.get("torch") for program in assemble("", files)} == {release}


def test_a_declared_release_comes_before_the_pinned_one() -> None:
    programs = _programs("import torch", "2.8.0", requirements_txt="torch==2.1.0")
    assert [program.fact.get("torch") for program in programs] == ["2.8.0"]


def test_a_wheel_file_names_the_release_too() -> None:
    wheel = "torch_npu-2.1.0.post3-cp38-cp38-manylinux_2_17_aarch64.whl"
    assert torch_release(_files("import torch", requirements_txt=wheel)) == "2.1.0"


_DOUBLES = [
    ("t = torch.tensor([1], dtype=torch.float64, device='npu'); dist.all_reduce(t)", "torch.tensor other yes"),
    ("t = torch.zeros(2, dtype=torch.double).to(dev); dist.all_reduce(t)", "torch.zeros cpu yes"),
    ("dist.all_reduce(x.double())", "torch.Tensor.double unknown yes"),
    ("t = x.to(torch.float64); own.all_reduce(t)", "torch.Tensor.to unknown no"),
    ("torch.zeros(2, dtype=torch.float64, device='cpu')", "torch.zeros cpu no"),
    ("torch.zeros_like(x, dtype=torch.double)", "torch.zeros_like unknown no"),
    ("x.cpu().double()", "torch.Tensor.double cpu no"),
    ("torch.cuda.DoubleTensor(3)", "torch.cuda.DoubleTensor other no"),
]


@pytest.mark.parametrize(("code", "expected"), _DOUBLES, ids=[code for code, _ in _DOUBLES])
def test_double_precision_says_where_it_is_and_whether_it_is_reduced(code: str, expected: str) -> None:
    source = f"import torch\nimport torch.distributed as dist\n\ndef run(x, dev, own):\n    {code}\n"
    found = [f"{f.name} {f.get('device')} {f.get('reduced')}" for f in _facts(source, "float64")]
    assert found == [expected]


@pytest.mark.parametrize(
    "code",
    [
        "torch.zeros(2, dtype=torch.float32)",
        "x.to(dev)",
        "np.zeros(2, dtype=np.float64)",
        "np.asarray(x).astype('f8').double()",
        "x.double(2)",
        "Own().double()",
    ],
)
def test_other_precisions_and_other_libraries_are_no_double_tensors(code: str) -> None:
    source = f"""
        import numpy as np
        import torch

        class Own:
            def double(self):
                return 2

        def run(x, dev):
            {code}
        """
    assert _facts(source, "float64") == []


def test_nothing_is_known_of_a_name_of_another_library() -> None:
    assert find("numpy.linalg.inv") is None
    assert find("?x.step") is None
    assert find("lgamma") is None

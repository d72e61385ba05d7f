"""Notes: the expressions that only PyTorch checks ask about."""

from __future__ import annotations

from textwrap import dedent

import pytest

from npulint.facts.code import Op, Ref, TorchExpression
from npulint.read.python import read_python


def notes(text: str, kind: str, head: str = "import torch\n") -> list[TorchExpression]:
    """The notes of one kind of a source."""
    code, problems = read_python(head + dedent(text), "m.py")
    assert not problems
    return [note for note in code.torch_expressions if note.kind == kind]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x.device.type == 'cuda'", id="a device type"),
        pytest.param("'cuda' in str(device)", id="a text within another"),
        pytest.param("args.device in ('cpu', 'cuda')", id="one of several"),
        pytest.param("x.type() == torch.cuda.FloatTensor", id="a tensor type"),
        pytest.param("dist.get_backend() != 'nccl'", id="a backend"),
    ],
)
def test_comparisons_with_cuda_are_noted(text: str) -> None:
    assert len(notes(f"{text}\n", "compare")) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("x == 'cpu'", id="another device"),
        pytest.param("x == cuda", id="a variable"),
        pytest.param(
            "x == 'a long sentence that happens to speak of cuda and of much else besides, as prose does'", id="prose"
        ),
        pytest.param("'''x == 'cuda' '''", id="a docstring"),
    ],
)
def test_other_comparisons_are_not(text: str) -> None:
    assert notes(f"{text}\n", "compare") == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("y = x[x > 0]", id="a comparison"),
        pytest.param("y = x[~keep]", id="an inversion"),
        pytest.param("y = x[a & b]", id="two masks"),
        pytest.param("y = x[m.bool()]", id="a cast"),
        pytest.param("keep = x.gt(0)\ny = x[keep]", id="a name that is a mask"),
        pytest.param("def f(mask):\n    return x[mask]", id="a parameter called mask"),
    ],
)
def test_subscripts_with_masks_are_noted(text: str) -> None:
    assert len(notes(f"{text}\n", "mask")) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("y = x[i]", id="an index"),
        pytest.param("y = x[1:2]", id="a slice"),
        pytest.param("y = x[f(i)]", id="a call"),
        pytest.param("i = j + 1\ny = x[i]", id="a sum"),
        pytest.param("x[x > 0] = 1", id="a store, which is an assignment"),
    ],
)
def test_other_subscripts_are_not(text: str) -> None:
    assert notes(f"{text}\n", "mask") == []


def test_a_store_keeps_its_computed_key() -> None:
    code, _ = read_python("import torch\nx[x > 0] = 1\nx[3] = 1\nx[m].y = 1\n", "m.py")
    assert [isinstance(bind.key, Op) for bind in code.assignments] == [True, False, False]


def test_attributes_and_products_have_exact_places() -> None:
    text = "if a.b.is_cuda: c = d @ e\n"
    [attribute], [product] = notes(text, "attribute"), notes(text, "matmul")
    assert attribute.value == Ref("a.b.is_cuda")
    assert (attribute.line, attribute.column, attribute.end_column) == (2, 4, 15)
    assert (product.line, product.column, product.end_column) == (2, 21, 26)


def test_sources_that_do_not_mention_torch_have_no_notes() -> None:
    code, _ = read_python("import numpy\nif x.is_cuda == 'cuda': y = x[x > 0] @ x\n", "m.py")
    assert code.torch_expressions == []

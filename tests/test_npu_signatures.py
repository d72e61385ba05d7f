"""The parameters of torch_npu's operators, and how they are recorded."""

from __future__ import annotations

import pytest

from npulint.data.npu_signatures import signature
from scripts.record_npu_signatures import signatures


def test_a_signature() -> None:
    attention = signature("npu_fusion_attention_v2")
    assert attention is not None
    assert attention.positional == ("query", "key", "value", "head_num", "input_layout")
    assert attention.needed == frozenset(attention.positional)
    assert "pse" in attention.keywords
    assert signature("npu_of_tomorrow") is None


@pytest.mark.parametrize(
    ("operator", "keyword", "meant"),
    [
        ("npu_fusion_attention", "attn_mask", "atten_mask"),
        ("npu_fusion_attention", "pre_tokens", "pre_tockens"),
        ("npu_fusion_attention_v2", "pre_tockens", "pre_tokens"),
        ("npu_prompt_flash_attention", "scale", "scale_value"),
        ("npu_rms_norm", "epsilom", "epsilon"),
        ("npu_rms_norm", "a_parameter_of_tomorrow", ""),
    ],
)
def test_the_parameter_that_is_meant(operator: str, keyword: str, meant: str) -> None:
    found = signature(operator)
    assert found is not None
    assert not found.takes(keyword)
    assert found.meant(keyword) == meant


def test_the_first_parameter_has_two_names() -> None:
    norm = signature("npu_rms_norm")
    assert norm is not None
    assert norm.takes("self")
    assert norm.takes("input")


def test_overloads_are_joined() -> None:
    found = signatures(
        """
  - func: npu_f(Tensor x, int[] size=[1, 2], *, Tensor? bias=None) -> Tensor
  - func: npu_f.List(Tensor x, int n, *, int? kind=None) -> Tensor
  - func: npu_f.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)
  - func: npu_f_backward(Tensor grad) -> Tensor
"""
    )
    assert found == {
        "npu_f": {
            "x": (True, True),
            "size": (False, True),
            "n": (False, True),
            "bias": (False, False),
            "kind": (False, False),
        }
    }

"""Functions of torch.npu that no release has."""

from __future__ import annotations

import pytest

from tests.support import facts

_CALLS = {
    "two letters changed places": ("torch.npu.set_devcie(0)", ["torch.npu.set_devcie set_device"]),
    "the other spelling of the module": ("torch_npu.npu.set_iotion({})", ["torch.npu.set_iotion set_option"]),
    "imported from there": (
        "from torch_npu.npu import synchronise as wait\nwait()",
        ["torch.npu.synchronise synchronize"],
    ),
    "like nothing that is known": ("torch.npu.brand_new()", ["torch.npu.brand_new "]),
    "a function that exists": ("torch.npu.set_device(0)", []),
    "a function of a module that exists": ("torch.npu.amp.autocast()", []),
    "a method of what a function gives": ("torch.npu.current_stream().wait_stream(s)", []),
    "a private one": ("torch.npu._lazy_init()", []),
    "put there by the project": ("torch.npu.set_devcie = print\ntorch.npu.set_devcie(0)", []),
    "asked for before": ("if hasattr(torch.npu, 'set_devcie'):\n    torch.npu.set_devcie(0)", []),
    "CUDA's": ("torch.cuda.set_devcie(0)", []),
}


@pytest.mark.parametrize(("text", "found"), _CALLS.values(), ids=_CALLS.keys())
def test_a_member_that_no_release_has(text: str, found: list[str]) -> None:
    named = facts(f"import torch\nimport torch_npu\n{text}\n", "npu_member")
    assert [f"{fact.name} {fact.get('nearest')}" for fact in named] == found

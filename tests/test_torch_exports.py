"""Where the parameters of a model are when it is exported."""

from __future__ import annotations

import pytest

from tests.support import facts

_SHAPES = {
    "moved by its constructor": ("m = Net().npu()", "device"),
    "moved to a device": ("m = Net().to(device).eval()", "device"),
    "moved later": ("m = Net()\n    m.cuda()", "device"),
    "moved and taken back": ("m = Net().npu()\n    m = m.cpu()", "host"),
    "left where it was made": ("m = Net()\n    m.load_state_dict(state)", "host"),
    "kept on the host": ("m = Net().to('cpu')", "host"),
    "handed in": ("pass", "unknown"),
}


@pytest.mark.parametrize(("lines", "place"), _SHAPES.values(), ids=_SHAPES.keys())
@pytest.mark.parametrize("call", ["torch.onnx.export(m, x, 'm.onnx')", "torch.export.export(m, (x,))"])
def test_place_of_an_exported_model(lines: str, place: str, call: str) -> None:
    text = (
        f"import torch\nclass Net(torch.nn.Module):\n    pass\ndef save(x, device, m=None):\n    {lines}\n    {call}\n"
    )
    (fact,) = facts(text, "export")
    assert fact.get("model") == place

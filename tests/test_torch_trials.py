"""Code that no training runs: what modules do to try themselves, scripts to start, images of earlier stages, builds
by torch.utils.ffi, loaders that are only read."""

from __future__ import annotations

import pytest

from npulint.read.dockerfile import read_dockerfile
from tests.support import facts

_NET = """import torch
{head}
class Net(torch.nn.Module):
    def forward(self, x):
        return x

if __name__ == "__main__":
    {lines}
"""
_USER = "import torch\nfrom net import Net\nmodel = Net().cuda()\n"


@pytest.mark.parametrize(
    ("head", "lines", "user", "active"),
    [
        ("", "net = Net().cuda()", _USER, "no"),
        ("", "net = Net().cuda()", "import torch\n", "yes"),
        ("", "Net()(torch.randn(1, 3).cuda())", "import torch\n", "no"),
        ("import argparse", "net = Net().cuda()", _USER, "yes"),
        ("import sys", "net = Net(sys.argv[1]).cuda()", _USER, "yes"),
        ("import sys", "net = Net().cuda()", _USER, "no"),
        ("", "Net()(torch.ones(3).cuda()).sum().backward()", _USER, "no"),
        ("", "Net()(torch.ones(3).cuda()).sum().backward()\n    optimizer.step()", _USER, "yes"),
        ("", "main(Net().cuda())", _USER, "yes"),
    ],
    ids=[
        "others import the module",
        "nobody imports it",
        "nobody imports it, its class gets made-up tensors",
        "it reads a command line",
        "it reads sys.argv",
        "sys for its path only",
        "it computes gradients once",
        "it trains",
        "it has a main function",
    ],
)
def test_a_module_that_tries_itself(head: str, lines: str, user: str, active: str) -> None:
    found = facts({"net.py": _NET.format(head=head, lines=lines), "train.py": user}, "cuda")
    assert {f.get("active") for f in found if f.path == "net.py"} == {active}


@pytest.mark.parametrize(
    ("files", "script"),
    [
        ({"a.py": "import torch\ntorch.zeros(3).cuda()\n"}, "yes"),
        ({"a.py": "import torch\ntorch.zeros(3).cuda()\n", "b.py": "import a\n"}, "no"),
        (
            {
                "a.py": "import torch\nimport fire\nif __name__ == '__main__':\n    torch.zeros(3).cuda()\n",
                "b.py": "import a\n",
            },
            "yes",
        ),
    ],
    ids=["nobody imports it", "a part of another", "imported, but also started"],
)
def test_a_script_to_start(files: dict[str, str], script: str) -> None:
    assert [f.get("script") for f in facts(files, "cuda") if f.path == "a.py"] == [script]


@pytest.mark.parametrize(
    ("text", "images"),
    [
        ("FROM nvidia/cuda:11.0\n", ["nvidia/cuda:11.0"]),
        ("FROM nvidia/cuda:11.0 AS tools\nFROM ubuntu\nCOPY --from=tools /a /a\n", ["ubuntu"]),
        ("FROM nvidia/cuda:11.0 AS base\nFROM ubuntu AS docs\nFROM base\n", ["nvidia/cuda:11.0", "base"]),
    ],
    ids=["one stage", "something is copied out of a stage", "a stage on top of another"],
)
def test_images_that_count(text: str, images: list[str]) -> None:
    assert [f.name for f in read_dockerfile(text, "Dockerfile") if f.kind == "base_image"] == images


@pytest.mark.parametrize(
    ("arguments", "cuda"),
    [("with_cuda=True", "yes"), ("with_cuda=False", "no"), ("sources=['a.c']", "no"), ("with_cuda=flag", "unknown")],
    ids=["with CUDA", "without", "not said", "not known"],
)
def test_builds_by_ffi(arguments: str, cuda: str) -> None:
    text = f"import torch\nfrom torch.utils.ffi import create_extension\ncreate_extension('_ext', {arguments})\n"
    assert [(f.get("what"), f.get("cuda")) for f in facts({"build.py": text}, "cuda_extension")] == [("ffi", cuda)]


@pytest.mark.parametrize(
    ("body", "purpose"),
    [
        ("for x in loader:\n        total += x.mean()", "unknown"),
        ("for i, x in enumerate(loader):\n        total += x.mean()", "unknown"),
        ("for x in loader:\n        model(x).sum().backward()", "train"),
        ("return loader", "train"),
    ],
    ids=["read", "read and counted", "trained on", "handed on"],
)
def test_what_a_shuffling_loader_is_for(body: str, purpose: str) -> None:
    text = (
        f"import torch\ndef f(rows, model):\n    loader = torch.utils.data.DataLoader(rows, shuffle=True)\n    {body}\n"
    )
    assert [f.get("purpose") for f in facts(text, "loader")] == [purpose]


@pytest.mark.parametrize(
    ("train", "found"),
    [
        ("from net import Used\nmodel = Used()", []),
        ("from net import Other, Used\nmodel = [Used(), Other()]", ["masked_select"]),
        ("from net import Other\nCLASSES = {'a': Other}\nmodel = CLASSES[name]()", ["masked_select"]),
        ("import net\nfrom net import Used\nmodel = getattr(net, name)(Used())", ["masked_select"]),
    ],
    ids=["not used", "made", "in a table", "looked up by its name"],
)
def test_a_class_that_nobody_uses(train: str, found: list[str]) -> None:
    head = "class {0}(torch.nn.Module):\n    def __init__(self):\n        super({0}, self).__init__()\n"
    body = "    def forward(self, x, mask):\n        return {1}\n"
    used, other = (head + body).format("Used", "x"), (head + body).format("Other", "torch.masked_select(x, mask)")
    files = {
        "net.py": f"import torch\n{used}{other}",
        "train.py": f"import torch\n{train}\nfor x in loader:\n    loss = model(x, x)\n    loss.backward()\n",
    }
    assert [f.name for f in facts(files, "dynamic_shape")] == found


def test_a_local_variable_does_not_hand_on_a_function_of_its_name() -> None:
    net = "import torch\n\ndef forward(x):\n    return x\n\ndef test():\n    test = forward(torch.ones(3).cuda())\n"
    net += "    print(torch.abs(test))\n    show(test)\n\nif __name__ == '__main__':\n    test()\n"
    train = "import torch\nfrom net import forward\nforward(torch.ones(3)).sum().backward()\n"
    found = facts({"net.py": net, "train.py": train}, "cuda")
    assert [f.get("in_test") for f in found if f.path == "net.py"] == ["yes"]

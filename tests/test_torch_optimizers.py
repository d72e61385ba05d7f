"""Facts about PyTorch optimizers: their family, what they do not take, and who gets them."""

from __future__ import annotations

import pytest

from tests.support import facts

_HEAD = "import apex\nimport torch\nimport torch_npu\nfrom apex import amp\n"
_FAMILIES = {
    "stock": ("torch.optim.AdamW(p)", "stock", "NpuFusedAdamW"),
    "torch_npu": ("torch_npu.optim.NpuFusedAdam(p)", "npu", "NpuFusedAdam"),
    "apex for the NPU": ("apex.optimizers.NpuFusedLamb(p)", "apex_npu", "NpuFusedLamb"),
    "apex for CUDA": ("apex.optimizers.FusedAdam(p)", "apex_gpu", "NpuFusedAdamW"),
}


@pytest.mark.parametrize(("made", "family", "fused"), _FAMILIES.values(), ids=_FAMILIES.keys())
def test_family_of_a_constructor(made: str, family: str, fused: str) -> None:
    (fact,) = facts(f"{_HEAD}o = {made}\n", "optimizer")
    assert (fact.get("family"), fact.get("fused"), fact.get("spelling")) == (family, fused, "right")


def test_own_class_with_a_fused_counterpart_counts_when_it_is_an_optimizer() -> None:
    lamb = "import torch\nclass Lamb(torch.optim.Optimizer):\n    def step(self):\n        pass\no = Lamb(p)\n"
    assert [(f.get("family"), f.get("fused")) for f in facts(lamb, "optimizer")] == [("other", "NpuFusedLamb")]
    assert facts("import torch\nclass Lamb(Animal):\n    pass\no = Lamb(p)\n", "optimizer") == []


_EXTRA = {
    "keyword of a newer torch": ("torch_npu.optim.NpuFusedSGD(p, lr=0.1, foreach=False)", "foreach"),
    "keyword of another optimizer": ("apex.optimizers.NpuFusedAdamW(p, momentum=0.9)", "momentum"),
    "several": ("torch_npu.optim.NpuFusedAdam(p, fused=True, maximize=True)", "fused, maximize"),
    "none": ("torch_npu.optim.NpuFusedAdam(p, lr=0.1, amsgrad=True)", ""),
    "stock, and it means something": ("torch.optim.Adam(p, maximize=True)", "maximize"),
    "stock, and it can go": ("torch.optim.Adam(p, foreach=None, fused=False)", ""),
    "unknown ones": ("torch_npu.optim.NpuFusedAdam(p, **settings)", ""),
}


@pytest.mark.parametrize(("made", "extra"), _EXTRA.values(), ids=_EXTRA.keys())
def test_keywords_that_the_fused_class_does_not_take(made: str, extra: str) -> None:
    (fact,) = facts(f"{_HEAD}o = {made}\n", "optimizer")
    assert fact.get("extra") == extra


_SPELLINGS = {
    "letter too much": ("apex.optimizers.NpuFusedSGDM(p)", "NpuFusedSGD"),
    "small letters": ("torch_npu.optim.NpuFusedAdamw(p)", "NpuFusedAdamW"),
}


@pytest.mark.parametrize(("made", "nearest"), _SPELLINGS.values(), ids=_SPELLINGS.keys())
def test_class_that_does_not_exist(made: str, nearest: str) -> None:
    (fact,) = facts(f"{_HEAD}o = {made}\n", "optimizer")
    assert (fact.get("spelling"), fact.get("nearest")) == ("wrong", nearest)


_GIVEN = {
    "directly": "o = torch.optim.SGD(p)\nm, o = amp.initialize(m, o)\n",
    "in a list": "o = torch.optim.SGD(p)\n[m, n], [o, q] = amp.initialize([m, n], [o, q])\n",
    "by keyword": "o = torch.optim.SGD(p)\nm, o = amp.initialize(m, optimizers=o)\n",
    "through a function": "def make(p):\n    return torch.optim.SGD(p)\nm, o = amp.initialize(m, make(p))\n",
    "through a parameter": "def wrap(m, o):\n    return amp.initialize(m, o)\nwrap(m, torch.optim.SGD(p))\n",
    "on self": (
        "class T:\n    def __init__(self, m, p):\n        self.o = torch.optim.SGD(p)\n"
        "        self.m, self.o = amp.initialize(m, self.o)\n"
    ),
}


@pytest.mark.parametrize("text", _GIVEN.values(), ids=_GIVEN.keys())
def test_optimizer_that_amp_is_given(text: str) -> None:
    (fact,) = facts(_HEAD + text, "optimizer")
    assert fact.get("amp") == "yes"


_EXCLUSIVE = {
    "branches of one condition": "if apex_is_there():\n    o = {made}\nelse:\n    m, o = amp.initialize(m, o)\n",
    "a later branch": "if a:\n    o = {made}\nelif b:\n    m, o = amp.initialize(m, o)\n",
    "the same condition twice": (
        "if how == 'apex':\n    o = None\nelse:\n    o = {made}\nif how == 'apex':\n    m, o = amp.initialize(m, o)\n"
    ),
    "two values of one name": (
        "if how == 'native':\n    o = {made}\nif how == 'apex':\n    m, o = amp.initialize(m, o)\n"
    ),
}


@pytest.mark.parametrize("text", _EXCLUSIVE.values(), ids=_EXCLUSIVE.keys())
def test_optimizer_of_another_branch_than_that_of_amp(text: str) -> None:
    (fact,) = facts(_HEAD + text.format(made="torch_npu.optim.NpuFusedSGD(p)"), "optimizer")
    assert fact.get("amp") != "yes"


def test_conditions_that_do_not_contradict_each_other() -> None:
    made = "if how == 'apex':\n    o = torch_npu.optim.NpuFusedSGD(p)\n"
    text = f"{made}if fast == 'yes':\n    m, o = amp.initialize(m, o)\n"
    (fact,) = facts(_HEAD + text, "optimizer")
    assert fact.get("amp") == "yes"


def test_optimizer_with_which_a_module_tries_itself_is_none_of_the_program() -> None:
    tried = "if __name__ == '__main__':\n    o = torch.optim.SGD(p)\n    Schedule(o)\n"
    files = {
        "schedule.py": _HEAD + "class Schedule:\n    pass\n" + tried,
        "train.py": "import torch\nimport schedule\n",
    }
    assert facts(files, "optimizer") == []


def test_optimizer_beside_one_that_amp_is_given() -> None:
    text = f"{_HEAD}o = torch.optim.SGD(p)\nq = torch.optim.Adam(r)\nm, o = amp.initialize(m, o)\n"
    assert [(f.name, f.get("amp")) for f in facts(text, "optimizer")] == [
        ("torch.optim.SGD", "yes"),
        ("torch.optim.Adam", "no"),
    ]


def test_nothing_is_known_of_an_optimizer_when_amp_gets_an_unknown_one() -> None:
    text = f"{_HEAD}o = torch.optim.SGD(p)\nm, x = amp.initialize(m, registry.get())\n"
    assert [f.get("amp") for f in facts(text, "optimizer")] == ["unknown"]


def test_optimizer_that_a_scaler_steps() -> None:
    text = (
        f"{_HEAD}o = torch.optim.SGD(p)\nq = torch.optim.Adam(p)\nscaler = torch.npu.amp.GradScaler()\nscaler.step(o)\n"
    )
    assert [f.get("scaler") for f in facts(text, "optimizer")] == ["yes", "no"]


_REPLACED = {
    "other branch": (
        "if npu:\n    o = apex.optimizers.NpuFusedSGD(p)\nelse:\n    o = torch.optim.SGD(p)\n",
        "yes",
    ),
    "both are made": ("o = apex.optimizers.NpuFusedSGD(p)\nq = torch.optim.SGD(r)\n", "no"),
    "branch without a fused one": ("if big:\n    o = torch.optim.SGD(p)\n", "no"),
}


@pytest.mark.parametrize(("text", "replaced"), _REPLACED.values(), ids=_REPLACED.keys())
def test_alternative_to_a_fused_optimizer(text: str, replaced: str) -> None:
    (fact,) = facts(_HEAD + text, "optimizer", "torch.optim.SGD")
    assert fact.get("replaced") == replaced


_USES = {
    "variable": "o = torch_npu.optim.NpuFusedSGD(p)\no.zero_grad()\n",
    "what amp gives back": "m, o = amp.initialize(m, torch_npu.optim.NpuFusedSGD(p))\no.zero_grad()\n",
    "parameter": "def f(o):\n    o.zero_grad()\nf(torch_npu.optim.NpuFusedSGD(p))\n",
    "attribute": (
        "class T:\n    def __init__(self, p):\n        self.o = torch_npu.optim.NpuFusedSGD(p)\n"
        "    def f(self):\n        self.o.zero_grad()\n"
    ),
}


@pytest.mark.parametrize("text", _USES.values(), ids=_USES.keys())
def test_family_of_the_optimizer_that_a_method_is_called_on(text: str) -> None:
    (fact,) = facts(_HEAD + text, "optimizer_use", "zero_grad")
    assert fact.get("family") == "npu"


def test_family_is_mixed_or_unknown_when_it_depends() -> None:
    two = "o = torch_npu.optim.NpuFusedSGD(p)\nif plain:\n    o = torch.optim.SGD(p)\no.zero_grad()\n"
    assert [f.get("family") for f in facts(_HEAD + two, "optimizer_use")] == ["mixed"]
    unknown = "x = torch_npu.optim.NpuFusedSGD(p)\ndef f(o):\n    o.zero_grad()\n"
    assert [f.get("family") for f in facts(_HEAD + unknown, "optimizer_use")] == ["unknown"]


def test_gradients_cleared_through_the_model_are_told_from_those_cleared_through_the_optimizer() -> None:
    text = (
        f"{_HEAD}net = torch.nn.Linear(4, 2)\no = torch.optim.SGD(net.parameters())\nnet.zero_grad()\no.zero_grad()\n"
    )
    assert [f.get("model") for f in facts(text, "optimizer_use", "zero_grad")] == ["yes", "no"]


def test_step_of_a_scheduler_is_no_use_of_an_optimizer() -> None:
    assert facts(f"{_HEAD}scheduler.step()\nself.lr_scheduler.step()\nprof.step()\n", "optimizer_use") == []


def test_closure_is_known_by_what_is_passed() -> None:
    text = f"{_HEAD}def loss():\n    pass\no = torch.optim.LBFGS(p)\no.step(loss)\no.step(lambda: 0)\no.step()\n"
    assert [f.get("closure") for f in facts(text, "optimizer_use", "step")] == ["yes", "yes", "no"]


def test_a_closure_may_be_handed_in_but_what_a_scaler_or_a_simulation_steps_is_none() -> None:
    text = (
        f"{_HEAD}def train(o, closure, scaler, epoch):\n    o.step(closure)\n    scaler.step(o)\n    slow.step(epoch)\n"
    )
    assert [f.get("closure") for f in facts(text, "optimizer_use", "step")] == ["unknown", "no", "no"]


_CALLED = {
    "by its place": ("torch.optim.SGD(p, 0.1)\n", "dotted"),
    "by a module's other name": ("import torch.optim as o\no.Adam(p)\n", "dotted"),
    "by an import": ("from torch.optim import AdamW\nAdamW(p)\n", "imported"),
    "by an import's other name": ("from torch.optim import AdamW as Best\nBest(p)\n", "imported"),
    "by a variable": ("make = torch.optim.SGD\nmake(p, 0.1)\n", "indirect"),
    "by partial": ("from functools import partial\nmake = partial(torch.optim.SGD, lr=0.1)\n", "indirect"),
    "by functools.partial": ("import functools\nmake = functools.partial(torch.optim.SGD, lr=0.1)\n", "indirect"),
    "in a table": ("made = {'sgd': torch.optim.SGD}\n", "indirect"),
}


@pytest.mark.parametrize(("text", "how"), _CALLED.values(), ids=_CALLED.keys())
def test_how_an_optimizer_class_is_called(text: str, how: str) -> None:
    found = [f for f in facts(_HEAD + text, "optimizer") if f.get("family") == "stock"]
    assert {f.get("called") for f in found} == {how}


def test_gradients_that_are_assigned_are_a_use_of_their_optimizer() -> None:
    text = (
        f"{_HEAD}for p in net.parameters():\n    p.grad = None\n    p.grad.data = g\n    p.slope = g\nself.grad = 1\n"
    )
    assert [(f.name, f.span.line) for f in facts(text, "optimizer_use")] == [
        ("grad", _HEAD.count("\n") + 2),
        ("grad", _HEAD.count("\n") + 3),
    ]

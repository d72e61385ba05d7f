"""What runs in every training step of a PyTorch program, and how the program comes to the NPU."""

from __future__ import annotations

import pytest

from tests.support import facts, programs

LOOP = """
    import torch
    for epoch in range(3):
        before()
        for batch in loader:
            {line}
            loss.backward()
"""


def step(sources: dict[str, str] | str, name: str = "torch.zeros") -> str:
    """The step answer of the one call of `name`."""
    [fact] = facts(sources, "call", name)
    return str(fact.get("step"))


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("torch.zeros(1)", "yes"),
        ("if use_amp: torch.zeros(1)", "yes"),
        ("if i % 10 == 0: torch.zeros(1)", "gated"),
        ("if rank == 0: torch.zeros(1)", "gated"),
        ("if args.local_rank in (-1, 0): torch.zeros(1)", "gated"),
        ("for x in batch: torch.zeros(1)", "yes"),
    ],
)
def test_code_in_the_loop(line: str, answer: str) -> None:
    assert step(LOOP.format(line=line)) == answer


def test_condition_that_a_name_keeps_holds_in_some_steps_only() -> None:
    text = """
        import torch
        for i, batch in enumerate(loader):
            fresh = i == 0
            if fresh:
                torch.zeros(1)
            loss.backward()
    """
    assert step(text) == "gated"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param("import torch\ntorch.zeros(1)\nfor b in l:\n    x.backward()\n", "no", id="before the loop"),
        pytest.param(
            "import torch\nfor e in n:\n    torch.zeros(1)\n    for b in l:\n        x.backward()\n",
            "no",
            id="once per epoch",
        ),
        pytest.param(
            "import torch\ndef one(b):\n    torch.zeros(1)\n    loss(b).backward()\nfor b in l:\n    one(b)\n",
            "yes",
            id="a step in a function",
        ),
        pytest.param(
            "import torch\ndef help(b):\n    torch.zeros(1)\nfor b in l:\n    help(b)\n    x.backward()\n",
            "yes",
            id="a function that the loop calls",
        ),
        pytest.param(
            "import torch\ndef evaluate(b):\n    torch.zeros(1)\nfor b in l:\n    evaluate(b)\n    x.backward()\n",
            "no",
            id="an evaluation",
        ),
        pytest.param(
            "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n        torch.zeros(1)\n"
            "for b in l:\n    x.backward()\n",
            "yes",
            id="a forward",
        ),
        pytest.param(
            "import torch\nclass N(torch.nn.Module):\n    @torch.no_grad()\n    def forward(self, x):\n"
            "        torch.zeros(1)\nfor b in l:\n    x.backward()\n",
            "no",
            id="a forward without gradients",
        ),
        pytest.param(
            "import torch\nclass N(torch.nn.Module):\n    def forward(self, x):\n        torch.zeros(1)\n",
            "no",
            id="no training",
        ),
        pytest.param(
            "import torch\n@torch.no_grad()\ndef help():\n    torch.zeros(1)\n"
            "for b in l:\n    help()\n    x.backward()\n",
            "yes",
            id="a part without gradients",
        ),
        pytest.param(
            "import torch\nclass D(torch.utils.data.Dataset):\n    def __getitem__(self, i):\n        torch.zeros(1)\n",
            "host",
            id="a dataset",
        ),
        pytest.param(
            "import torch\ndef pad(b):\n    torch.zeros(1)\nl = torch.utils.data.DataLoader(d, collate_fn=pad)\n",
            "host",
            id="a collate function",
        ),
        pytest.param(
            "import torch, lightning\nclass N(lightning.LightningModule):\n"
            "    def training_step(self, b):\n        torch.zeros(1)\n",
            "yes",
            id="a Lightning step",
        ),
    ],
)
def test_code_elsewhere(text: str, answer: str) -> None:
    assert step(text) == answer


SCALER = """
    import torch
    class Scaler:
        def __call__(self, loss):
            loss.backward()
"""
CALLING = """
    import torch
    from scaling import Scaler
    scaler = Scaler()
    for b in l:
        torch.zeros(1)
        scaler(loss)
"""
ENGINE = """
    import torch
    def epoch(l, scaler):
        for b in l:
            torch.zeros(1)
            scaler(b)
"""
PASSING = """
    import torch
    from scaling import Scaler
    from engine import epoch
    scaler = Scaler()
    epoch(loader, scaler)
"""


def test_a_scaler_object_that_computes_the_gradients() -> None:
    assert step({"scaling.py": SCALER, "train.py": CALLING}) == "yes"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("import torch\nx.cuda()\n", "none"),
        ("import torch\nimport torch_npu\nfrom torch_npu.contrib import transfer_to_npu\nx.cuda()\n", "transfer"),
        ("import os\nos.environ['TORCH_TRANSFER_TO_NPU'] = '1'\nimport torch\n", "transfer"),
        ("import os\nos.environ['TORCH_TRANSFER_TO_NPU'] = '0'\nimport torch\n", "none"),
        ("import torch\nimport torch_npu\n", "manual"),
        ("import torch.npu\n", "manual"),
        ("import torch\nmodel.npu()\n", "manual"),
        ("import torch\nfrom accelerate import Accelerator\n", "agnostic"),
        ("import torch\nfrom mmcv.runner import build_runner\n", "agnostic"),
        ("import torch\nfrom mmcv import Config\n", "none"),
        ("import torch\nimport deepspeed_npu\n", "transfer"),
    ],
)
def test_the_way_to_the_npu(text: str, answer: str) -> None:
    assert programs({"train.py": text})[0].fact.migration == answer


@pytest.mark.parametrize(
    ("condition", "answer"),
    [
        ("if use_cuda:", "cuda"),
        ("if not use_cuda:", "none"),
        ("if args.gpu is not None:", "cuda"),
        ("if torch.npu.is_available():", "npu"),
        ("if ready:", "none"),
    ],
)
def test_the_device_that_a_condition_asks_for(condition: str, answer: str) -> None:
    [fact] = facts(f"import torch\n{condition}\n    torch.zeros(1)\n", "call", "torch.zeros")
    assert fact.get("behind") == answer


FORWARD = """
    import torch
    class Net(torch.nn.Module):
        def forward(self, x, targets=None):
            {line}
            return x
    def train(loader):
        for b in loader:
            Net()(b).backward()
    train(loader)
"""


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        ("torch.zeros(1)", "yes"),
        ("if self.training: torch.zeros(1)", "yes"),
        ("if not self.training: torch.zeros(1)", "no"),
        ("if targets is None: torch.zeros(1)", "no"),
        ("if self.phase == 'test': torch.zeros(1)", "no"),
        ("with torch.no_grad(): torch.zeros(1)", "yes"),
    ],
)
def test_branches_of_a_forward(line: str, answer: str) -> None:
    assert step(FORWARD.format(line=line)) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        pytest.param(
            "import torch\nfor b in loader:\n    torch.zeros(1)\n    for l in parts(b):\n        l.backward()\n",
            "yes",
            id="around a loop over losses",
        ),
        pytest.param(
            "import torch\nfor i, b in enumerate(loader):\n    if i == 10:\n        torch.zeros(1)\n    b.backward()\n",
            "gated",
            id="one step of many",
        ),
        pytest.param(
            "import torch\nfor b in loader:\n    if torch.isnan(b).any():\n        torch.zeros(1)\n    b.backward()\n",
            "gated",
            id="when something is wrong",
        ),
        pytest.param(
            "import torch\nclass H:\n    def loss(self, x):\n        torch.zeros(1)\n"
            "def train(loader, heads):\n    for b in loader:\n        heads.loss(b).backward()\n",
            "yes",
            id="a method of an unknown object",
        ),
        pytest.param(
            "import torch\ndef train(loader):\n    warm = lambda e: e + 1\n    torch.zeros(1)\n"
            "    for b in loader:\n        rate = warm(b)\n        b.backward()\n",
            "no",
            id="a lambda is not the function around it",
        ),
        pytest.param(
            "import torch\nclass TransformerEncoder(torch.nn.Module):\n"
            "    def forward(self, x):\n        torch.zeros(1)\nfor b in loader:\n    b.backward()\n",
            "yes",
            id="a transformer is no transform",
        ),
    ],
)
def test_what_a_step_comes_to(text: str, answer: str) -> None:
    assert step(text) == answer


def test_a_scaler_object_that_is_passed_on() -> None:
    assert step({"scaling.py": SCALER, "engine.py": ENGINE, "train.py": PASSING}) == "yes"


_GUIDED = """
    import torch

    def guide(net, x, optimizer):
        for _ in range(10):
            x = x.requires_grad_()
            loss = net(x).sum()
            loss.backward()
            {line}
"""


@pytest.mark.parametrize(
    ("line", "count"),
    [
        pytest.param("x = (x - 0.1 * x.grad).detach()", 0, id="guidance of a sampler"),
        pytest.param("x = scheduler.step(x, x.grad)", 0, id="a step of a sampler"),
        pytest.param("optimizer.step()", 1, id="an optimizer makes the step"),
        pytest.param("penalty(x.grad); optimizer.step()", 1, id="a penalty beside the step"),
        pytest.param("print(loss)", 1, id="nothing reads the gradient"),
    ],
)
def test_gradients_of_inputs_are_no_training(line: str, count: int) -> None:
    assert len(facts(_GUIDED.format(line=line), "train_step")) == count


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("Trainer(model).fit()", 1),
        ("Trainer.from_config(c).train()", 1),
        ("TrainerConfig(a=1).build(model, loader).fit()", 1),
        ("TrainerConfig(a=1).fit()", 0),
        ("Trainer(model).evaluate()", 0),
        ("Tokenizer().train(files, Trainer())", 0),
    ],
)
def test_the_trainer_of_any_library_trains(line: str, count: int) -> None:
    source = f"import torch\nfrom some.library import Tokenizer, Trainer, TrainerConfig\n{line}\n"
    assert len(facts(source, "train_step")) == count


def test_what_hydra_makes_trains_if_it_is_fitted() -> None:
    source = "import torch\nfrom hydra.utils import instantiate\ninstantiate(cfg.trainer).fit(model)\n"
    assert [fact.name for fact in facts(source, "train_step")] == ["fit"]


def test_an_own_trainer_trains_where_it_computes_gradients() -> None:
    source = "import torch\nclass Trainer:\n    def fit(self):\n        loss.backward()\nTrainer().fit()\n"
    assert [fact.name for fact in facts(source, "train_step")] == ["backward"]


@pytest.mark.parametrize(
    ("name", "made", "count"),
    [
        pytest.param("load_trainer", "", 1, id="not known"),
        pytest.param("load_trainer", "return Own()", 0, id="an object of the project"),
        pytest.param("load_model", "", 0, id="no trainer"),
    ],
)
def test_a_trainer_that_an_abstract_method_makes_trains(name: str, made: str, count: int) -> None:
    source = f"""\
        import torch
        from abc import ABC, abstractmethod

        class Own:
            def train(self): ...

        class Runner(ABC):
            def __init__(self):
                self.made = self.{name}()

            @abstractmethod
            def {name}(self):
                {made or "pass"}

            def run(self):
                self.made.train()
    """
    assert len(facts(source, "train_step")) == count


@pytest.mark.parametrize("base", ["ABC", "Generic[T]", "Protocol[T]"])
def test_a_method_comes_from_the_base_that_has_members(base: str) -> None:
    source = f"""\
        import torch
        from abc import ABC
        from typing import Generic, Protocol, TypeVar
        from some.library import Trainer

        T = TypeVar("T")

        class Own({base}, Trainer): ...

        Own().train()
    """
    assert len(facts(source, "train_step")) == 1

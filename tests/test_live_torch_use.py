"""Live checks of PyTorch as people use them; each in a process of its own, for the backend stays registered."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.live_support import installed
from tests.measured import python

pytestmark = pytest.mark.slow

HEAD = """
import threading
import torch
from torch import nn
from npulint.live import check_torch, watch_torch
from npulint.live.torch.session import LiveError

T = {"torch": "2.13"}


def ops(result, phase=None):
    nodes = result.graph.bodies[0].nodes
    return {node.op.removeprefix("aten.").removesuffix(".default") for node in nodes if phase in (None, node.phase)}


def lines(result, op):
    return {node.frames[-1].line for node in result.graph.bodies[0].nodes if node.op.startswith("aten." + op)}


def raises(kind, function, reason=""):
    try:
        function()
    except kind as error:
        assert not reason or getattr(error, "reason", "") == reason, error
        return error
    raise AssertionError("nothing was raised")
"""

PROGRAMS = {
    "the step of a batch in a record": """
        from dataclasses import dataclass
        @dataclass
        class Batch:
            x: torch.Tensor
            more: dict
        class Net(nn.Linear):
            def forward(self, batch):
                return super().forward(batch.x) * batch.more["scale"][0]
        batch = Batch(torch.randn(3, 4), {"scale": [torch.ones(1)]})
        result = check_torch(Net(4, 2), (batch,), target=T, method="imaginary")
        assert {"addmm", "mul.Tensor"} <= ops(result, "forward") and "mm" in ops(result, "backward")
    """,
    "a model with a loss of its own and arguments by name": """
        class Net(nn.Linear):
            def forward(self, x, labels=None):
                out = super().forward(x)
                return {"loss": nn.functional.huber_loss(out, labels), "logits": torch.fmax(out, labels)}
        result = check_torch(Net(4, 2), {"x": torch.randn(3, 4), "labels": torch.randn(3, 2)}, target=T)
        assert "huber_loss_backward.out" in ops(result, "backward")
        assert not any("ge" == op.split(".")[0] for op in ops(result, "backward")), "fmax has no gradient here"
    """,
    "nothing of the user's is changed": """
        import copy, random
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc, self.bn = nn.Linear(4, 4), nn.BatchNorm1d(4)
                self.calls, self.kept = 0, []
            def forward(self, x):
                self.calls += 1
                self.kept.append(x)
                self.last = x
                return self.bn(self.fc(x))
        net = Net().eval()
        net(torch.randn(3, 4)).sum().backward()
        optimizer = torch.optim.Adam(net.parameters())
        optimizer.step()
        graph = net(torch.randn(3, 4)).sum()
        kept, calls = len(net.kept), net.calls
        state, of_optimizer = copy.deepcopy(net.state_dict()), copy.deepcopy(optimizer.state_dict())
        grads = [one.grad.clone() for one in net.parameters()]
        torch.manual_seed(3)
        random.seed(3)
        before = torch.get_rng_state(), random.getstate()
        for method in ("imaginary", "dispatch"):
            result = check_torch(net, torch.randn(3, 4), optimizer=optimizer, method=method, target=T)
            assert "optimizer" in {node.phase for node in result.graph.bodies[0].nodes}
        torch.manual_seed(3)
        assert torch.equal(before[0], torch.get_rng_state()) and before[1] == random.getstate()
        assert not net.training and net.calls == calls and len(net.kept) == kept and net.last.is_cpu
        assert all(torch.equal(one, net.state_dict()[key]) for key, one in state.items())
        assert all(torch.equal(one.grad, old) for one, old in zip(net.parameters(), grads))
        now = optimizer.state_dict()
        assert now["param_groups"] == of_optimizer["param_groups"]
        assert all(torch.equal(now["state"][0][key], one) for key, one in of_optimizer["state"][0].items())
        import json
        assert len(json.loads(result.to_json())["operators"]) == len(result.operators) > 5
        graph.backward()
        assert all(torch.equal(one, old) is False for one, old in zip((net.bn.weight.grad,), (grads[2],)))
    """,
    "what a step changes around itself is put back": """
        import random
        from collections import deque
        from torch.optim import lr_scheduler as rates
        class Trainer:
            def __init__(self):
                self.net = nn.Linear(4, 4)
                self.optimizer = torch.optim.SGD(self.net.parameters(), 0.1, momentum=0.9)
                self.schedule = rates.SequentialLR(
                    self.optimizer,
                    [rates.LinearLR(self.optimizer), rates.StepLR(self.optimizer, 1)],
                    [2],
                )
                self.steps, self.losses, self.meters = 0, [], {"loss": 0.0}
        class Own(Trainer):
            pass
        trainer, buffer, seen, total = Own(), deque([1, 2], 3), 0, 7
        dice, generator = random.Random(1), torch.Generator().manual_seed(1)
        dice.random()
        def make():
            calls = 0
            def step(x):
                global seen
                nonlocal calls
                seen += 1
                calls += 1
                trainer.steps += 1
                loss = trainer.net(x).square().sum()
                trainer.losses.append(loss)
                trainer.meters["loss"] += loss.item()
                buffer.append(dice.random())
                torch.randperm(4, generator=generator)
                loss.backward()
                trainer.optimizer.step()
                trainer.schedule.step()
            return step, lambda: calls
        step, calls = make()
        def state():
            of = {key: one for key, one in trainer.schedule.state_dict().items() if key != "_schedulers"}
            inner = [one.state_dict() for one in trainer.schedule._schedulers]
            rates = [group["lr"] for group in trainer.optimizer.param_groups]
            return repr((of, inner, rates, trainer.steps, trainer.losses, trainer.meters, list(buffer), seen, calls(),
                         dice.getstate(), generator.get_state().tolist(), trainer.net.weight.tolist(),
                         trainer.optimizer.state_dict()))
        before = state()
        for method in ("imaginary", "dispatch"):
            result = check_torch(step=step, example_inputs=(torch.ones(2, 4),), target=T, method=method)
            assert {"addmm", "sum"} <= {op.split(".")[0] for op in ops(result)} and result.syncs_per_step >= 1
            assert state() == before, method
        step(torch.ones(2, 4))
        assert state() != before and calls() == 1 and seen == 1 and len(trainer.losses) == 1
    """,
    "who evaluates a model is warned of what leaves the NPU": """
        class Net(nn.Linear):
            def forward(self, x):
                return torch.fmax(super().forward(x), x)
        result = check_torch(Net(4, 4), torch.randn(3, 4), train=False, target=T)
        found = [(one.name, one.severity) for one in result.findings]
        assert found == [("cpu-operator-in-inference", "warning")], found
        assert not result.ok(fail_on="warning") and result.ok()
    """,
    "an error of the model is passed on, and everything is as before": """
        class Net(nn.Linear):
            def forward(self, x):
                raise KeyError("mine")
        net = Net(4, 4)
        error = raises(KeyError, lambda: check_torch(net, torch.randn(3, 4), target=T))
        import traceback
        assert "forward" in {frame.name for frame in traceback.extract_tb(error.__traceback__)}
        assert error.__context__ is None and error.__cause__ is None
        assert net.weight.is_cpu and torch.autograd.is_multithreading_enabled() and torch.is_grad_enabled()
        shape = raises(RuntimeError, lambda: check_torch(nn.Linear(4, 4), torch.randn(3, 5), target=T))
        assert "shapes cannot be multiplied" in str(shape)
        check_torch(nn.Linear(4, 4), torch.randn(3, 4), target=T)
    """,
    "tensors left on the CPU are told, and the step is recorded without the device": """
        class Net(nn.Linear):
            def forward(self, x):
                return super().forward(x) + torch.ones(x.shape[0], 2)
        result = check_torch(Net(4, 2), torch.randn(3, 4), target=T)
        line = Net.forward.__code__.co_firstlineno + 1
        at = f"`aten.add.Tensor`, {__file__.rpartition('/')[2]}:{line}:"
        assert any(at in note and "CPU" in note for note in result.notes), result.notes
        assert "addmm" in ops(result)
        raises(RuntimeError, lambda: check_torch(Net(4, 2), torch.randn(3, 4), target=T, method="imaginary"))
    """,
    "sparse products are told": """
        class Net(nn.Linear):
            def forward(self, x):
                return torch.sparse.mm(torch.eye(3, device=x.device).to_sparse(), super().forward(x))

        result = check_torch(Net(4, 2), torch.randn(3, 4), target=T)
        assert any("sparse" in one.name for one in result.findings), result.findings
        assert any("sparse" in note.lower() for note in result.notes), result.notes
    """,
    "sparse gradients run": """
        result = check_torch(nn.Embedding(5, 3, sparse=True), torch.tensor([1, 2]), target=T)
        assert result.ok("warning") and not result.notes, (result.findings, result.notes)
    """,
    "what cannot be checked is refused": """
        spread = nn.DataParallel(nn.Linear(2, 2))
        raises(LiveError, lambda: check_torch(spread, torch.randn(1, 2), target=T), "data-parallel")
        raises(LiveError, lambda: check_torch(nn.LazyLinear(2), torch.randn(1, 2), target=T), "uninitialised")
        raises(LiveError, lambda: check_torch(target=T), "nothing")
        raises(ValueError, lambda: check_torch(nn.Linear(2, 2), torch.randn(1, 2), method="x", target=T))
        frozen = nn.Linear(2, 2).requires_grad_(False)
        raises(LiveError, lambda: check_torch(frozen, torch.randn(1, 2), target=T), "no-gradient")
        assert ops(check_torch(frozen, torch.randn(1, 2), train=False, target=T)) == {"as_strided", "addmm"}
        chinese = raises(LiveError, lambda: check_torch(target=T, lang="zh"), "nothing")
        assert "请" in str(chinese)
    """,
    "nested checks and those of other threads are refused": """
        inner = nn.Linear(2, 2)
        class Net(nn.Linear):
            def forward(self, x):
                raises(LiveError, lambda: check_torch(inner, torch.randn(1, 2), target=T), "busy")
                raises(LiveError, lambda: watch_torch(target=T).__enter__(), "busy")
                seen = []
                def other():
                    seen.append(raises(LiveError, lambda: check_torch(inner, torch.randn(1, 2), target=T), "busy"))
                    seen.append(torch.nn.functional.huber_loss(torch.ones(2), torch.zeros(2)))
                thread = threading.Thread(target=other)
                thread.start()
                thread.join()
                assert len(seen) == 2
                return super().forward(x)
        for method in ("imaginary", "dispatch"):
            assert "huber_loss" not in ops(check_torch(Net(2, 2), torch.randn(1, 2), method=method, target=T))
    """,
    "torch_npu and other backends are not disturbed": """
        import sys, types
        sys.modules["torch_npu"] = types.ModuleType("torch_npu")
        raises(LiveError, lambda: check_torch(nn.Linear(2, 2), torch.randn(1, 2), target=T), "real-npu")
        assert torch._C._get_privateuse1_backend_name() == "privateuseone"
        del sys.modules["torch_npu"]
        torch.utils.rename_privateuse1_backend("mine")
        error = raises(LiveError, lambda: check_torch(nn.Linear(2, 2), torch.randn(1, 2), target=T), "other-backend")
        assert "mine" in str(error)
        assert "addmm" in ops(check_torch(nn.Linear(2, 2), torch.randn(1, 2), target=T, method="dispatch"))
    """,
    "without the helper of newer releases the dispatcher serves": """
        import torch.utils.backend_registration as registration
        helper = registration._setup_privateuseone_for_python_backend
        del registration._setup_privateuseone_for_python_backend
        try:
            result = check_torch(nn.Linear(2, 2), torch.randn(1, 2), target=T)
            assert torch.__version__ in result.notes[0] and "2.10" in result.notes[0] and "addmm" in ops(result)
            ask = lambda: check_torch(nn.Linear(2, 2), torch.randn(1, 2), target=T, method="imaginary")
            raises(LiveError, ask, "old-torch")
        finally:
            registration._setup_privateuseone_for_python_backend = helper
    """,
    "what is compiled runs as it is written": """
        backend = lambda module, inputs: lambda *args: (inputs[0].new_zeros(3, 2),)
        net = torch.compile(nn.Sequential(nn.Linear(4, 2), nn.Softplus()), backend=backend)
        stance = torch.compiler.set_stance
        for method in ("imaginary", "dispatch"):
            assert {"addmm", "softplus"} <= ops(check_torch(net, torch.randn(3, 4), target=T, method=method))
        del torch.compiler.set_stance  # PyTorch 2.6 brought it
        import sys, types
        from npulint.live.torch.session import eager
        frames, asked = sys.modules["torch._dynamo.eval_frame"], []
        sys.modules["torch._dynamo.eval_frame"] = older = types.SimpleNamespace(set_eval_frame=asked.append)
        try:
            with eager():
                older.set_eval_frame("compile")
            older.set_eval_frame("as before")
        finally:
            torch.compiler.set_stance, sys.modules["torch._dynamo.eval_frame"] = stance, frames
        assert asked == ["as before"]
        assert not net(torch.randn(3, 4)).any(), "compiled again"
    """,
    "copies to the host are told": """
        class Net(nn.Linear):
            def forward(self, x):
                out = super().forward(x)
                self.seen = out.detach().cpu()
                out.tolist()
                return out if bool((out > -9).all()) else -out
        result = check_torch(Net(2, 2), torch.randn(1, 2), target=T, method="imaginary")
        copies = [node for node in result.graph.bodies[0].nodes if node.attrs.get("arguments") == {"device": "cpu"}]
        assert [node.op for node in copies] == ["aten._to_copy.default"] * 2
        assert "_local_scalar_dense" in ops(result)
        assert result.syncs_per_step == 3, result.syncs
    """,
    "deep copies and new storages of the device do not harm": """
        import copy
        class Net(nn.Linear):
            def forward(self, x):
                other = copy.deepcopy(self)
                twin = copy.deepcopy(x)
                return super().forward(x) + nn.Linear.forward(other, twin).detach()
        assert "addmm" in ops(check_torch(Net(2, 2), torch.randn(1, 2), target=T, method="imaginary"))
        assert not torch.npu.is_available() and torch.tensor([1.0]).tolist() == [1.0]
    """,
    "a loop is watched for some steps": """
        net, optimizer = nn.Linear(4, 2), None
        optimizer = torch.optim.AdamW(net.parameters())
        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(12, 4), torch.randn(12, 2)), 3)
        def train():
            for x, y in data:
                optimizer.zero_grad()
                loss = nn.functional.huber_loss(net(x), y)
                loss.backward()
                optimizer.step()
                if loss.item() > 1e9:
                    break
        before = net.weight.detach().clone()
        with watch_torch(steps=3, target=T) as watch:
            raises(LiveError, lambda: watch.result, "unfinished")
            train()
        assert watch.steps == 3 and not torch.equal(before, net.weight)
        nodes = {node.op: node for node in watch.result.graph.bodies[0].nodes}
        assert nodes["aten.huber_loss.default"].count == 3 and "aten.stack.default" not in nodes
        assert nodes["aten._local_scalar_dense.default"].count in (2, 3)
        first = train.__code__.co_firstlineno
        assert nodes["aten.huber_loss.default"].frames[-1].line == first + 3
        assert nodes["aten.huber_loss_backward.default"].frames[-1].line == first + 3
        assert {node.frames[-1].line for node in nodes.values() if node.phase == "optimizer"} <= {first + 2, first + 5}
        watch.result
        with watch_torch(target=T) as again:
            try:
                net(torch.randn(1, 9))
            except RuntimeError:
                pass
        assert again.steps == 0 and torch.autograd.is_multithreading_enabled()
    """,
    "reads of values that stay on the host are no waits": """
        net, device = nn.Linear(4, 2), torch.device("cpu")
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        def step():
            rows = torch.randn(20, 4)
            x = torch.stack([rows[number] for number in torch.randint(10, (3,))])
            x = x.to(device)
            out = net(x)
            assert int(out.argmax(1).cpu()[0]) < 2
            out.mean().backward()
            optimizer.step()
            bool(x.sum() > 0)
            return (out.argmax(1) == 1).any().item()
        with watch_torch(target=T) as watch:
            step()
        first = step.__code__.co_firstlineno
        assert [one.line - first for one in watch.result.syncs] == [8, 9], watch.result.syncs
        read = lambda x: x.sum().item()
        result = check_torch(step=read, example_inputs=(torch.ones(2),), method="dispatch", target=T)
        assert result.syncs_per_step == 1
        assert not {"to", "cpu", "numpy", "cuda", "tolist"} & set(vars(torch.Tensor))
    """,
    "batches that are made on the host are no waits": """
        import numpy as np
        net, device = nn.Linear(4, 2), "cpu"
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        data = np.arange(99, dtype=np.float32)
        def get_batch():
            ix = torch.randint(len(data) - 4, (3,))
            x = torch.stack([torch.from_numpy(data[i : i + 4]) for i in ix])
            return x.pin_memory().to(device, non_blocking=True) if device != "cpu" else x.to(device)
        def step():
            out = net(get_batch())
            out.mean().backward()
            optimizer.step()
            correct = (out.argmax(1) == 1).cpu()
            return [int(correct[i]) for i in range(len(correct))], correct.sum().item(), correct.numpy()
        with watch_torch(target=T) as watch:
            step()
        first = step.__code__.co_firstlineno
        assert [(one.line - first, one.cause) for one in watch.result.syncs] == [], watch.result.syncs
        assert watch.result.ok(), watch.result.findings
    """,
    "the causes of waits are told": """
        import math
        def read(x):
            total = x.sum()
            if total > 99:
                return
            float(total)
            int(total)
            total.item()
            [1, 2][int(total > 99)]
            x.tolist()
            f"{total:.2f}"
            str(total)
            x[x > 0]
            torch.equal(x, x)
            math.sqrt(abs(total))
            x.nonzero()
            x.detach().cpu()
        result = check_torch(step=read, example_inputs=(torch.ones(2),), target=T)
        first = read.__code__.co_firstlineno
        causes = {one.line - first: one.cause for one in result.syncs}
        expected = "bool - float int item int tolist format print mask equal float nonzero cpu".split()
        assert causes == {number: word for number, word in enumerate(expected, 2) if word != "-"}, causes
    """,
    "the line of a library is told, with what it offers": """
        import importlib, sys, tempfile
        from pathlib import Path
        folder = Path(tempfile.mkdtemp()) / "site-packages"
        (folder / "transformers").mkdir(parents=True)
        (folder / "transformers" / "__init__.py").write_text("")
        (folder / "transformers" / "trainer.py").write_text(
            "import torch\\ndef train(step):\\n    loss = step()\\n    if torch.isnan(loss):\\n        return\\n"
            "    torch.nn.functional.huber_loss(loss, loss.detach()).backward()\\n"
        )
        sys.path.insert(0, str(folder))
        train = importlib.import_module("transformers.trainer").train
        net = nn.Linear(4, 2)
        def loop(x):
            train(lambda: net(x).mean())
        result = check_torch(step=loop, example_inputs=(torch.ones(2, 4),), target=T)
        (wait,) = result.syncs
        here = loop.__code__.co_firstlineno + 1
        assert (wait.line, wait.inside, wait.cause) == (here, "transformers/trainer.py:4 in train", "bool"), wait
        assert "logging_nan_inf_filter=False" in wait.remedy
        (found,) = [one for one in result.findings if one.name == "library-waits-for-the-npu"]
        assert "transformers/trainer.py:4" in found.message and "logging_nan_inf_filter" in found.fix.text
        assert found.span.line == here and "tensor" not in found.fix.text.lower()
        assert "logging_nan_inf_filter" in result.render("json", "zh") and "该检查只影响" in result.text("zh")
        (other,) = [one for one in result.findings if one.subject == "aten.huber_loss"]
        assert "`transformers/trainer.py:6 in train`" in other.message
    """,
    "shapes that change between steps are told, and what memory holds": """
        net = nn.Linear(64, 32)
        optimizer = torch.optim.AdamW(net.parameters())
        batches = [torch.ones(size, 64) for size in (8, 8, 5)]
        def train():
            for x in batches:
                optimizer.zero_grad()
                net(x).square().mean().backward()
                optimizer.step()
        with watch_torch(target={**T, "soc": "910A"}) as watch:
            train()
        (shape,) = watch.result.step.shapes
        assert shape.shapes == ((8, 32), (5, 32)) and shape.line == train.__code__.co_firstlineno + 3, shape
        memory, weights = watch.result.step.memory, (64 * 32 + 32) * 4
        assert (memory.parameters, memory.gradients) == (weights, weights), memory
        assert 2 * weights <= memory.optimizer <= 2 * weights + 64
        assert memory.kept >= 8 * 32 * 4 and sum(memory.classes().values()) == memory.peak
        assert (memory.chip, memory.capacity >> 30, memory.fits, memory.assumed) == ("910A", 32, "yes", False)
        alone = check_torch(net, torch.ones(8, 64), optimizer=optimizer, target=T).step
        assert (alone.memory.parameters, alone.memory.gradients, alone.shapes) == (weights, weights, ())
        assert alone.picture.operators > 10 and alone.picture.stretches[0].phase == "forward"
        for one in net.parameters():
            one.grad = None
        none = check_torch(net, torch.ones(8, 64), train=False, target=T).step.memory
        assert (none.gradients, none.optimizer, none.activations, none.parameters) == (0, 0, 0, weights), none
    """,
    "what an NPU raises is an error of a watched loop too": """
        net = nn.Linear(4, 2)
        def loop(after):
            with watch_torch(target=T) as watch:
                out = net(torch.ones(3, 4))
                after(out)
            return [(one.code, one.severity) for one in watch.result.findings if one.severity == "error"]
        assert loop(lambda out: out.detach().numpy()) == [("NPU41P1", "error")]
        assert loop(lambda out: out.detach().cpu().numpy()) == []
        assert loop(lambda out: out.detach().to("cpu").numpy()) == []
        assert loop(lambda out: torch.ones(3).numpy()) == []
        assert loop(lambda out: out.double() @ torch.ones(2, 2).double()) == [("NPU41P5", "error")]
        watch = watch_torch(target=T)
        scaler = torch.amp.GradScaler("cpu")
        optimizer = torch.optim.SGD(net.parameters(), 0.1)
        def wrong():
            with watch:
                scaler.scale(net(torch.ones(3, 4)).sum()).backward()
                scaler.unscale_(optimizer)
                scaler.unscale_(optimizer)
        raises(RuntimeError, wrong)
        assert [one.code for one in watch.result.findings if one.severity == "error"] == ["NPU41R0"]
        def foreign():
            with watch_torch(target=T) as watch:
                raise KeyError("mine")
        raises(KeyError, foreign)
    """,
    "a release without records is told": """
        notes = check_torch(nn.Linear(2, 2), torch.randn(1, 2), target={"torch": "1.11"}).notes
        assert ["1.11" in note and "2.1" in note for note in notes] == [True]
        old = check_torch(nn.Linear(2, 2), torch.randn(1, 2), target={"torch": "1.11"})
        assert "torch 1.11 (specified), judged by the kernels of 2.1" in old.text(), old.text()
        assert "2.1" in old.to_dict()["target"]["torch"] and "按 2.1 的算子判断" in old.text("zh")
        assert not check_torch(nn.Linear(2, 2), torch.randn(1, 2), target={"torch": "2.1.0"}).notes
    """,
    "what an NPU raises is an error": """
        class Mixed(nn.Linear):
            def forward(self, x):
                return super().forward(x) + torch.ones(x.shape[0], 2)
        class Read(nn.Linear):
            def forward(self, x):
                out = super().forward(x)
                out.detach().numpy()
                return out
        class Cuda(nn.Linear):
            def forward(self, x):
                return super().forward(x).cuda()
        class Double(nn.Linear):
            def forward(self, x):
                return super().forward(x.double())
        class Scalar(nn.Linear):
            def forward(self, x):
                return super().forward(x) * torch.tensor(2.0) + x.double().sum()
        def errors(net):
            result = check_torch(net, torch.randn(3, 4), target=T)
            assert result.ok() == (not [one for one in result.findings if one.severity == "error"])
            return [(one.code, one.span.line) for one in result.findings if one.severity == "error"]
        def first(kind):
            return kind.forward.__code__.co_firstlineno
        assert errors(Mixed(4, 2)) == [("NPU41P0", first(Mixed) + 1)]
        assert errors(Read(4, 2)) == [("NPU41P1", first(Read) + 2)]
        assert torch.cuda.is_available() or errors(Cuda(4, 2)) == [("NPU41P2", first(Cuda) + 1)]
        assert errors(Double(4, 2).double()) == [("NPU41P5", first(Double) + 1)]
        assert errors(Scalar(4, 2)) == []
        from npulint.live import NotReadyError
        error = raises(NotReadyError, check_torch(Mixed(4, 2), torch.randn(3, 4), target=T).assert_ready)
        assert "host-tensor-meets-npu-tensor" in str(error)
    """,
    "an exception in a watched loop leaves torch as it was": """
        def failing():
            with watch_torch(target=T):
                torch.nn.functional.scaled_dot_product_attention(*[torch.randn(1, 1, 2, 2)] * 3)
                raise KeyError("mine")
        raises(KeyError, failing)
        assert not torch._C._dispatch_has_kernel_for_dispatch_key("aten::scaled_dot_product_attention", "AutogradCPU")
        assert torch._C._len_torch_dispatch_stack() == 0
        with watch_torch(target=T) as watch:
            with torch.inference_mode():
                nn.Linear(2, 2)(torch.randn(1, 2))
        assert "addmm" in ops(watch.result) and "linear" not in ops(watch.result)
    """,
    "a step on the device costs little more than one on the CPU": """
        import queue, time
        torch.set_num_threads(1)  # several wait for each other where the machine is busy
        net = nn.Sequential(*[part for _ in range(6) for part in (nn.Linear(512, 512), nn.LayerNorm(512), nn.GELU())])
        optimizer = torch.optim.AdamW(net.parameters())
        times = queue.SimpleQueue()  # a list would be put back
        def best():
            return min(times.get() for _ in range(times.qsize()))
        def step(x):
            start = time.perf_counter()
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()
            times.put(time.perf_counter() - start)
        x = torch.randn(256, 512)
        for _ in range(6):
            step(x)
        eager = best()
        for _ in range(4):
            check_torch(example_inputs=(x,), step=step, target=T, method="imaginary")
        took = best()
        assert took < 10 * eager, (took, eager)
        with watch_torch(target=T):
            for _ in range(4):
                step(x)
        took = best()
        assert took < 10 * eager, (took, eager)
    """,
    "the kernels are gone afterwards": """
        check_torch(nn.Linear(2, 2), torch.randn(1, 2), target=T)
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        assert not has("aten::scaled_dot_product_attention", "PrivateUse1")
        assert not has("aten::convolution", "PrivateUse1")
        raises(NotImplementedError, lambda: torch.ones(2, device="npu"))
        assert not torch.npu.is_available() and torch.npu.device_count() == 0
        older = check_torch(nn.Linear(2, 2), torch.randn(1, 2), target={"torch": "2.1"})
        assert "addmm" in ops(older)
    """,
}


TIMED = ("a step on the device costs little more than one on the CPU",)
"""Programs that measure: to count their lines would take time."""

ALONE = ("torch_npu and other backends are not disturbed", *TIMED)
"""Programs that change what cannot be changed back, or are to have a process for themselves."""

RUNNER = """
import runpy, sys, traceback
for path in sys.argv[1:]:
    try:
        runpy.run_path(path)
    except BaseException:
        print("FAILED", path, traceback.format_exc(), sep=chr(10), end=chr(0))
"""


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What went wrong in the programs that share a process, by name."""
    installed("torch")
    folder = tmp_path_factory.mktemp("programs")
    together = [name for name in PROGRAMS if name not in ALONE]
    paths = [written(folder / f"program_{number}.py", name) for number, name in enumerate(together)]
    runner = folder / "runner.py"
    runner.write_text(RUNNER, encoding="utf-8")
    told = ran(folder, python(str(runner), *map(str, paths)))
    failed = dict(
        part.removeprefix("FAILED\n").split("\n", 1) for part in told.split("\0") if part.startswith("FAILED")
    )
    return {name: failed.get(str(path), "") for name, path in zip(together, paths, strict=True)}


def written(path: Path, name: str) -> Path:
    path.write_text(HEAD + "\n" + textwrap.dedent(PROGRAMS[name]), encoding="utf-8")
    return path


def ran(folder: Path, command: list[str]) -> str:
    where = {"PYTHONPATH": str(Path(__file__).parent.parent), "PATH": "", "HOME": str(folder)}
    done = subprocess.run(command, cwd=folder, env=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ALONE])
def test(name: str, failures: dict[str, str]) -> None:
    assert not failures[name]


@pytest.mark.nightly
@pytest.mark.parametrize("name", ALONE)
def test_alone(name: str, tmp_path: Path) -> None:
    installed("torch")
    program = str(written(tmp_path / "program.py", name))
    ran(tmp_path, [sys.executable, "-W", "ignore", program] if name in TIMED else python(program))

"""What makes the host wait in every training step, options of torch_npu, and compile modes of workers."""

from __future__ import annotations

from textwrap import indent

import pytest

from tests.support import facts

STEP = """
import gc
import time
import numpy as np
import torch

def train(loader, model, scaler, logger, writer, device):
    total = 0.0
    kept = []
    for i, (x, y) in enumerate(loader):
        out = model(x)
        loss = criterion(out, y)
        scaler.scale(loss).backward()
{lines}

train(loader, model, scaler, logger, writer, "npu:0")
"""


def causes(lines: str) -> list[str]:
    """What lines of a training step do."""
    text = STEP.format(lines=indent(lines, " " * 8))
    return [fact.name for fact in facts(text, "host_sync")]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("a = loss.item()", ["item"]),
        ("a = out.argmax(1).eq(y).sum().item()", ["item"]),
        ("a = float(loss)", ["float"]),
        ("print(loss)", ["print"]),
        ("print('loss %f' % loss)", ["print"]),
        ("print(f'{i} {loss}')", ["print"]),
        ("logger.info('loss {}'.format(loss))", ["log"]),
        ("writer.add_scalar('loss', loss, i)", ["log"]),
        ("a = out.cpu()", ["cpu"]),
        ("a = out.detach().cpu().numpy()", ["cpu"]),
        ("a = out.to('cpu')", ["cpu"]),
        ("a = out.to(torch.device('cpu'))", ["cpu"]),
        ("a = loss.cpu()", ["cpu_scalar"]),
        ("a = out.sum().cpu()", ["cpu_scalar"]),
        ("a = out.tolist()", ["tolist"]),
        ("torch.npu.synchronize()", ["synchronize"]),
        ("torch.npu.current_stream().synchronize()", ["stream_synchronize"]),
        ("torch.cuda.empty_cache()", ["empty_cache"]),
        ("gc.collect()", ["gc_collect"]),
        ("if torch.isnan(loss).any(): raise ValueError", ["isfinite_if"]),
        ("kept.append(loss)", ["append_graph"]),
        ("total += loss", ["append_graph"]),
        ("total += loss * 2", ["append_graph"]),
        ("x = x.npu()", ["blocking_copy"]),
        ("x = x.to(device)", ["blocking_copy"]),
        ("x = {k: v.to(device) for k, v in x.items()}", ["blocking_copy"]),
        ("a = torch.zeros(3).npu()", ["host_tensor"]),
        ("a = torch.tensor([1, 2]).to(device)", ["host_tensor"]),
        ("a = time.time()\nmodel(x)\nprint(time.time() - a)", ["clock"]),
        ("for k, v in x.items():\n    v = v.npu()", ["blocking_copy"]),
    ],
)
def test_a_cause(lines: str, found: list[str]) -> None:
    assert causes(lines) == found


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("if i % 10 == 0:\n    print(loss.item())", id="every tenth step"),
        pytest.param("a = np.mean([1]).item()", id="numpy"),
        pytest.param("a = out.shape[0], len(y), int(x.size(0))", id="sizes"),
        pytest.param("print(i, x.shape)", id="prints of host values"),
        pytest.param("kept.append(loss.detach())\ntotal += loss.detach()", id="detached"),
        pytest.param("loss = loss.detach()\ntotal += loss\nkept.append(loss)", id="detached before"),
        pytest.param("part = []\npart.append(loss)", id="a list of the step"),
        pytest.param("with torch.no_grad():\n    total += loss", id="added without a graph"),
        pytest.param("x = x.to(device, non_blocking=True)\ny = y.npu(None, True)", id="copied in the background"),
        pytest.param("x = x.to(torch.float16)\ny = y.to(memory_format=torch.channels_last)", id="a type"),
        pytest.param("a = torch.zeros(3, device=device)", id="made on the device"),
        pytest.param("a = y.cpu()", id="there already"),
        pytest.param("a = y.detach().cpu().numpy()", id="there already, detached"),
        pytest.param("spent = time.time() - end\nend = time.time()", id="from round to round"),
        pytest.param("for k, v in model.table.items():\n    v = v.npu()", id="parts of another table"),
        pytest.param("model.cpu()", id="a model"),
        pytest.param("try:\n    i += 1\nexcept RuntimeError:\n    torch.npu.empty_cache()", id="after an error"),
    ],
)
def test_no_cause(lines: str) -> None:
    assert causes(lines) == []


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        ("for x, y in val_loader:\n    x = x.to(device)\n    print(model(x).item())", ["blocking_copy"]),
        ("for x, y in val_loader:\n    x = x.npu(non_blocking=True)", []),
        ("for name in names:\n    model.to(device)", []),
        ("x = x.to(device)", []),
    ],
)
def test_batches_copied_in_other_loops(loop: str, found: list[str]) -> None:
    text = f"import torch\n\ndef evaluate(val_loader, names, model, device, x):\n{indent(loop, '    ')}\n"
    assert [fact.name for fact in facts(text, "host_sync")] == found


def test_a_function_that_only_converts_leaves_it_to_its_callers() -> None:
    helper = "\ndef to_np(t):\n    return t.cpu().detach().numpy()\n"
    assert facts(STEP.format(lines=" " * 8 + "a = to_np(out)") + helper, "host_sync") == []


@pytest.mark.parametrize("library", ["dgl", "torch_geometric.nn"])
def test_a_copy_for_a_library_of_the_host_is_the_library_s_matter(library: str) -> None:
    text = f"import {library}\n" + STEP.format(lines=" " * 8 + "a = out.cpu()")
    assert facts(text, "host_sync") == []


def test_a_synchronisation_for_a_clock() -> None:
    text = STEP.format(lines=indent("torch.npu.synchronize()\nspent = time.time()", " " * 8))
    assert [fact.get("timed") for fact in facts(text, "host_sync", "synchronize")] == ["yes"]


@pytest.mark.parametrize(
    ("key", "value", "answer"),
    [
        ("ACL_OP_DEBUG_LEVEL", 3, ("yes", "yes", "")),
        ("ACL_OP_DEBUG_LEVEL", 5, ("yes", "no", "")),
        ("ACL_AICORE_NUM", "32", ("yes", "yes", "")),
        ("ACL_AICORE_NUM", 33, ("yes", "no", "")),
        ("ACL_OP_COMPILER_CACHE_DIR", "x", ("yes", "yes", "")),
        ("ACL_OP_COMPILE_CACHE_MODE", "enable", ("no", "unknown", "ACL_OP_COMPILER_CACHE_MODE")),
    ],
)
@pytest.mark.parametrize("shape", ["option = {{{key!r}: {value!r}}}", "option = {{}}\noption[{key!r}] = {value!r}"])
def test_an_option(shape: str, key: str, value: object, answer: tuple[str, str, str]) -> None:
    text = f"import torch_npu\n{shape.format(key=key, value=value)}\ntorch_npu.npu.set_option(option)\n"
    [fact] = facts(text, "npu_option", key)
    assert (fact.get("legal"), fact.get("value_ok"), fact.get("nearest")) == answer


SPAWN = """
import torch
import torch_npu
import torch.multiprocessing as mp
{top}
def mode():
    torch.npu.set_compile_mode(jit_compile=False)

def worker(rank):
    {inside}

def main():
    {before}
    mp.spawn(worker, nprocs=8)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("top", "before", "inside", "answer"),
    [
        pytest.param("", "mode()", "pass", "lost", id="in the starting process"),
        pytest.param("", "pass", "mode()", "kept", id="in the workers"),
        pytest.param("torch.npu.set_compile_mode(False)", "pass", "pass", "kept", id="on import"),
    ],
)
def test_the_compile_mode_of_workers(top: str, before: str, inside: str, answer: str) -> None:
    [fact] = facts(SPAWN.format(top=top, before=before, inside=inside), "spawn")
    assert fact.get("jit") == answer

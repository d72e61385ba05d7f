"""Runs many small programs on the fake NPU, one after the other in one process, and records each.

``python -m tests.live_oracle FOLDER``, with one folder of files for each program. Names that a program takes for
granted (a model, a loader, an optimizer …) are there, and functions that need only such names are called."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import os
import runpy
import signal
import sys
import warnings
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import msgspec
import torch

from npulint.fakes.orders import ENDED, RECORDING, Ended
from npulint.fakes.torch.reached import ReachedLines
from npulint.graphs.read.torch.recorded import written
from npulint.live.torch.recorder import Recorder
from npulint.live.torch.stopped import Stop, stop_of, with_stop

SECONDS = 3
NAMES = {
    "model": "model net net_g network encoder decoder backbone module generator discriminator teacher student",
    "optimizer": "optimizer optim opt optimizer_g optimizer_d",
    "loader": "loader train_loader dataloader data_loader trainloader batches test_loader val_loader",
    "tensor": "x y inputs images image data batch input features logits output outputs out pred preds scores a b z "
    "mask hidden weights values query key value tensor samples",
    "target": "target targets label labels ids index indices",
    "criterion": "criterion loss_fn loss_function",
    "scaler": "scaler",
    "device": "device",
    "number": "epoch epochs step steps n i rank local_rank gpu world_size batch_size num_classes",
    "args": "args cfg config opts",
}


def given() -> dict[str, Any]:
    """The names that programs take for granted."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 4)).npu()  # type: ignore[operator]
    tensor, target = torch.randn(4, 4).npu(), torch.arange(4).npu()  # type: ignore[attr-defined]
    values: dict[str, Any] = {
        "model": model,
        "optimizer": torch.optim.SGD(model.parameters(), 0.01),
        "loader": [(torch.randn(4, 4), torch.arange(4)) for _ in range(3)],
        "tensor": tensor,
        "target": target,
        "criterion": torch.nn.CrossEntropyLoss(),
        "scaler": vars(torch)["npu"].amp.GradScaler(),
        "device": torch.device("npu:0"),
        "number": 2,
        "args": SimpleNamespace(epochs=1, lr=0.01, device="npu:0", gpu=0, local_rank=0, rank=0, world_size=1, seed=1),
    }
    return {name: values[kind] for kind, names in NAMES.items() for name in names.split()}


def run(folder: Path, kernels: Any) -> None:
    """Run one program and write what was recorded."""
    recorder = kernels.recorder = Recorder()
    kernels._ledger = recorder.ledger
    recorder.paused = 1
    names, lines = given(), ReachedLines()
    entry = next(iter(sorted(folder.glob("*.py"), key=lambda path: (path.name != "train.py", path.name))))
    os.chdir(folder)
    sys.path[0] = str(folder)
    stops: list[Stop] = []
    recorder.paused = 0
    lines.start()
    signal.alarm(SECONDS)
    try:
        found = runpy.run_path(str(entry), init_globals=dict(names), run_name="__main__")
        for one in [value for value in found.values() if isinstance(value, FunctionType)]:
            try:
                called(one, names)
            except Exception as error:
                stops.append(stop_of(error, kernels.failed))
    except BaseException as error:
        stops.append(stop_of(error, kernels.failed))
    finally:
        signal.alarm(0)
        lines.stop()
        recorder.paused = 1
    graph, place = recorder.graph(), ""
    for stop in stops:
        graph, place = with_stop(graph, stop), stop.place
    ended = Ended("error" if stops else "end", 1, place=place, torch=str(torch.__version__), lines=lines.lines())
    (folder / RECORDING).write_bytes(written(graph))
    (folder / ENDED).write_bytes(msgspec.json.encode(ended))


def called(function: FunctionType, names: dict[str, Any]) -> None:
    """Call a function whose arguments are known by name."""
    needed = inspect.signature(function).parameters.values()
    wanted = [one.name for one in needed if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD]
    if function.__code__.co_filename.startswith(os.getcwd()) and all(name in names for name in wanted):
        function(*(names[name] for name in wanted))


def main(folder: str) -> None:
    importlib.import_module("torch_npu")
    from npulint.fakes.torch import registered

    warnings.simplefilter("ignore")

    def late(number: int, frame: Any) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, late)
    for one in sorted(Path(folder).iterdir()):
        if list(one.glob("*.py")):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                run(one, registered.kernels())
            torch.set_default_dtype(torch.float32)
            torch.set_default_device(None)
            torch.set_grad_enabled(True)


if __name__ == "__main__":
    main(sys.argv[1])

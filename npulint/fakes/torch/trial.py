"""The process of a program under ``npulint try``: runs it on the fake NPU and writes what was recorded.

``python -m npulint.fakes.torch.trial FOLDER``: the folder has the order as JSON, and takes the recording."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

import msgspec
import torch  # before the rest: it loads the fake torch_npu, which these modules belong to

from npulint.fakes.orders import ENDED, ORDER, RECORDING, Ended, Order
from npulint.fakes.torch import digests
from npulint.fakes.torch.reached import ReachedLines
from npulint.live.torch.sites import outermost
from npulint.live.torch.stopped import Stop, stop_of, with_stop
from npulint.read.graph.torch.recorded import written

_IDLE = 64  # backward passes, or batches, per step that an optimizer may wait for


class Trial:
    """A program that is being run, until `finish`."""

    def __init__(self, folder: str, order: Order) -> None:
        from npulint.fakes.torch import adapter

        self._folder = folder
        self.order = order
        self._recorder = adapter.recorder()
        self._kernels = adapter.kernels()
        self._lines = ReachedLines()
        self._ending = threading.Lock()
        self._made: dict[int, int] = {}
        self._process = os.getpid()
        self._last = False
        self.optimizers = 0
        self.backwards = 0
        self.batches = 0

    @property
    def steps(self) -> int:
        """Steps of the most active optimizer."""
        return max(self._made.values(), default=0)

    def run(self) -> None:
        """Run the program; ends the process."""
        digests.report(self._read)
        count(self)
        timer = threading.Timer(self.order.seconds, self.finish, ("time",))
        timer.daemon = True
        timer.start()
        self._recorder.paused = 0
        self._lines.start()
        try:
            _started(self.order)
        except SystemExit as error:
            ended = "end" if error.code in (None, 0) else "exit"
            self.finish(ended)
        except KeyboardInterrupt:
            os._exit(130)
        except BaseException as error:
            self._recorder.paused = 1
            self._lines.stop()
            _told(error)
            self.finish("error", stop_of(error, self._kernels.failed))
        self.finish("end")

    def _read(self, tensor: torch.Tensor) -> torch.Tensor:
        """The host's copy of a tensor, unrecorded."""
        self._recorder.paused += 1
        try:
            return tensor.cpu()
        finally:
            self._recorder.paused -= 1

    def stepped(self, optimizer: Any) -> None:
        """An optimizer made a step."""
        self._made[id(optimizer)] = self._made.get(id(optimizer), 0) + 1
        if self.steps > self.order.steps:
            self.finish("steps")
        if self.steps == self.order.steps and not self._last:  # what a loop does after its step belongs to it
            self._last = True
            register: Any = torch.nn.modules.module.register_module_forward_pre_hook
            register(lambda module, args: self.finish("steps"))

    def passed_back(self) -> None:
        """A backward pass has run: without an optimizer it is a step."""
        self.backwards += 1
        if self.backwards >= self.order.steps * (_IDLE if self.optimizers else 1):
            self.finish("backward")

    def fetched(self) -> None:
        """A batch was loaded: where nothing is trained it is a step."""
        self.batches += 1
        if self.steps >= self.order.steps:
            self.finish("steps")
        trains = self.optimizers or self.backwards
        if not trains and self.batches > self.order.steps and self._recorder.recorded:
            self.finish("batches")

    def finish(self, ended: str, stop: Stop | None = None) -> None:
        """Write what was recorded, and end the process without running any more of the program."""
        if os.getpid() != self._process:
            os._exit(1)
        with self._ending:
            self._recorder.paused = 1
            self._lines.stop()
            graph = self._recorder.graph()
            if stop is not None:
                graph = with_stop(graph, stop)
            with open(os.path.join(self._folder, RECORDING), "wb") as file:
                file.write(written(graph))
            steps = self.steps or self.backwards or (self.batches if ended == "batches" else 0)
            text = "" if stop is None else stop.text
            place = "" if stop is None else stop.place
            known = stop is not None and (stop.reason is not None or bool(stop.operator))
            report = Ended(ended, steps, text, place, known, _version(), self._lines.lines())
            with open(os.path.join(self._folder, ENDED), "wb") as file:
                file.write(msgspec.json.encode(report))
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


def count(trial: Trial) -> None:
    """Let PyTorch report steps, backward passes and batches to a trial."""
    from torch.optim import optimizer
    from torch.utils.data import dataloader

    register: Any = getattr(optimizer, "register_optimizer_step_post_hook")  # noqa: B009  not in every release
    register(lambda one, args, kwargs: trial.stepped(one))
    _before(torch.optim.Optimizer, "__init__", lambda: setattr(trial, "optimizers", trial.optimizers + 1))
    _after(torch.autograd, "backward", trial.passed_back)
    _before(dataloader._BaseDataLoaderIter, "__next__", trial.fetched)
    _redirect_saving()


def _before(owner: Any, name: str, report: Callable[[], object]) -> None:
    original = getattr(owner, name)

    def called(*args: Any, **kwargs: Any) -> Any:
        report()
        return original(*args, **kwargs)

    setattr(owner, name, called)


def _after(owner: Any, name: str, report: Callable[[], object]) -> None:
    original = getattr(owner, name)

    def called(*args: Any, **kwargs: Any) -> Any:
        out = original(*args, **kwargs)
        report()
        return out

    setattr(owner, name, called)


def _redirect_saving() -> None:
    """``torch.save`` writes files without Python, which the guards do not see: outside of the scratch folder it writes
    nothing."""
    guards = importlib.import_module("sitecustomize")
    original = torch.save
    inside: Any = getattr(guards, "inside", lambda path: True)

    def save(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
        named = isinstance(f, (str, os.PathLike))
        return original(obj, os.devnull if named and not inside(f) else f, *args, **kwargs)

    vars(torch)["save"] = save


@outermost
def _started(order: Order) -> None:
    """Run the program as Python runs it."""
    if order.transfer:
        importlib.import_module("torch_npu.contrib.transfer_to_npu")
    sys.argv = [order.program, *order.arguments]
    if order.module:
        sys.path[0] = os.getcwd()
        runpy.run_module(order.program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(order.program))  # instead of the working folder, as Python does
        runpy.run_path(os.path.abspath(order.program), run_name="__main__")


def _told(error: BaseException) -> None:
    """Print the error as Python prints it."""
    traceback.print_exception(error)


def _version() -> str:
    return str(torch.__version__).partition("+")[0]


def main(folder: str) -> None:
    """Run the program that the order in `folder` names."""
    with open(os.path.join(folder, ORDER), "rb") as file:
        order = msgspec.json.decode(file.read(), type=Order)
    if order.memory:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (order.memory, order.memory))
    Trial(folder, order).run()


if __name__ == "__main__":
    main(sys.argv[1])

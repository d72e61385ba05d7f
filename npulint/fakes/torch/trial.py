"""The process of a program under ``npulint try``: runs it on the fake NPU and writes what was recorded.

``python -m npulint.fakes.torch.trial FOLDER NAME``: the folder has the order as JSON, and takes the recording in a
folder of that name."""

from __future__ import annotations

import importlib
import os
import runpy
import sys
import threading
import traceback
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import msgspec
import torch  # before the rest: it loads the fake torch_npu, which these modules belong to

from npulint.fakes.orders import ENDED, ORDER, RECORD, RECORDING, Ended, Order
from npulint.fakes.torch import digests, hccl, registered, workers
from npulint.fakes.torch.errors import NotSimulated
from npulint.fakes.torch.reached import ReachedLines
from npulint.fakes.torch.standing import Standing, main_stack
from npulint.fakes.torch.synthetic.on_import import when_imported
from npulint.fakes.torch.synthetic.said import made_up
from npulint.graphs.read.torch.recorded import written
from npulint.live.course import FORMAT as COURSE
from npulint.live.course import written as encoded
from npulint.live.torch import device
from npulint.live.torch.sites import outermost
from npulint.live.torch.stopped import Stop, stop_of, with_stop

_FORKED = (
    "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, "
    "you must use the 'spawn' start method"
)
_IDLE = 64  # backward passes, or batches, per step that an optimizer may wait for


class Trial:
    """A process that runs a program, or a part of one, until `finish`."""

    def __init__(self, standing: Standing, order: Order) -> None:
        self.standing = standing
        self.order = order
        self._recorder = registered.recorder()
        self._kernels = registered.kernels()
        self._lines = ReachedLines()
        self._reset()

    def _reset(self) -> None:
        self._ending = threading.Lock()
        self._made: dict[int, int] = {}
        self._process = os.getpid()
        self._last = False
        self._written = False
        self.optimizers = 0
        self.backwards = 0
        self.batches = 0

    @property
    def steps(self) -> int:
        """Steps of the most active optimizer."""
        return max(self._made.values(), default=0)

    def run(self) -> None:
        """Run the program; ends the process."""
        self.begin()
        timer = threading.Timer(self.order.seconds, self.finish, ("time",))
        timer.daemon = True
        timer.start()
        try:
            _started(self.order)
        except SystemExit as error:
            ended = "end" if error.code in (None, 0) else "exit"
            self.finish(ended)
        except KeyboardInterrupt:
            os._exit(130)
        except BaseException as error:
            self.stopped(error)
            self.finish("error")
        self.finish("end")

    def begin(self) -> None:
        """Record from now on."""
        digests.report(self._read)
        count(self)
        when_imported({"datasets": _uncached})
        workers.watch_started(self)
        os.register_at_fork(after_in_child=self._forked)
        self.watch()
        self._recorder.ledger.follow()
        self._recorder.paused = 0
        self._lines.start()

    def follow(self, frame: FrameType) -> None:
        """Follow the functions that are running, too."""
        self._lines.follow(frame)

    def watch(self) -> None:
        """End when all have to."""
        self.standing.watch(lambda: self._recorder.recorded or _world() > 1, self.finish)

    def _forked(self) -> None:
        """A process was forked from this one: it begins anew."""
        if self._recorder.recorded:
            device.numbers.refused = _FORKED
        self._recorder.forget()
        self.standing = Standing(self.standing.record)
        self._reset()
        self.watch()

    def stopped(self, error: BaseException) -> None:
        """The program raised an error that nothing catches: say and write it."""
        self._recorder.paused = 1
        self._lines.stop()
        _told(error)
        self.write("error", stop_of(error, self._kernels.failed), isinstance(error, NotSimulated))

    def _read(self, tensor: torch.Tensor) -> torch.Tensor:
        """The host's copy of a tensor, unrecorded."""
        self._recorder.paused += 1
        try:
            return tensor.cpu()
        finally:
            self._recorder.paused -= 1

    def stepped(self, optimizer: Any) -> None:
        """An optimizer made a step."""
        before = self.steps
        self._made[id(optimizer)] = self._made.get(id(optimizer), 0) + 1
        if self.steps > before:
            self._recorder.stepped()
        if self.steps > self.order.steps:
            self.finish("steps")
        if self.steps == self.order.steps and not self._last:  # what a loop does after its step belongs to it
            self._last = True
            register: Any = torch.nn.modules.module.register_module_forward_pre_hook
            register(lambda module, args: self.finish("steps"))

    def passed_back(self) -> None:
        """A backward pass has run: without an optimizer it is a step."""
        self.backwards += 1
        if not self.optimizers:
            self._recorder.stepped()
        if self.backwards >= self.order.steps * (_IDLE if self.optimizers else 1):
            self.finish("backward")

    def fetched(self) -> None:
        """A batch was loaded: where nothing is trained it is a step."""
        self.batches += 1
        if not (self.optimizers or self.backwards) and self.batches > 1:
            self._recorder.stepped()
        if self.steps >= self.order.steps:
            self.finish("steps")
        trains = self.optimizers or self.backwards
        if not trains and self.batches > self.order.steps and self._recorder.recorded:
            self.finish("batches")

    def finish(self, ended: str) -> None:
        """Write what was recorded, and end the process without running any more of the program."""
        if os.getpid() != self._process:
            os._exit(1)
        with self._ending:
            self.write(ended)
            sys.stdout.flush()
            sys.stderr.flush()
            if _world() > 1:
                self.standing.hold()
            os._exit(0)

    def write(self, ended: str, stop: Stop | None = None, unjudged: bool = False) -> None:
        """Write what was recorded, once."""
        if self._written:
            return
        self._written = True
        self._recorder.paused = 1
        self._lines.stop()
        self._recorder.ledger.classify()
        graph, course = self._recorder.graph(), self._recorder.course()
        if stop is not None and not unjudged:
            graph = with_stop(graph, stop)
        self._keep(RECORDING, written(graph))
        self._keep(COURSE, encoded(course))
        about_npu = stop is not None and not unjudged and (stop.reason is not None or bool(stop.operator))
        report = Ended(
            ended,
            self.steps or self.backwards or (self.batches if ended == "batches" else 0),
            "" if stop is None else stop.text,
            "" if stop is None else stop.place,
            about_npu,
            _version(),
            self._lines.lines(),
            _rank(),
            _world(),
            main_stack(),
            unjudged,
            made_up(),
        )
        self._keep(f"{ENDED}.part", msgspec.json.encode(report))
        os.rename(self.standing.path(f"{ENDED}.part"), self.standing.path(ENDED))

    def _keep(self, name: str, content: bytes) -> None:
        with open(self.standing.path(name), "wb") as file:
            file.write(content)


def count(trial: Trial) -> None:
    """Let PyTorch report steps, backward passes and batches to a trial."""
    from torch.optim import optimizer
    from torch.utils.data import dataloader

    register: Any = getattr(optimizer, "register_optimizer_step_post_hook")  # noqa: B009  not in every release
    register(lambda stepping, args, kwargs: trial.stepped(stepping))
    _before(torch.optim.Optimizer, "__init__", lambda: setattr(trial, "optimizers", trial.optimizers + 1))
    _after(torch.autograd, "backward", trial.passed_back)
    _before(dataloader._BaseDataLoaderIter, "__next__", trial.fetched)
    _redirect_saving()


def _uncached(datasets: ModuleType) -> None:
    """The results of the data sets of Hugging Face go to temporary files, not into the user's cache."""
    disable = getattr(datasets, "disable_caching", None)  # a module of the user may have this name
    if disable is not None:
        disable()


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
    if order.synthetic:
        importlib.import_module("npulint.fakes.torch.synthetic.install").install()
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


def _rank() -> int:
    return hccl.joined[0][0] if hccl.joined else _number("RANK", 0)


def _world() -> int:
    return hccl.joined[0][1] if hccl.joined else _number("WORLD_SIZE", 1)


def _number(variable: str, default: int) -> int:
    value = os.environ.get(variable, "")
    return int(value) if value.isdigit() else default


def read_order(record: str) -> Order:
    """The order in the folder of a trial, whose limit of memory now holds."""
    with open(os.path.join(record, ORDER), "rb") as file:
        order = msgspec.json.decode(file.read(), type=Order)
    if order.memory:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (order.memory, order.memory))
    return order


def main(record: str, name: str) -> None:
    """Run the program that the order in the folder `record` names, as the process `name`."""
    order = read_order(record)
    os.environ[RECORD] = record  # the processes that it starts take part
    Trial(Standing(record, name), order).run()


if __name__ == "__main__":
    sys.modules["npulint.fakes.torch.trial"] = sys.modules["__main__"]
    main(sys.argv[1], sys.argv[2])

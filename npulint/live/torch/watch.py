"""Watches a few steps of a real training loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from npulint.core.texts import say
from npulint.live.judge import judged
from npulint.live.result import LiveResult
from npulint.live.torch.check import caller, release_for
from npulint.live.torch.dispatch import DeviceValues, Watching
from npulint.live.torch.recorder import Recorder
from npulint.live.torch.session import LiveError, begin, eager, end
from npulint.live.torch.stopped import Stop, refused, stop_of, with_stop

_NUMPY = "TypeError: can't convert npu:0 device type tensor to numpy"


class watch_torch:
    """Watches a ``with`` block: ``with watch_torch(steps=3) as watch: train()``, then ``watch.result``. Everything runs
    normally, on the CPU or a GPU. After `steps` steps of the most active optimizer (0: no limit) recording ends. The
    other arguments are those of `check_torch`. Raises `npulint.live.torch.session.LiveError` when another live check
    runs in this process."""

    def __init__(
        self,
        steps: int = 0,
        *,
        name: str = "",
        target: Mapping[str, str] | None = None,
        lang: str = "",
        root: str = "",
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
    ) -> None:
        self._lang = "zh" if lang == "zh" else "en"
        self._options = {"lang": lang, "root": root, "select": select, "ignore": ignore, "name": name or "watch_torch"}
        self._release = release_for(caller(), root, target)
        self._target = {**(target or {}), "torch": self._release}
        self._recorder = Recorder()
        self._watching = Watching(self._recorder, self._release, DeviceValues(self._numpy))
        self._stops: dict[str, Stop] = {}
        self._watching.limit = steps
        self._made: dict[int, int] = {}
        self._open = ExitStack()
        self._over = False
        self._result: LiveResult | None = None

    @property
    def steps(self) -> int:
        """The number of recorded steps."""
        return self._watching.steps

    @property
    def result(self) -> LiveResult:
        """The result; raises `LiveError` before the end of the block."""
        if not self._over:
            raise LiveError("unfinished", self._lang)
        if self._result is None:
            graph = self._recorder.graph(self._watching.accelerated)
            course = self._recorder.course(self._watching.accelerated)
            for stop in self._stops.values():
                graph = with_stop(graph, stop)
            notes = () if self._watching.accelerated else (say(self._lang, "recording.watched"),)
            options: Any = self._options
            self._result = judged(
                graph, target=self._target, steps=max(1, self.steps), notes=notes, course=course, **options
            )
        return self._result

    def __enter__(self) -> watch_torch:
        if self._over:
            raise LiveError("busy", self._lang)
        begin(self._lang)
        with ExitStack() as stack:
            stack.callback(end)
            stack.enter_context(eager())
            hook = _counting()
            if hook is not None:
                handle = hook(self._stepped)
                stack.callback(handle.remove)
            stack.enter_context(self._watching)
            stack.enter_context(self._recorder.ledger.following())
            self._open = stack.pop_all()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._over = True
        self._open.__exit__(*raised)
        if isinstance(raised[1], Exception):
            stop = stop_of(raised[1])
            self._stops[stop.place] = stop

    def _numpy(self) -> None:
        """A tensor that would be on the device was passed to numpy."""
        if not self._recorder.paused and not self._watching.over:
            stop = refused("numpy", _NUMPY)
            self._stops.setdefault(stop.place, stop)

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        made = self._made[id(optimizer)] = self._made.get(id(optimizer), 0) + 1
        if not self._watching.over and made > self._watching.steps:
            self._watching.steps = made
            self._recorder.stepped()


def _counting() -> Any:
    """Register a hook for optimizer steps; None where torch does not support it."""
    from torch.optim import optimizer

    return getattr(optimizer, "register_optimizer_step_post_hook", None)

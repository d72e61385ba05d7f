"""A program that is being run: counts its steps, ends it after enough of them, and writes what was seen."""

import json
import os
import sys
import threading
import time

from npulint_trial import frames, graphs
from npulint_trial.reached import ReachedLines

_IDLE = 64  # runs that train nothing, per step that a program with gradients may still make
_FURTHER = 8  # runs after the last step, of what else belongs to its round
_SHAPES = 4  # of an input that are kept
_GRAPHS = 12  # that are written


class Run:
    """What was run again and again: a set of fetches, or a function. `trains`: it updates variables with gradients;
    `group` is the same for runs that update the same variables, which a loop may have fetch more or less."""

    def __init__(self, kind, name, trains, npu, place):
        self.kind = kind
        self.name = name
        self.trains = trains
        self.npu = npu
        self.place = place
        self.group = self
        self.count = 0
        self.seconds = 0.0
        self.traces = 0
        self.feeds = {}
        self.graph = ""
        self.fetches = []

    def fed(self, name, shape):
        """Note the shape that an input had."""
        shapes = self.feeds.setdefault(name, [])
        if shape not in shapes and len(shapes) < _SHAPES:
            shapes.append(shape)

    def plain(self):
        """The run as JSON can hold it."""
        fields = dict(vars(self), seconds=round(self.seconds, 6))
        del fields["group"]
        return fields


class Program:
    """The counts of a program, until `finish`."""

    def __init__(self, folder, order):
        self._folder = folder
        self._steps = order["steps"]
        self._ending = threading.Lock()
        self._process = os.getpid()
        self._further = 0
        self._kept = []
        self._lines = ReachedLines()
        self.runs = {}
        self.version = ""
        self.differentiates = False
        self.before_finish = []

    @property
    def steps(self):
        """Steps of what was trained most often."""
        return max(self._made().values(), default=0)

    def _made(self):
        """The training steps of each group."""
        steps = {}
        for run in list(self.runs.values()):
            if run.trains:
                steps[run.group] = steps.get(run.group, 0) + run.count
        return steps

    def start(self, seconds):
        """Follow the lines of the program, and end it after this many seconds."""
        timer = threading.Timer(seconds, self.finish, ("time",))
        timer.daemon = True
        timer.start()
        self._lines.start()

    def before(self, key, make):
        """Something is about to run; ends the program if it has run often enough. `make` describes it the first
        time. Returns it."""
        if key not in self.runs:
            self.runs[key] = make()
        run = self.runs[key]
        if run.place is None and not run.trains:
            return run  # a thread of TensorFlow that fills queues
        if self.steps >= self._steps:
            self._further += 1
            if (run.trains and self._made().get(run.group, 0) >= self._steps) or self._further > _FURTHER:
                self.finish("steps")
        if not run.trains and run.count >= self._steps * (_IDLE if self.differentiates else 1):
            self.finish("runs")
        return run

    def timed(self, run, work):
        """Do the work of a run, and count it; returns what the work returns."""
        started = time.time()
        try:
            return work()
        finally:
            run.count += 1
            run.seconds += time.time() - started

    def keep(self, write):
        """Have a graph written at the end: ``write(folder, name)`` does it and returns the lines that made it."""
        if len(self._kept) < _GRAPHS:
            self._kept.append(write)
        return f"graph{len(self._kept) - 1}"

    def finish(self, how, error=None):
        """Write what was seen, and end the process without running any more of the program."""
        if os.getpid() != self._process:
            os._exit(1)
        with self._ending:
            self._lines.stop()
            ended = {"how": how, "version": self.version, "python": list(sys.version_info[:2])}
            ended["error"] = None if error is None else _described(error)
            missed = []
            for place, write in enumerate(self._kept):
                try:
                    for path, line in write(self._folder, f"graph{place}"):
                        self._lines.add(path, line)
                except Exception as failed:
                    missed.append(f"{type(failed).__name__}: {failed}".split("\n")[0])
            runs = [run.plain() for run in self.runs.values()]
            remarks = _flush_record()
            ended.update(steps=self.steps, runs=runs, missed=missed, remarks=remarks, lines=self._lines.lines())
            with open(os.path.join(self._folder, "ended.json"), "w", encoding="utf-8") as out:
                json.dump(ended, out)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


def _flush_record():
    """The fakes write at the end of the process, which is not reached. Returns the remarks among what they recorded:
    their lines are of the user's code."""
    record = sys.modules.get("npulint_record")
    if record is None:
        return []
    record.flush()
    remarks = record.found("remarks")
    for remark in remarks:
        remark["frames"] = frames.own_frames(remark["frames"])
    return remarks


def _described(error):
    """An exception for those who did not see it."""
    stack = frames.of_traceback(error)
    described = {
        "type": type(error).__name__,
        "text": str(error)[:2000],
        "frames": frames.own_frames(stack),
        "adapter": stack[-1][0] if stack and stack[-1][0].startswith(frames.ADAPTERS) else "",
        "module": getattr(error, "name", None) if isinstance(error, ImportError) else None,
    }
    operation = getattr(error, "op", None)
    described["created"] = frames.own_frames(frames.of_operation(operation)) if operation is not None else []
    return described


def write_graph(graph):
    """How to write a whole graph."""
    return lambda folder, name: graphs.write(folder, name, graph)

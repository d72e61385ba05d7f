"""Runs of sessions: what they fetch and feed, and whether they train."""

import npulint_record
from tensorflow.python.client import session
from tensorflow.python.ops import gradients_util

from npulint_trial import frames, graphs
from npulint_trial.program import Run
from npulint_trial.updates import closure, updates


class Sessions:
    """Watches all sessions of the process."""

    def __init__(self, program):
        self._program = program
        self._graphs = {}
        self._fetched = {}
        self._created = {}
        self._wrap_creation()
        self._wrap_runs()
        self._wrap_callables()
        _after(gradients_util, "_GradientsHelper", lambda: setattr(program, "differentiates", True))

    def _wrap_creation(self):
        original = session.BaseSession.__init__
        created = self._created

        def create(self, *args, **kwargs):
            created[id(self)] = npulint_record.stack()
            original(self, *args, **kwargs)

        session.BaseSession.__init__ = create

    def _wrap_runs(self):
        original = session.BaseSession._do_run
        watched = self._watched

        def run(self, handle, target_list, fetch_list, feed_dict, options, run_metadata):
            feeds = {_name(fed): list(getattr(value, "shape", ())) for fed, value in (feed_dict or {}).items()}
            names = [target.name for target in (*target_list, *fetch_list)]
            return watched(
                self, names, feeds,
                lambda: original(self, handle, target_list, fetch_list, feed_dict, options, run_metadata),
            )  # fmt: skip

        session.BaseSession._do_run = run

    def _wrap_callables(self):
        original = session.BaseSession._make_callable_from_options
        watched = self._watched

        def make(self, options):
            made = original(self, options)
            feeds = list(options.feed)
            names = [*options.target, *options.fetch]

            def call(*args, **kwargs):
                shapes = {name: list(getattr(value, "shape", ())) for name, value in zip(feeds, args)}
                return watched(self, names, shapes, lambda: made(*args, **kwargs))

            return _Callable(made, call)

        session.BaseSession._make_callable_from_options = make

    def _watched(self, running, names, feeds, work):
        program = self._program
        key = (id(running.graph), tuple(names))
        run = program.before(key, lambda: self._described(running, names))
        for name, shape in feeds.items():
            run.fed(name, shape)
        return program.timed(run, work)

    def _described(self, running, names):
        graph = running.graph
        fetched = self._fetched.setdefault(id(graph), set())
        fetched.update(names)
        if id(graph) not in self._graphs:
            self._graphs[id(graph)] = (graph, self._program.keep(_writer(graph, fetched)))
        npu = bool(getattr(running, "_recorded", {}).get("npu"))
        reached = closure(graph, names)
        own = frames.caller()
        updated = updates(graph, reached)
        run = Run("session", _titled(names), bool(updated), npu, own[-1][:2] if own else None)
        run.group = (id(graph), updated)
        run.graph = self._graphs[id(graph)][1]
        run.fetches = names[:64]
        if run.trains and not npu:
            npulint_record.remark("adapter_unused", stack=self._created.get(id(running)))
        return run


class _Callable:
    """A callable of a session, which also has the members of the original one."""

    def __init__(self, made, call):
        self._made = made
        self._call = call

    def __call__(self, *args, **kwargs):
        return self._call(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._made, name)


def _name(fed):
    """The name of a tensor that is fed, which newer releases wrap."""
    return getattr(fed, "deref", lambda: fed)().name


def _writer(graph, fetched):
    """How to write a graph with the names of what was fetched of it."""
    return lambda folder, name: graphs.write(folder, name, graph, notes={"fetched": sorted(fetched)})


def _titled(names):
    short = [name.rpartition(":")[0] or name for name in names]
    return ", ".join(short[:3]) + (", ..." if len(short) > 3 else "")


def _after(owner, name, report):
    original = getattr(owner, name)

    def called(*args, **kwargs):
        report()
        return original(*args, **kwargs)

    setattr(owner, name, called)

"""Runs of functions of TensorFlow 2, and of gradients without a function."""

import importlib
import threading

import npulint_record
from tensorflow.python.eager import backprop, context

from npulint_trial import frames, graphs
from npulint_trial.program import Run

_CONCRETE = (
    "tensorflow.python.eager.polymorphic_function.concrete_function",
    "tensorflow.python.eager.polymorphic_function.monomorphic_function",
    "tensorflow.python.eager.function",
)
_FUNCTIONS = (
    "tensorflow.python.eager.polymorphic_function.polymorphic_function",
    "tensorflow.python.eager.def_function",
)
_INITIAL = "initialize_variables"  # what TensorFlow runs within the first call of a function
_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")


class Functions:
    """Watches the functions that the program calls, not those that these call."""

    def __init__(self, program):
        self._program = program
        self._inside = threading.local()
        self._running = []  # functions, of all threads: operations in Python run in others
        self._concrete = {}
        self._wrap_functions()
        self._wrap_concrete()
        self._wrap_gradients()

    def _wrap_functions(self):
        owner = _first(_FUNCTIONS, "Function")
        original = owner.__call__
        inside = self._inside

        def call(self, *args, **kwargs):
            if getattr(inside, "function", None) is not None or not context.executing_eagerly():
                return original(self, *args, **kwargs)
            inside.function = self
            try:
                return original(self, *args, **kwargs)
            finally:
                inside.function = None

        owner.__call__ = call

    def _wrap_concrete(self):
        owner = _first(_CONCRETE, "ConcreteFunction")
        original = owner._call_flat
        watch, running = self._watched, self._running

        def call(self, *args, **kwargs):
            if running or not context.executing_eagerly() or _INITIAL in self.graph.name:
                return original(self, *args, **kwargs)
            running.append(self)
            try:
                return watch(self, args, lambda: original(self, *args, **kwargs))
            finally:
                running.pop()

        owner._call_flat = call

    def _wrap_gradients(self):
        original = backprop.GradientTape.gradient
        program, running = self._program, self._running

        def gradient(self, *args, **kwargs):
            program.differentiates = True
            if running or not context.executing_eagerly():
                return original(self, *args, **kwargs)
            own = frames.caller()
            place = own[-1][:2] if own else None
            key = ("tape", *(place or ()))
            run = program.before(key, lambda: Run("eager", "GradientTape.gradient", True, False, place))
            npulint_record.remark("eager")
            return program.timed(run, lambda: original(self, *args, **kwargs))

        backprop.GradientTape.gradient = gradient

    def _watched(self, concrete, args, work):
        program = self._program
        function = getattr(self._inside, "function", None)
        owner = concrete if function is None else function
        if id(concrete) not in self._concrete:
            self._concrete[id(concrete)] = (concrete, owner)  # kept, so that no other gets its number
        run = program.before(id(owner), lambda: self._described(concrete, owner))
        run.traces = sum(1 for _, other in self._concrete.values() if other is owner)
        run.latest[0] = concrete
        for place, value in enumerate(args[0] if args else ()):
            if hasattr(value, "shape") and str(getattr(value, "dtype", "")).find("resource") < 0:
                run.fed(f"argument {place}", _shape(value))
        return program.timed(run, work)

    def _described(self, concrete, owner):
        latest = [concrete]
        own = frames.caller()
        run = _FunctionRun("function", _named(owner, concrete), _trains(concrete), _npu(), own[-1][:2] if own else None)
        run.latest = latest
        run.graph = self._program.keep(lambda folder, name: _write(folder, name, latest[0]))
        if run.trains and not run.npu:
            npulint_record.remark("adapter_unused")
        return run


class _FunctionRun(Run):
    """The runs of a function; the graph of its last trace is written."""

    latest = ()

    def plain(self):
        """The run as JSON can hold it."""
        fields = super().plain()
        fields.pop("latest", None)
        return fields


def _first(modules, name):
    for module in modules:
        try:
            member = getattr(importlib.import_module(module), name, None)
        except ImportError:
            member = None
        if member is not None:
            return member
    raise ImportError(f"no {name} in TensorFlow")


def _npu():
    adapter = importlib.import_module("npu_device.npu_device") if "npu_device" in importlib.sys.modules else None
    return adapter is not None and adapter.global_npu_ctx() is not None


def _shape(value):
    try:
        return [int(size) for size in value.shape]
    except (TypeError, ValueError):
        return []


def _named(owner, concrete):
    name = getattr(getattr(owner, "_python_function", None), "__name__", "") or getattr(owner, "_name", "")
    return str(name or concrete.graph.name)


def _definition(concrete):
    """A graph that has a function and all that it calls."""
    import tensorflow as tf

    graph = tf.Graph()
    try:
        concrete.add_to_graph(g=graph)
    except TypeError:
        concrete.add_to_graph(graph)
    return graph


def _trains(concrete):
    """Whether a function computes gradients, or updates variables as an optimizer does."""
    for function in _definition(concrete).as_graph_def().library.function:
        for node in function.node_def:
            if node.op.startswith(_UPDATES) or "gradient_tape/" in node.name or node.name.startswith("gradients/"):
                return True
    return False


def _write(folder, name, concrete):
    return graphs.write(folder, name, _definition(concrete))

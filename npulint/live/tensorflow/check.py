"""Live checks of TensorFlow: the graph of any object that has one, with user code lines."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from npulint.core.texts import say
from npulint.facts.graph import Body, Graph, NodeFrame
from npulint.graphs.read.tensorflow.binary import read_binary
from npulint.live.judge import judged
from npulint.live.result import LiveResult
from npulint.live.sources import own_frames
from npulint.live.tensorflow.gradients import Frames, gradient_frames
from npulint.live.tensorflow.keras_models import is_dataset, next_of, placeholders, specified, unpacked

# Classifies the object to check without importing TensorFlow, by its attributes.

KINDS = "graph graph_def meta_graph session concrete function keras saved_model estimator model_fn callable".split()
"""The results of `kind_of`."""


def kind_of(thing: Any) -> str:
    """One of `KINDS`; empty for an object without graph."""
    classes = [f"{base.__module__}.{base.__qualname__}" for base in type(thing).__mro__]
    return next((kind for kind, fits in _TESTS if fits(thing, classes)), "")


def _is_graph(thing: Any, classes: list[str]) -> bool:
    return _has(thing, "as_graph_def", "get_operations")


def _is_graph_def(thing: Any, classes: list[str]) -> bool:
    return classes[0].endswith(".GraphDef")


def _is_meta_graph(thing: Any, classes: list[str]) -> bool:
    return classes[0].endswith(".MetaGraphDef")


def _is_session(thing: Any, classes: list[str]) -> bool:
    return _is_graph(getattr(thing, "graph", None), []) and callable(getattr(thing, "run", None))


def _is_concrete(thing: Any, classes: list[str]) -> bool:
    return _is_graph(getattr(thing, "graph", None), []) and hasattr(thing, "structured_input_signature")


def _is_function(thing: Any, classes: list[str]) -> bool:
    return callable(getattr(thing, "get_concrete_function", None))


def _is_keras(thing: Any, classes: list[str]) -> bool:
    return any(name.split(".", 1)[0] in ("keras", "tf_keras", "tensorflow", "tensorflow_core") and "keras" in name
               and name.endswith(".Model") for name in classes)  # fmt: skip


def _is_saved_model(thing: Any, classes: list[str]) -> bool:
    return hasattr(thing, "signatures") and any(name.endswith((".AutoTrackable", "._UserObject")) for name in classes)


def _is_estimator(thing: Any, classes: list[str]) -> bool:
    return _has(thing, "model_fn", "train", "evaluate")


def _is_model_fn(thing: Any, classes: list[str]) -> bool:
    return callable(thing) and not isinstance(thing, type) and {"features", "mode"} <= set(parameters(thing))


def _is_callable(thing: Any, classes: list[str]) -> bool:
    return callable(thing) and not isinstance(thing, type)


_TESTS: tuple[tuple[str, Callable[[Any, list[str]], bool]], ...] = (
    ("graph_def", _is_graph_def),
    ("meta_graph", _is_meta_graph),
    ("graph", _is_graph),
    ("concrete", _is_concrete),
    ("session", _is_session),
    ("keras", _is_keras),
    ("saved_model", _is_saved_model),
    ("function", _is_function),
    ("estimator", _is_estimator),
    ("model_fn", _is_model_fn),
    ("callable", _is_callable),
)


def _has(thing: Any, *names: str) -> bool:
    return all(callable(getattr(thing, name, None)) for name in names)


def parameters(function: Any) -> list[str]:
    """The parameter names of a function; empty if unknown."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []


def name_of(thing: Any) -> str:
    """The display name: of a function, else of its class."""
    for holder in (thing, getattr(thing, "python_function", None)):
        name = getattr(holder, "__name__", "")
        if isinstance(name, str) and name.isidentifier():
            return name
    return type(thing).__name__


# Builds the TensorFlow graph of an object. Functions are traced, never run.

Built = tuple[Any, Any]
"""A ``GraphDef``, and the TensorFlow graph that it was made from, or None."""


def built(thing: Any, kind: str, inputs: Sequence[Any], train: bool) -> Built:
    """The graph of `thing`, of a `kind` from `KINDS`. Raises what the user's code raises."""
    if kind == "graph_def":
        return thing, None
    if kind == "meta_graph":
        return thing.graph_def, None
    if kind in ("graph", "session"):
        graph = thing if kind == "graph" else thing.graph
        return graph.as_graph_def(), graph
    if kind in ("estimator", "model_fn"):
        return _of_model_fn(thing, kind, inputs, train)
    if kind in ("keras", "function", "callable"):
        inputs = unpacked(inputs)
    if kind == "callable" and not _eager():
        return _drawn(lambda: thing(*placeholders(tuple(inputs), "input")))
    return _of_functions(_functions_of_model(thing, kind, inputs, train))


def _functions_of_model(thing: Any, kind: str, inputs: Sequence[Any], train: bool) -> list[Any]:
    """The concrete functions of an object."""
    if kind == "concrete":
        return [thing]
    if kind == "saved_model":
        held = (
            function for value in vars(thing).values() for function in getattr(value, "concrete_functions", None) or ()
        )
        return list(thing.signatures.values()) or list(held)
    if kind == "keras":
        from npulint.live.tensorflow.keras_models import concrete

        return [concrete(thing, inputs, train)]
    import tensorflow as tf

    function = thing if kind == "function" else tf.function(thing)
    return [function.get_concrete_function(*specified(tuple(inputs)))]


def _of_functions(functions: Sequence[Any]) -> Built:
    """A graph that contains concrete functions, as in a SavedModel."""
    import tensorflow as tf

    graph = tf.Graph()
    for function in functions:
        function.add_to_graph(g=graph)
    return graph.as_graph_def(), graph


def _of_model_fn(thing: Any, kind: str, inputs: Sequence[Any], train: bool) -> Built:
    """The graph in which an Estimator trains or predicts. `inputs` are an ``input_fn``, or examples of features and
    labels."""
    function = thing.model_fn if kind == "estimator" else thing
    mode = "train" if train else "infer"
    accepted = parameters(function)
    more: dict[str, Any] = {"mode": mode}
    more |= {"params": getattr(thing, "params", {})} if "params" in accepted else {}
    more |= {"config": getattr(thing, "config", None)} if "config" in accepted else {}

    def draw() -> None:
        import tensorflow as tf

        tf.compat.v1.train.get_or_create_global_step()
        features, labels = _fed(inputs)
        function(features, *([labels] if "labels" in accepted else []), **more)

    return _drawn(draw)


def _fed(inputs: Sequence[Any]) -> tuple[Any, Any]:
    """Features and labels: those of an ``input_fn`` or a dataset, or placeholders like the examples."""
    if len(inputs) == 1 and is_dataset(inputs[0]):
        inputs = unpacked(inputs)
    if len(inputs) == 1 and callable(inputs[0]):
        produced = next_of(inputs[0]())
        return produced if isinstance(produced, tuple) and len(produced) == 2 else (produced, None)
    features = placeholders(inputs[0], "features") if inputs else None
    return features, placeholders(inputs[1], "labels") if len(inputs) > 1 else None


def _drawn(draw: Callable[[], object]) -> Built:
    """The graph that `draw` builds in an empty one."""
    import tensorflow as tf

    graph = tf.Graph()
    with graph.as_default():
        draw()
    return graph.as_graph_def(), graph


def _eager() -> bool:
    import tensorflow as tf

    return bool(tf.executing_eagerly())


# Converts a TensorFlow graph to the neutral record, with the source lines of its nodes.


def recorded(graph_def: Any, graph: Any, version: str) -> Graph:
    """The record of a ``GraphDef``. `graph` is the TensorFlow graph it was made from, which has the tracebacks, or
    None. Raises `npulint.graphs.read.errors.GraphError`."""
    read = read_binary("graph_def", "", graph_def.SerializeToString())
    traced = {} if graph is None else _traces(graph)
    return Graph("live_tensorflow", [_traced(body, traced.get(body.name, {})) for body in read.bodies], version)


def _traced(body: Body, frames: Frames) -> Body:
    nodes = [msgspec.structs.replace(node, frames=frames.get(node.name, ())) for node in body.nodes]
    return msgspec.structs.replace(body, nodes=nodes)


def _traces(graph: Any) -> dict[str, Frames]:
    """The frames of all operators by the name of their body (empty: the main one)."""
    bodies = {name: _frames(inner) for name, inner in _functions(graph).items()}
    return {**bodies, "": _frames(graph)}


def _functions(graph: Any) -> dict[str, Any]:
    """The graphs of all functions in a graph, by name."""
    functions: dict[str, Any] = {}
    queue = [graph]
    while queue:
        for name, inner in _inner(queue.pop()):
            if name not in functions:
                functions[name] = inner
                queue.append(inner)
    return functions


def _inner(graph: Any) -> Iterator[tuple[str, Any]]:
    """The functions of one graph. TensorFlow 1.15 and 2 have them in the same attribute, as different classes with
    different names for their graph."""
    functions = getattr(graph, "_functions", None)
    for name, function in dict(functions or {}).items():
        inner = getattr(function, "graph", None) or getattr(function, "_sub_graph", None)
        if inner is not None and hasattr(inner, "get_operations"):
            yield name.decode() if isinstance(name, bytes) else str(name), inner


def _frames(graph: Any) -> Frames:
    """The user frames of every operator; of gradients, those of their forward operators. Stacks are shared, so each is
    processed once."""
    by_stack: dict[Any, tuple[NodeFrame, ...]] = {}
    frames: Frames = {}
    inputs: dict[str, tuple[str, ...]] = {}
    for operator in graph.get_operations():
        traceback = operator.traceback or ()
        # the object of TensorFlow 2 compares by its frames, without making them
        key = tuple(traceback) if isinstance(traceback, (list, tuple)) else traceback
        if key not in by_stack:
            by_stack[key] = own_frames(NodeFrame(path, line, function) for path, line, function in _stack(traceback))
        frames[operator.name] = by_stack[key]
        inputs[operator.name] = tuple(tensor.op.name for tensor in operator.inputs)
    return frames | gradient_frames(frames, inputs)


def _stack(traceback: Any) -> Iterator[tuple[str, int, str]]:
    """The frames of a traceback, outermost first; none for operators made in C++. TensorFlow 1.15 has tuples, 2
    objects."""
    for entry in traceback:
        if isinstance(entry, tuple):
            path, line, function = entry[:3]
        else:
            path, line, function = entry.filename, entry.lineno, entry.name
        yield str(path), int(line or 0), str(function)


def check_tensorflow(
    obj: Any,
    *inputs: Any,
    train: bool = True,
    name: str = "",
    target: Mapping[str, str] | None = None,
    lang: str = "",
    root: str = "",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> LiveResult:
    """The result of checking the graph that `obj` holds or builds. Functions are traced, nothing is run.

    `obj` is a ``tf.Graph``, ``GraphDef``, ``MetaGraphDef``, ``tf.compat.v1.Session``, ``ConcreteFunction``,
    ``tf.function``, a plain function, a Keras model, a loaded SavedModel, an Estimator or a ``model_fn``. `inputs` are
    example arguments (arrays, tensors, ``TensorSpec``): of a Keras model x, y and sample weights, of a ``model_fn``
    features and labels, or an ``input_fn``; a ``tf.data.Dataset`` alone stands for the parts of its elements. With
    `train` models build a training step. `target` are declared versions (``{"cann": "8.0", "soc": "910B"}``),
    overriding the configuration; `lang` is ``en`` or ``zh``; `root` is the project folder (default: detected); `select`
    and `ignore` are checks.

    Raises `TypeError` for an object without graph, `npulint.core.errors.ConfigError` for invalid options, and what the
    user's code raises while its graph is built.
    """
    kind = "" if isinstance(obj, (str, bytes, os.PathLike)) else kind_of(obj)
    if not kind:
        key = "live.path" if isinstance(obj, (str, bytes, os.PathLike)) else "live.no-graph"
        raise TypeError(say("zh" if lang == "zh" else "en", key, name=repr(obj)))
    graph_def, graph = built(obj, kind, inputs, train)
    return judged(
        recorded(graph_def, graph, _version()),
        name=name or name_of(obj),
        target=target,
        lang=lang,
        root=root,
        select=select,
        ignore=ignore,
    )


def _version() -> str:
    import tensorflow as tf

    return str(tf.__version__)

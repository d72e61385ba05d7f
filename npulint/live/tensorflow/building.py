"""Builds the TensorFlow graph of an object. Functions are traced, never run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from npulint.live.tensorflow.examples import is_dataset, next_of, placeholders, specified, unpacked
from npulint.live.tensorflow.kinds import parameters

Built = tuple[Any, Any]
"""A ``GraphDef``, and the TensorFlow graph that it was made from, or None."""


def built(thing: Any, kind: str, inputs: Sequence[Any], train: bool) -> Built:
    """The graph of `thing`, of a `kind` from `npulint.live.tensorflow.kinds`. Raises what the user's code raises."""
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
    return _of_functions(_functions(thing, kind, inputs, train))


def _functions(thing: Any, kind: str, inputs: Sequence[Any], train: bool) -> list[Any]:
    """The concrete functions of an object."""
    if kind == "concrete":
        return [thing]
    if kind == "saved_model":
        held = (one for value in vars(thing).values() for one in getattr(value, "concrete_functions", None) or ())
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

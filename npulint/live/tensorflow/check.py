"""Live checks of TensorFlow: the graph of any object that has one, with user code lines."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from npulint.core.texts import say
from npulint.live.judge import judged
from npulint.live.result import LiveResult
from npulint.live.tensorflow.building import built
from npulint.live.tensorflow.kinds import kind_of, name_of
from npulint.live.tensorflow.traces import recorded


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

"""Classifies the object to check without importing TensorFlow, by its attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

KINDS = "graph graph_def meta_graph session concrete function keras saved_model estimator model_fn callable".split()
"""The results of `kind_of`."""


def kind_of(thing: Any) -> str:
    """One of `KINDS`; empty for an object without graph."""
    classes = [f"{one.__module__}.{one.__qualname__}" for one in type(thing).__mro__]
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

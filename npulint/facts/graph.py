"""A graph as its file holds it: operators, what they take and where they come from; no tensor contents.

The same record for every form, so that what is said of graphs does not know how they were stored.
"""

from __future__ import annotations

from typing import Any

import msgspec

TENSORFLOW_FORMS = ("graph_def", "meta_graph", "saved_model", "live_tensorflow")


class NodeFrame(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A place in the source code that made a node. `path` is as the machine that made the graph spells it: it is
    matched with the files of the project by its end, never printed."""

    path: str
    line: int
    function: str = ""


class Node(msgspec.Struct, frozen=True, array_like=True):
    """One operator of a graph.

    `op` is its type: ``MatMul``, ``aten.add.Tensor`` (namespace, name, overload). `inputs` are written as TensorFlow
    does: ``name``, ``name:1`` for the second output, ``^name`` for control. `attrs` hold plain values: element
    types as words (``float16``), shapes as lists (-1: unknown dimension, None: unknown rank), functions by name,
    tensors as {"dtype", "shape"}, with their "value" if it is a single number. Nodes of PyTorch have ``dtypes`` and
    ``shapes``, one of each for every output, a symbolic size as text (``s0``; ``u0`` is told by values alone), and
    ``arguments`` by name (of TorchScript by position, for it tells no names). What an exported program is given from
    outside are its nodes ``placeholder``, with their ``kind`` (parameter, buffer, user_input …).
    `line` is where the graph's own file has it (0: it is binary), `frames` the source code that made it, the innermost
    last. `phase` of a recorded step: forward, backward, optimizer or empty. `count`: how often it ran.
    """

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    attrs: dict[str, Any] = {}
    line: int = 0
    frames: tuple[NodeFrame, ...] = ()
    phase: str = ""
    count: int = 1


class Body(msgspec.Struct, frozen=True):
    """The nodes of the main graph (`name` is empty) or of a function of it. `serves`: the node of another body, as
    ``body/node``, that this is a branch or loop body of, where the form nests them."""

    name: str
    nodes: list[Node]
    serves: str = ""


class Graph(msgspec.Struct, frozen=True):
    """One graph. `form` is a word of TENSORFLOW_FORMS, exported_program, torchscript or live_torch. `version` is that
    of the framework that made it, where it says so. `tags` are those of a SavedModel. `collections` are the names of a
    MetaGraph's collections with the number of their members (``queue_runners``, ``train_op``, …); of an exported
    program, how many inputs and outputs of each kind it has (``parameter``, ``buffer_mutation``,
    ``gradient_to_parameter``, …), and ``scalar_output`` if what it gives first is a single floating-point number."""

    form: str
    bodies: list[Body]
    version: str = ""
    tags: tuple[str, ...] = ()
    collections: dict[str, int] = {}

    @property
    def framework(self) -> str:
        """``tensorflow`` or ``torch``."""
        return "tensorflow" if self.form in TENSORFLOW_FORMS else "torch"

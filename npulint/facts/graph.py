"""A graph as its file stores it: operators, their inputs and source locations, without tensor contents.

All file formats share this record, so rules on graphs do not depend on how a graph was stored."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

TENSORFLOW_FORMS = ("graph_def", "meta_graph", "saved_model", "live_tensorflow")


class NodeFrame(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A source location that created a node. `path` is spelled as on the machine that made the graph: it is matched
    with the files of the project by its last parts and never printed."""

    path: str
    line: int
    function: str = ""


class Node(msgspec.Struct, frozen=True, array_like=True):
    """One operator of a graph.

    `op` is its type: ``MatMul``, ``aten.add.Tensor`` (namespace, name, overload). `inputs` are written as TensorFlow
    does: ``name``, ``name:1`` for the second output, ``^name`` for control. `attrs` hold plain values: element types as
    text (``float16``), shapes as lists (-1: unknown dimension, None: unknown rank), functions by name, tensors as
    {"dtype", "shape"}, with their "value" if it is a single number. Nodes of PyTorch have ``dtypes`` and ``shapes``,
    one per output, with symbolic sizes as text (``s0``; ``u0`` if it depends on data), and ``arguments`` by name (by
    position for TorchScript, which stores no names). The inputs of an exported program are nodes ``placeholder`` with a
    ``kind`` (parameter, buffer, user_input …).

    `line` is the line in the graph's own file (0: binary file), `frames` the source locations that created the node,
    innermost last. `phase` of a recorded step: forward, backward, optimizer or empty. `count`: how often it ran."""

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    attrs: dict[str, Any] = {}
    line: int = 0
    frames: tuple[NodeFrame, ...] = ()
    phase: str = ""
    count: int = 1


class Body(msgspec.Struct, frozen=True):
    """The nodes of the main graph (`name` is empty) or of one of its functions. `serves`: the node, as ``body/node``,
    whose branch or loop body this is, in formats that nest them."""

    name: str
    nodes: list[Node]
    serves: str = ""


class Graph(msgspec.Struct, frozen=True):
    """One graph. `form` is one of TENSORFLOW_FORMS, exported_program, torchscript, live_torch or onnx. `version` is
    that of the framework that wrote the file, where recorded (``2.x`` if only the major one is known); with ONNX after
    its name. `tags` are those of a SavedModel. `collections`: sizes of a MetaGraph's collections by name
    (``queue_runners``, ``train_op``, …); of an exported program, the number of inputs and outputs of each kind
    (``parameter``, ``buffer_mutation``, ``gradient_to_parameter``, …), and ``scalar_output`` if the first output is a
    single floating-point number; of an ONNX model the opset of each domain (``opset:ai.onnx``) and the
    ``ir_version``."""

    form: str
    bodies: list[Body]
    version: str = ""
    tags: tuple[str, ...] = ()
    collections: dict[str, int] = {}

    @property
    def framework(self) -> Literal["tensorflow", "torch", "onnx"]:
        """``tensorflow``, ``torch``, or ``onnx`` for a model in the exchange format."""
        if self.form == "onnx":
            return "onnx"
        return "tensorflow" if self.form in TENSORFLOW_FORMS else "torch"


class NodeNames:
    """Gives the recorded nodes of a step names of their own: ``add``, ``add_1`` for ``aten.add.Tensor``."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def of(self, op: str) -> str:
        """The name of the next node of an operator."""
        base = op.split(".")[1] if "." in op else op
        number = self._counts[base] = self._counts.get(base, 0) + 1
        return base if number == 1 else f"{base}_{number - 1}"

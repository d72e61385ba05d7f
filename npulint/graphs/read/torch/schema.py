"""The required parts of an exported program's JSON; everything else is skipped.

Unions are objects with one of several keys (``{"as_tensor": …}``): here a record whose other fields stay unset. Source
of the fields: torch/_export/serde/schema.py of PyTorch 2.1 to 2.13."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType


class Named(Struct, frozen=True, gc=False):
    """A tensor, token or object by its name in the graph."""

    name: str


class Expression(Struct, frozen=True, gc=False):
    """A symbolic number in SymPy's notation, or in a readable one in older releases."""

    expr_str: str


class Symbolic(Struct, frozen=True, gc=False):
    """A number that may be symbolic."""

    as_expr: Expression | UnsetType = UNSET
    as_int: int | UnsetType = UNSET


class SymArgument(Struct, frozen=True, gc=False):
    """A number that may be the value of a node."""

    as_name: str | UnsetType = UNSET
    as_int: int | UnsetType = UNSET
    as_float: float | UnsetType = UNSET
    as_bool: bool | UnsetType = UNSET


class OptionalTensor(Struct, frozen=True, gc=False):
    """A tensor or None in a list."""

    as_tensor: Named | str | UnsetType = UNSET  # only its name in releases before 2.4


class Device(Struct, frozen=True, gc=False):
    """Where a tensor lives."""

    type: str


class Argument(Struct, frozen=True):
    """An input or output of a node."""

    as_tensor: Named | UnsetType = UNSET
    as_tensors: list[Named] | UnsetType = UNSET
    as_nested_tensors: list[list[Named]] | UnsetType = UNSET
    as_optional_tensor: OptionalTensor | UnsetType = UNSET
    as_optional_tensors: list[OptionalTensor] | UnsetType = UNSET
    as_int: int | UnsetType = UNSET
    as_ints: list[int] | UnsetType = UNSET
    as_float: float | str | UnsetType = UNSET  # a text if infinite or NaN
    as_floats: list[float | str] | UnsetType = UNSET
    as_string: str | UnsetType = UNSET
    as_strings: list[str] | UnsetType = UNSET
    as_bool: bool | UnsetType = UNSET
    as_bools: list[bool] | UnsetType = UNSET
    as_sym_int: SymArgument | UnsetType = UNSET
    as_sym_ints: list[SymArgument] | UnsetType = UNSET
    as_sym_bool: SymArgument | UnsetType = UNSET
    as_sym_bools: list[SymArgument] | UnsetType = UNSET
    as_sym_float: SymArgument | UnsetType = UNSET
    as_sym_floats: list[SymArgument] | UnsetType = UNSET
    as_scalar_type: int | UnsetType = UNSET
    as_memory_format: int | UnsetType = UNSET
    as_layout: int | UnsetType = UNSET
    as_device: Device | UnsetType = UNSET
    as_custom_obj: Named | UnsetType = UNSET
    as_token: Named | UnsetType = UNSET
    as_graph: GraphArgument | UnsetType = UNSET
    as_string_to_argument: dict[str, Argument] | UnsetType = UNSET


class NamedArgument(Struct, frozen=True):
    """An argument with its name in the operator's schema; empty for operators without one."""

    arg: Argument
    name: str = ""


class Metadata(Struct, frozen=True, gc=False):
    """The origin of a node."""

    stack_trace: str = ""


class Operation(Struct, frozen=True):
    """A node. `name` is missing in older releases."""

    target: str
    inputs: list[NamedArgument] = []
    outputs: list[Argument] = []
    metadata: Metadata = Metadata()
    name: str | None = None


class TensorMeta(Struct, frozen=True):
    """The properties of a tensor."""

    dtype: int
    sizes: list[Symbolic] = []
    requires_grad: bool = False
    device: Device | UnsetType = UNSET
    layout: int = 7


class GraphRecord(Struct, frozen=True):
    """Nodes, and the properties of their values by name."""

    nodes: list[Operation]
    inputs: list[Argument] = []
    outputs: list[Argument] = []
    tensor_values: dict[str, TensorMeta] = {}


class GraphArgument(Struct, frozen=True):
    """A nested graph that a node takes: a branch, the body of a loop."""

    name: str
    graph: GraphRecord


class SpecValue(Struct, frozen=True, gc=False):
    """The name of the value of a program input or output."""

    name: str = ""
    as_tensor: Named | UnsetType = UNSET
    as_sym_int: SymArgument | UnsetType = UNSET
    as_sym_float: SymArgument | UnsetType = UNSET
    as_sym_bool: SymArgument | UnsetType = UNSET
    as_custom_obj: Named | UnsetType = UNSET


class Spec(Struct, frozen=True, gc=False):
    """The kind of a program input or output. Constants have no `arg` but a `name`."""

    arg: SpecValue | UnsetType = UNSET
    name: str = ""
    parameter_name: str = ""
    buffer_name: str = ""
    tensor_constant_name: str = ""
    custom_obj_name: str = ""
    user_input_name: str = ""


class BackwardSignature(Struct, frozen=True, gc=False):
    """The outputs of a training step, as 2.1 writes them."""

    loss_output: str = ""
    gradients_to_parameters: dict[str, str] = {}
    gradients_to_user_inputs: dict[str, str] = {}


class Signature(Struct, frozen=True):
    """The program inputs and outputs by kind (``parameter``, ``buffer``, ``loss_output`` …); the other fields are those
    of 2.1."""

    input_specs: list[dict[str, Spec]] = []
    output_specs: list[dict[str, Spec]] = []
    inputs_to_parameters: dict[str, str] = {}
    inputs_to_buffers: dict[str, str] = {}
    buffers_to_mutate: dict[str, str] = {}
    user_inputs: list[str | int | float | bool | None] = []
    user_outputs: list[str | int | float | bool | None] = []
    backward_signature: BackwardSignature | None = None


class GraphModule(Struct, frozen=True):
    """A graph with its signature."""

    graph: GraphRecord
    signature: Signature = Signature()


class Program(Struct, frozen=True):
    graph_module: GraphModule
    torch_version: str = ""

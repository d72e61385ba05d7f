"""Programs of torch.export: the ``.pt2`` archive, or its extracted JSON member with the graph.

Only that member is read, never pickled data. Layouts: ``<name>/models/<model>.json`` (PyTorch 2.8 and later, several
models), ``serialized_exported_program.json`` (2.1 to 2.7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import UNSET

from npulint.discover.graphs import EXPORTED_MEMBER
from npulint.discover.safe_open import TooLargeError, read_head, read_regular
from npulint.facts.graph import Body, Graph, Node
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.torch.archive import MEMBER, ZIP, Archive, shown
from npulint.graphs.read.torch.nodes import PLACEHOLDER, Converter
from npulint.graphs.read.torch.schema import Program, Signature, Spec, SpecValue

# The kinds of inputs and outputs of an exported program: parameters, buffers, gradients.

_GRADIENTS = ("gradient_to_parameter", "gradient_to_user_input")


def input_kinds(signature: Signature) -> dict[str, dict[str, str]]:
    """Attributes by input name: its ``kind`` (parameter, buffer, user_input, tensor_constant, custom_obj …) and, where
    it has one, its name in the model as ``target``."""
    kinds = {}
    for kind, spec in _each(signature.input_specs):
        target = spec.parameter_name or spec.buffer_name or spec.tensor_constant_name or spec.custom_obj_name
        kinds[_name(spec)] = {"kind": kind} | ({"target": target[:256]} if target else {})
    kinds |= {name: {"kind": "parameter", "target": to} for name, to in signature.inputs_to_parameters.items()}
    kinds |= {name: {"kind": "buffer", "target": to} for name, to in signature.inputs_to_buffers.items()}
    kinds |= {name: {"kind": "user_input"} for name in signature.user_inputs if isinstance(name, str)}
    mutated = {spec.buffer_name or spec.parameter_name for kind, spec in _each(signature.output_specs) if "mut" in kind}
    mutated |= set(signature.buffers_to_mutate.values())
    mutated.discard("")
    changed = {spec.user_input_name for kind, spec in _each(signature.output_specs) if kind == "user_input_mutation"}
    for name, attributes in kinds.items():
        if name in changed or attributes.get("target", "") in mutated:
            attributes["mutated"] = "yes"
    return kinds


def counts(signature: Signature) -> dict[str, int]:
    """The number of inputs and outputs of each kind."""
    kinds = Counter(kind for kind, _ in [*_each(signature.input_specs), *_each(signature.output_specs)])
    backward = signature.backward_signature
    for kind, number in (
        ("parameter", len(signature.inputs_to_parameters)),
        ("buffer", len(signature.inputs_to_buffers)),
        ("user_input", len(signature.user_inputs)),
        ("user_output", len(signature.user_outputs)),
        ("buffer_mutation", len(signature.buffers_to_mutate)),
        ("loss_output", int(backward is not None and bool(backward.loss_output))),
        ("gradient_to_parameter", len(backward.gradients_to_parameters) if backward else 0),
        ("gradient_to_user_input", len(backward.gradients_to_user_inputs) if backward else 0),
    ):
        kinds[kind] += number
    return {kind[:64]: number for kind, number in sorted(kinds.items())[:64] if number}


def outputs(signature: Signature) -> tuple[list[str], list[str]]:
    """The names of the outputs that are not gradients, and of those that are."""
    specs = list(_each(signature.output_specs))
    plain = [_name(spec) for kind, spec in specs if kind not in _GRADIENTS]
    gradients = [_name(spec) for kind, spec in specs if kind in _GRADIENTS]
    backward = signature.backward_signature
    if backward is not None:
        plain += [name for name in signature.user_outputs if isinstance(name, str)]
        gradients += [*backward.gradients_to_parameters, *backward.gradients_to_user_inputs]
    gradient_names = set(gradients)
    return [name for name in plain if name not in gradient_names], gradients


def first_output(signature: Signature) -> str:
    """The name of the first user output; empty if it is no tensor."""
    user_outputs = (
        _name(spec) for kind, spec in _each(signature.output_specs) if kind in ("user_output", "loss_output")
    )
    older = (name for name in signature.user_outputs if isinstance(name, str))
    return next(user_outputs, "") or next(older, "")


def _each(specs: list[dict[str, Spec]]) -> Iterator[tuple[str, Spec]]:
    for spec in specs:
        yield from spec.items()


def _name(spec: Spec) -> str:
    value = spec.arg
    return spec.name if value is UNSET else _of_value(value)


def _of_value(value: SpecValue) -> str:
    for named in (value.as_tensor, value.as_custom_obj):
        if named is not UNSET:
            return named.name
    for symbol in (value.as_sym_int, value.as_sym_float, value.as_sym_bool):
        if symbol is not UNSET and symbol.as_name is not UNSET:
            return symbol.as_name
    return value.name


# Assigns nodes of a whole exported training step to forward or backward.


def with_phases(bodies: list[Body], forward: Iterable[str], gradients: Iterable[str]) -> list[Body]:
    """The bodies of one program, main body first, with ``phase`` set: backward for nodes that only its `gradients`
    need, else forward. `forward` and `gradients` name nodes of the main body."""
    main = bodies[0]
    ahead = _ancestors(main.nodes, forward)
    behind = _ancestors(main.nodes, gradients) - ahead
    phases = {main.name: {node.name: "backward" if node.name in behind else "forward" for node in main.nodes}}
    phased = []
    for body in bodies:
        if body is not main:
            outer, _, node = body.serves.rpartition("/")
            phase = phases.get(outer, {}).get(node, "forward")
            phases[body.name] = {body_node.name: phase for body_node in body.nodes}
        phase_of = phases[body.name]
        nodes = [msgspec.structs.replace(body_node, phase=phase_of[body_node.name]) for body_node in body.nodes]
        phased.append(msgspec.structs.replace(body, nodes=nodes))
    return phased


def _ancestors(nodes: list[Node], names: Iterable[str]) -> set[str]:
    takes = {node.name: node.inputs for node in nodes}
    seen: set[str] = set()
    queue = list(names)
    while queue:
        name = queue.pop()
        if name not in seen and name in takes:
            seen.add(name)
            queue += [take.partition(":")[0] for take in takes[name]]
    return seen


SCALAR = "scalar_output"
"""The key in `Graph.collections` for programs whose first output is a single floating-point number."""

_MODELS = 256
_FLOATS = frozenset(("float32", "float16", "bfloat16", "float64"))
_MARKS = ((b"{", 1_000_000), (b"[", 1_000_000), (b",", 3_000_000))
"""Maximum occurrences of these bytes, each of which may take some hundred bytes of memory."""


def read_exported(location: str, content: bytes | None) -> Graph:
    """The graph of an exported program in a file, or in `content` instead. Inputs are nodes with the operator
    ``placeholder``; `Graph.collections` counts the inputs and outputs by kind (``parameter``, ``buffer_mutation``,
    ``gradient_to_parameter`` …). With several models, the bodies are named after them. Raises `GraphError`, and
    `OSError` if the file cannot be read."""
    made = _Making()
    if content is None and read_head(location, len(ZIP)) == ZIP:
        _add_archive(location, made)
        return made.graph()
    if content is None:
        try:
            content = read_regular(location, MEMBER)
        except TooLargeError:
            raise GraphError("graph-too-large", f"more than {MEMBER} bytes") from None
    made.add("", decoded(content, ""))
    return made.graph()


def _add_archive(location: str, made: _Making) -> None:
    with Archive(location) as archive:
        members = archive.chosen(lambda name: EXPORTED_MEMBER.search(name) is not None)
        if not members:
            raise GraphError("not-a-graph", "archive without an exported program")
        if len(members) > _MODELS:
            raise GraphError("graph-too-large", f"{len(members)} models")
        names = [member.filename.rpartition("/")[2].removesuffix(".json") for member in members]
        for member, name in zip(members, names, strict=True):
            made.add(name if len(members) > 1 else "", decoded(archive.read(member), shown(member.filename)))


def decoded(data: bytes, member: str) -> Program:
    """The program in a member."""
    begin = f"{member}: " if member else ""
    if len(data) > MEMBER or any(data.count(mark) > most for mark, most in _MARKS):
        raise GraphError("graph-too-large", f"{begin}{len(data)} bytes")
    try:
        return _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise GraphError("graph-damaged", f"{begin}{error}") from None
    except RecursionError:
        raise GraphError("graph-damaged", f"{begin}nested too deeply") from None


class _Making:
    """A graph under construction, of one or several programs."""

    def __init__(self) -> None:
        self._converter = Converter()
        self._bodies: list[Body] = []
        self._counts: dict[str, int] = {}
        self._versions: set[str] = set()

    def add(self, name: str, program: Program) -> None:
        """Add a program."""
        signature, converter = program.graph_module.signature, self._converter
        bodies = converter.bodies(program.graph_module.graph, name, input_kinds(signature))
        plain, gradients = outputs(signature)
        if gradients:
            bodies = with_phases(bodies, _givers(plain, converter), _givers(gradients, converter))
        self._bodies += bodies
        if bodies and _is_number(bodies[0], converter.sources.get(first_output(signature), "")):
            self._counts[SCALAR] = self._counts.get(SCALAR, 0) + 1
        for kind, number in counts(signature).items():
            self._counts[kind] = self._counts.get(kind, 0) + number
        if not program.torch_version.startswith("<"):  # the default for 2.4 and older
            self._versions.add(program.torch_version[:64])

    def graph(self) -> Graph:
        return Graph("exported_program", self._bodies, max(self._versions, default=""), (), self._counts)


def _is_number(body: Body, value: str) -> bool:
    """Whether a value is a single floating-point number, as losses are."""
    name, _, place = value.partition(":")
    node = next((candidate for candidate in reversed(body.nodes) if candidate.name == name), None)
    if node is None or node.op == PLACEHOLDER:
        return False
    at = int(place or 0)
    shapes, types = (node.attrs.get(word, ()) for word in ("shapes", "dtypes"))
    return at < min(len(shapes), len(types)) and shapes[at] == [] and types[at] in _FLOATS


def _givers(values: list[str], converter: Converter) -> list[str]:
    return [converter.sources.get(value, value).partition(":")[0] for value in values]


_DECODER = msgspec.json.Decoder(Program)

"""Programs of torch.export: the ``.pt2`` archive, or its extracted JSON member with the graph.

Only that member is read, never pickled data. Layouts: ``<name>/models/<model>.json`` (PyTorch 2.8 and later, several
models), ``serialized_exported_program.json`` (2.1 to 2.7)."""

from __future__ import annotations

import msgspec

from npulint.discover.graphs import EXPORTED_MEMBER
from npulint.discover.safe_open import TooLargeError, read_head, read_regular
from npulint.facts.graph import Body, Graph
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.torch.archive import MEMBER, ZIP, Archive, shown
from npulint.graphs.read.torch.nodes import PLACEHOLDER, Converter
from npulint.graphs.read.torch.phases import with_phases
from npulint.graphs.read.torch.schema import Program
from npulint.graphs.read.torch.signature import counts, first_output, input_kinds, outputs

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
    node = next((one for one in reversed(body.nodes) if one.name == name), None)
    if node is None or node.op == PLACEHOLDER:
        return False
    at = int(place or 0)
    shapes, types = (node.attrs.get(word, ()) for word in ("shapes", "dtypes"))
    return at < min(len(shapes), len(types)) and shapes[at] == [] and types[at] in _FLOATS


def _givers(values: list[str], converter: Converter) -> list[str]:
    return [converter.sources.get(value, value).partition(":")[0] for value in values]


_DECODER = msgspec.json.Decoder(Program)

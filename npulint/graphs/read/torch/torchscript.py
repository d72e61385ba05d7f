"""TorchScript archives: the operators called in their code.

Only ``code/**/*.py`` and its source tables are read; weights, constants and the model object are pickles and not
opened. Each function or method is a body, named as in the code. Operators have no overload (``aten.add``), and element
types only where the code contains them. Branches and loops are the nodes ``prim.If`` and ``prim.Loop``; nodes in them
have the attribute ``within``. Calls between functions are no nodes: operators in methods of PyTorch's own modules get
the frames of the first caller."""

from __future__ import annotations

import zipfile

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.discover.graphs import CODE_MEMBER
from npulint.facts.graph import Body, Graph, Node, NodeFrame
from npulint.graphs.read.errors import GraphError
from npulint.graphs.read.torch.archive import Archive
from npulint.graphs.read.torch.frames import kept
from npulint.graphs.read.torch.nodes import NODES, unused
from npulint.graphs.read.torch.script.body import Content, ScriptCallee, ScriptModule, content, read_module
from npulint.graphs.read.torch.script.ranges import Ranges

_MANGLED = lazy_compile(r"___torch_mangle_\d+\.")
_CODE = 3 * 1024 * 1024
"""Maximum bytes of code: the largest models have some hundred thousand."""

_TABLES = 8 * 1024 * 1024
"""Maximum bytes of source tables; operators beyond have no lines."""

_FILES = 100_000
_CHAIN = 32
_NAME = 512


def read_torchscript(location: str) -> Graph:
    """The graph of a TorchScript archive. Raises `GraphError`, and `OSError` if the file cannot be read."""
    modules: dict[str, ScriptModule] = {}
    contents: dict[str, Content] = {}
    names: dict[str, int] = {}
    with Archive(location) as archive:
        members = archive.chosen(lambda name: CODE_MEMBER.search(name) is not None)
        if len(members) > _FILES or sum(member.file_size for member in members) > _CODE:
            raise GraphError("graph-too-large", f"{len(members)} files of code")
        tables = {
            debug_member.filename: debug_member
            for debug_member in archive.chosen(lambda name: name.endswith(".py.debug_pkl"))
        }
        room, most = _TABLES, NODES
        for member in members:
            table = tables.get(f"{member.filename}.debug_pkl")
            room -= 0 if table is None else table.file_size
            ranges = Ranges(archive.read(table) if table is not None and room >= 0 else b"")
            name = _dotted(member)
            module = modules[name] = read_module(archive.read(member), name)
            for function in module.functions:
                held = contents[unused(function.name, names)] = content(function, ranges, most)
                most -= len(held.nodes)
                function.lines.clear()
    if not contents:
        raise GraphError("not-a-graph", "archive without code")
    return Graph("torchscript", _bodies(contents, _callers(contents, modules)))


def _dotted(member: zipfile.ZipInfo) -> str:
    """The module name of a code file, one byte per character as in the code."""
    path = member.filename.split("/code/", 1)[1]
    return path.removesuffix(".py").replace("/", ".").encode("utf-8", "replace").decode("latin-1")


def _callers(contents: dict[str, Content], modules: dict[str, ScriptModule]) -> dict[str, tuple[str, ScriptCallee]]:
    """The first caller of each function by name, and the call."""
    attributes = {name: types for module in modules.values() for name, types in module.attributes.items()}
    callers: dict[str, tuple[str, ScriptCallee]] = {}
    for caller, held in contents.items():
        for use in held.uses:
            callee = use.name if not use.owner else _method(use, attributes)
            if callee in contents and callee != caller:
                callers.setdefault(callee, (caller, use))
    return callers


def _method(use: ScriptCallee, attributes: dict[str, dict[str, str]]) -> str:
    """The qualified name of a called method, by the attribute types on the path to its object."""
    owner = use.owner
    for part in use.attribute.split(".") if use.attribute else ():
        owner = attributes.get(owner, {}).get(part, "")
    return f"{owner}.{use.name}"


def _bodies(contents: dict[str, Content], callers: dict[str, tuple[str, ScriptCallee]]) -> list[Body]:
    names: dict[str, int] = {}
    bodies = []
    for name, held in contents.items():
        around = _chain(name, callers)
        nodes = [_within(node, around) for node in held.nodes] if around else held.nodes
        if nodes:
            bodies.append(Body(unused(_short(name)[:_NAME], names), nodes))
    return bodies


def _chain(name: str, callers: dict[str, tuple[str, ScriptCallee]]) -> tuple[NodeFrame, ...]:
    """The source locations of the callers of a function, outermost first."""
    node_frames: tuple[NodeFrame, ...] = ()
    for _ in range(_CHAIN):
        if name not in callers:
            break
        name, use = callers[name]
        node_frames = use.frames + node_frames
    return kept(list(node_frames))


def _within(node: Node, around: tuple[NodeFrame, ...]) -> Node:
    """The node with the frames of callers (`around`) added, unless its own are complete, as those of tracing are."""
    frames = node.frames if len(node.frames) > 1 else around + node.frames
    return msgspec.structs.replace(node, frames=frames)


def _short(name: str) -> str:
    """The name of a body without the parts that only make classes unique."""
    return _MANGLED.sub("", name.removeprefix("__torch__.")).encode("latin-1", "replace").decode("utf-8", "replace")

"""Other names of the options of a program, with all that reads and passes them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from scripts.metamorphic_changes.scopes import text_constants
from scripts.metamorphic_changes.source import Edit, Program, Source, Variant

_LAUNCHERS = (".sh", ".bash", ".slurm")
_OF_LAUNCHERS = frozenset("local_rank local-rank node_rank nproc_per_node master_addr master_port help".split())
"""Options that programs which start others pass by themselves."""
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
_WHOLE = re.compile(r"--([A-Za-z][\w-]*)")
_BY_TEXT = frozenset(("vars", "getattr", "setattr", "hasattr", "__dict__", "set_defaults", "Namespace", "namedtuple"))


def renamed_option(program: Program) -> Iterator[Variant]:
    """An option of argparse has another name, and so have its reads and the launchers that pass it."""
    declared = [(source, call) for source in program.sources.values() for call in _declarations(source)]
    if not declared or program.words & _BY_TEXT:
        return
    for source, call in declared:
        literal = _long_option(call)
        if literal is None:
            continue
        option = _text(literal)[2:]
        explicit = any(keyword.arg == "dest" for keyword in call.keywords)
        name = option.replace("-", "_")
        if option in _OF_LAUNCHERS or sum(_declares(other, option) for _, other in declared) > 1:
            continue
        new = program.new_name("renamed_option")
        edits = _edits(program, source, literal, new, None if explicit else name)
        if edits is not None:
            yield Variant(source.location(call), tuple(edits), names={new: name})


def _declarations(source: Source) -> Iterator[ast.Call]:
    for node in source.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            yield node


def _text(node: ast.expr) -> str:
    """The text of a constant; empty for everything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _long_option(call: ast.Call) -> ast.expr | None:
    """The text of the only long name of an option; None without a single one."""
    long = [value for value in call.args if _text(value).startswith("--")]
    readable = len(long) == 1 and all(map(_text, call.args)) and _WHOLE.fullmatch(_text(long[0]))
    return long[0] if readable else None


def _declares(call: ast.Call, option: str) -> bool:
    names = {_text(value).lstrip("-").replace("-", "_") for value in call.args}
    return option.replace("-", "_") in names


def _edits(program: Program, source: Source, literal: ast.expr, new: str, name: str | None) -> list[Edit] | None:
    """All edits, with `name` as that of the attribute (None: it is chosen otherwise and stays)."""
    option = _text(literal)[2:]
    edits = [source.replace(literal, f'"--{new}"')]
    namespaces = _namespaces(program)
    if _is_printed(program, namespaces):
        return None
    for other in program.sources.values():
        texts = text_constants(other) if other is not source else text_constants(other) - {_text(literal)}
        if any(option in _WHOLE.findall(text) or (name is not None and text == name) for text in texts):
            return None
        if name is None:
            continue
        reads = _reads(other, name, namespaces)
        if reads is None:
            return None
        edits += [Edit(other.path, end - len(name.encode()), end, new) for end in reads]
    launchers = _in_launchers(program, option, new)
    return None if launchers is None else edits + launchers


def _reads(source: Source, name: str, namespaces: set[str]) -> list[int] | None:
    """The ends of all attributes of that name; None if any may be something else than the option."""
    ends: list[int] = []
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and node.attr == name:
            is_option = isinstance(node.value, ast.Name) and node.value.id in namespaces
            if not is_option or not isinstance(node.ctx, ast.Load) or _is_formatted(source, node):
                return None
            ends.append(source.span(node)[1])
    return ends


def _is_formatted(source: Source, node: ast.AST) -> bool:
    return any(isinstance(parent, ast.JoinedStr) for parent in source.ancestors(node))


def _namespaces(program: Program) -> set[str]:
    """The names that hold parsed options: they are assigned from the parser, or are parameters called as such names
    usually are."""
    names: set[str] = set()
    for source in program.sources.values():
        for node in source.nodes:
            if isinstance(node, ast.Assign) and "parse" in ast.unparse(node.value):
                names |= {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
            elif isinstance(node, ast.arg) and node.arg in ("args", "opt", "opts", "options", "arguments", "flags"):
                names.add(node.arg)
    return names


def _is_printed(program: Program, namespaces: set[str]) -> bool:
    """Whether all options may be written with their names: they are passed to other functions than the project's."""
    sources = program.sources.values()
    own = {node.name for source in sources for node in source.nodes if isinstance(node, _DEFINITIONS)}
    for source in sources:
        for node in source.nodes:
            if isinstance(node, ast.Name) and node.id in namespaces and isinstance(node.ctx, ast.Load):
                parent = source.parents[node]
                called = isinstance(parent, ast.Call) and ast.unparse(parent.func).rpartition(".")[2] in own
                if not called and not isinstance(parent, ast.Attribute | ast.Return | ast.Assign):
                    return True
    return False


def _in_launchers(program: Program, option: str, new: str) -> list[Edit] | None:
    """The edits of the launchers; None if another file, or an abbreviation, may pass the option."""
    edits: list[Edit] = []
    for path, text in program.other_texts.items():
        passed = _WHOLE.findall(text)
        if any(option != word and option.startswith(word) for word in passed):
            return None
        if option not in passed and not re.search(rf"\b{re.escape(option.replace('-', '_'))}\b", text):
            continue
        if not path.endswith(_LAUNCHERS):
            return None
        for match in _WHOLE.finditer(text):
            if match[1] == option:
                start = len(text[: match.start()].encode())
                edits.append(Edit(path, start, start + len(f"--{option}".encode()), f"--{new}"))
    return edits

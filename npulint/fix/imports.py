"""Merges requested imports into a Python file."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from npulint.data.names import star_exports
from npulint.fix.model import FixRefused, ImportRequest, Text
from npulint.fix.python.sections import import_place, put
from npulint.fix.python.statements import listed_names
from npulint.fix.python.tree import Tree, parsed, tree_of
from npulint.judge.findings import Edit

_LIMIT = 120  # columns of a line that is not broken


class _ParsedImport:
    """A requested import: the statement, the name it binds, and the target of that name."""

    def __init__(self, request: ImportRequest) -> None:
        body = parsed(request.statement).body
        if len(body) != 1 or not isinstance(body[0], ast.Import | ast.ImportFrom) or len(body[0].names) != 1:
            raise FixRefused("template")
        self.after = request.after
        self.statement = body[0]
        self.alias = body[0].names[0]
        self.module = (body[0].module or "") if isinstance(body[0], ast.ImportFrom) else ""
        self.bound, self.target = next(iter(_bindings(body[0])))
        self.written = self.alias.name + (f" as {self.alias.asname}" if self.alias.asname else "")


def merged_imports(text: Text, requests: Sequence[ImportRequest]) -> tuple[Edit, ...]:
    """The edits that add all missing imports of `requests`. Raises `FixRefused` (``name-taken``) when a name is bound
    to something else at module level."""
    tree = tree_of(text)
    leading = list(dict.fromkeys(import_request.statement for import_request in requests if import_request.first))
    if leading:
        from npulint.fix.python.first import put_first

        others = [
            import_request
            for import_request in requests
            if not import_request.first and import_request.statement not in leading
        ]
        return (*put_first(tree, leading), *merged_imports(text, others))
    existing = _Known(tree.module)
    missing: list[_ParsedImport] = []
    for request in map(_ParsedImport, dict.fromkeys(requests)):
        if existing.has(request):
            continue
        if any(not _same_target(target, request.target) for target in existing.targets.get(request.bound, set())):
            raise FixRefused("name-taken")
        same_name = [parsed_import for parsed_import in missing if parsed_import.bound == request.bound]
        if any(parsed_import.target != request.target for parsed_import in same_name):
            raise FixRefused("name-taken")
        if all(parsed_import.written != request.written for parsed_import in same_name):
            missing.append(request)
    return _merged(tree, missing)


# -- what there is --------------------------------------------------------------------------------


class _Known:
    """The names at module level with their targets (dotted names of imports, empty for anything else), and
    unconditional imports: names with targets, star imports, modules loaded by ``import a.b``."""

    def __init__(self, module: ast.Module) -> None:
        self.targets: dict[str, set[str]] = {}
        self._sure: set[tuple[str, str]] = set()
        self._stars: set[str] = set()
        self._loaded: set[str] = set()
        waiting: list[tuple[ast.AST, bool]] = [(statement, True) for statement in module.body]
        while waiting:
            node, sure = waiting.pop()
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node, sure)
                continue
            for name in _bound_by(node):
                self.targets.setdefault(name, set()).add("")
            if not isinstance(node, _SCOPES):
                sure = sure and not isinstance(node, _CONDITIONS)
                waiting += [(child, sure) for child in ast.iter_child_nodes(node)]
        for node in ast.walk(module):
            for name in node.names if isinstance(node, ast.Global) else ():
                self.targets.setdefault(name, set()).add("")

    def _import(self, node: ast.Import | ast.ImportFrom, sure: bool) -> None:
        for name, target in _bindings(node):
            if name != "*":
                self.targets.setdefault(name, set()).add(target)
        if sure:
            self._sure |= {binding for binding in _bindings(node) if binding[0] != "*"}
            self._stars |= {target for name, target in _bindings(node) if name == "*"}
            self._loaded |= {alias.name for alias in node.names if isinstance(node, ast.Import) and not alias.asname}

    def has(self, request: _ParsedImport) -> bool:
        """Whether an import exists already."""
        if request.module and not request.alias.asname and any(_gives(star, request) for star in self._stars):
            return True
        if isinstance(request.statement, ast.Import) and not request.alias.asname and "." in request.alias.name:
            return any(
                loaded == request.alias.name or loaded.startswith(f"{request.alias.name}.") for loaded in self._loaded
            )
        return any(name == request.bound and _same_target(target, request.target) for name, target in self._sure)


def _same_target(target: str, other: str) -> bool:
    """Whether two dotted names are the same object; npu_bridge exports the same name from several modules."""
    if target == other:
        return True
    adapter = target.startswith("npu_bridge.") and other.startswith("npu_bridge.")
    return adapter and target.rpartition(".")[2] == other.rpartition(".")[2]


def _gives(star: str, request: _ParsedImport) -> bool:
    """Whether a star import of a module provides the requested name, re-exports included."""
    return star == request.module or request.bound in star_exports(star)


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_CONDITIONS = (ast.If, ast.For, ast.While, ast.ExceptHandler)


def _bound_by(node: ast.AST) -> Iterator[str]:
    name: str | None = None
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        name = node.id
    elif isinstance(node, (*_SCOPES[:3], ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        name = node.name
    if name:
        yield name


def _bindings(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """The names that an import binds, with their targets; a star with its module."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            root = alias.name.split(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (root, root)
        else:
            module = "." * node.level + (node.module or "")
            yield (alias.asname or alias.name, module if alias.name == "*" else f"{module}.{alias.name}")


# -- what is added --------------------------------------------------------------------------------


def _merged(tree: Tree, missing: Sequence[_ParsedImport]) -> tuple[Edit, ...]:
    """Edits that add names to existing statements from the same module, and new statements for the rest."""
    edits: list[Edit] = []
    places: dict[tuple[int, bool], list[str]] = {}
    groups: dict[tuple[str, str], list[_ParsedImport]] = {}
    for request in missing:
        groups.setdefault((request.module or request.written, "" if request.module else request.after), []).append(
            request
        )
    for (module, _), group in groups.items():
        home = _home(tree, module) if group[0].module else None
        if home is not None:
            edits += _appended(tree, home, [parsed_import.written for parsed_import in group])
        else:
            after = next((parsed_import.after for parsed_import in group if parsed_import.after), "")
            place = import_place(tree, after, (group[0].module or group[0].alias.name).split(".")[0])
            places.setdefault(place, []).append(_statement(group))
    edits += [put(tree, place, behind, "\n".join(lines), False) for (place, behind), lines in places.items()]
    return tuple(edits)


def _home(tree: Tree, module: str) -> ast.ImportFrom | None:
    for node in tree.module.body:
        if isinstance(node, ast.ImportFrom) and not node.level and node.module == module and node.names[0].name != "*":
            return node
    return None


def _appended(tree: Tree, node: ast.ImportFrom, names: Sequence[str]) -> list[Edit]:
    listed = listed_names(tree, node)
    start, end = tree.range(node.names[0])[0], tree.range(node.names[-1])[1]
    line = tree.lines[tree.line_of(end) - 1]
    text = ", ".join(names)
    bare = tree.lexed.text(tree.lexed.before(start)) != "("
    if bare and len(line) + len(text) + 2 > _LIMIT and tree.line_of(start) == tree.line_of(end):
        indent = tree.unit
        return [tree.edit(start, start, "("), tree.edit(end, end, f",\n{indent}{text})")]
    return listed.changed(set(), names)


def _statement(group: Sequence[_ParsedImport]) -> str:
    if not group[0].module:
        return f"import {group[0].written}"
    names = [parsed_import.written for parsed_import in group]
    line = f"from {group[0].module} import {', '.join(names)}"
    if len(line) <= _LIMIT:
        return line
    lines = "".join(f"    {name},\n" for name in names)
    return f"from {group[0].module} import (\n{lines})"

"""Rewrites of whole projects after which they train the same: other layout, names, files and order."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import PurePosixPath

from tests.mutations.naming import definitions, in_tokens, locals_of
from tests.mutations.table import Files

Rewrite = Callable[[Files, str], Files]
"""Makes other files of the files of a project, whose entry script is named."""


def _each_module(files: Files, rewrite: Callable[[str], str]) -> Files:
    return {path: rewrite(text) if path.endswith(".py") else text for path, text in files.items()}


def copied(files: Files, entry: str) -> Files:
    """The same files."""
    return dict(files)


def printed_anew(files: Files, entry: str) -> Files:
    """Without comments, in the layout of the standard library."""
    return _each_module(files, lambda text: ast.unparse(ast.parse(text)) + "\n")


def exploded(files: Files, entry: str) -> Files:
    """Each bracket and each argument in a line of its own."""
    return _each_module(files, _exploded)


def _exploded(text: str) -> str:
    offsets = _line_offsets(text)
    depth = inside = 0
    breaks: list[tuple[int, int]] = []
    for token in tokenize.generate_tokens(StringIO(text).readline):
        name = tokenize.tok_name[token.type]
        inside += {"FSTRING_START": 1, "FSTRING_END": -1}.get(name, 0)
        if token.type != tokenize.OP or inside:
            continue
        depth += (token.string in "([{") - (token.string in ")]}")
        if token.string in "([{" or (token.string == "," and depth > 0):
            breaks.append((offsets[token.end[0] - 1] + token.end[1], depth))
    for offset, level in reversed(breaks):
        text = f"{text[:offset]}\n{' ' * 4 * level}{text[offset:]}"
    return text


def _line_offsets(text: str) -> list[int]:
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    return offsets


def commented(files: Files, entry: str) -> Files:
    """With a comment and an empty line before each statement, and comments in launchers and configurations."""
    result = _each_module(files, _commented)
    for path, text in files.items():
        if path.endswith(".sh"):
            first, _, rest = text.partition("\n")
            result[path] = f"{first}\n# started on another machine now\n\n{rest}"
        elif path.endswith((".yaml", ".yml")):
            result[path] = f"# moved here from the old repository\n\n{text}"
    return result


def _commented(text: str) -> str:
    lines = text.split("\n")
    starts: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt):
            decorators = getattr(node, "decorator_list", [])
            first = min([node.lineno, *(one.lineno for one in decorators)])
            if not lines[first - 1][: node.col_offset].strip() and not lines[first - 1].lstrip().startswith("elif"):
                starts.add(first)
    for line in sorted(starts, reverse=True):
        indent = lines[line - 1][: len(lines[line - 1]) - len(lines[line - 1].lstrip())]
        lines[line - 1 : line - 1] = ["", f"{indent}# lr = 0.5, batch_size = 7"]
    return "\n".join(lines)


def requoted(files: Files, entry: str) -> Files:
    """With the other quotation marks."""
    return _each_module(files, _requoted)


def _requoted(text: str) -> str:
    offsets = _line_offsets(text)
    spans = [
        (offsets[t.start[0] - 1] + t.start[1], t.string)
        for t in tokenize.generate_tokens(StringIO(text).readline)
        if t.type == tokenize.STRING and t.string[0] in "'\"" and t.string[:3] not in ("'''", '"""')
    ]
    for start, literal in reversed(spans):
        inner = literal[1:-1]
        if not set(inner) & set("'\"\\"):
            mark = "'" if literal[0] == '"' else '"'
            text = f"{text[:start]}{mark}{inner}{mark}{text[start + len(literal) :]}"
    return text


def renamed_locals(files: Files, entry: str) -> Files:
    """With other names of parameters and local variables."""
    return {path: in_tokens(text, locals_of(path, files)) for path, text in files.items()}


def renamed_definitions(files: Files, entry: str) -> Files:
    """With other names of functions and classes."""
    names = definitions(files)
    return {path: in_tokens(text, names) if path.endswith(".py") else text for path, text in files.items()}


def moved_down(files: Files, entry: str) -> Files:
    """All of it in a folder of the project."""
    return {f"code/network/{path}": text for path, text in files.items()}


def renamed_entry(files: Files, entry: str) -> Files:
    """With another name of the script that is started."""
    name = PurePosixPath(entry).name
    other = str(PurePosixPath(entry).with_name("start_npu.py"))
    return {
        (other if path == entry else path): text.replace(f" {name} ", " start_npu.py ")
        if path.endswith(".sh")
        else text
        for path, text in files.items()
    }


def renamed_modules(files: Files, entry: str) -> Files:
    """With other names of the modules that the script imports."""
    stems = [PurePosixPath(p).stem for p in files if p.endswith(".py") and p != entry and "__init__" not in p]
    result: Files = {}
    for path, text in files.items():
        for stem in stems if path.endswith(".py") else ():
            text = re.sub(rf"(?m)^import {stem}$", f"import {stem}_parts as {stem}", text)
            text = re.sub(rf"(?m)^from ((?:\w+\.)*){stem} import ", rf"from \g<1>{stem}_parts import ", text)
        pure = PurePosixPath(path)
        own = path.endswith(".py") and pure.stem in stems
        result[str(pure.with_name(f"{pure.stem}_parts.py")) if own else path] = text
    return result


def reordered(files: Files, entry: str) -> Files:
    """With neighbouring functions of a module in the opposite order."""
    return _each_module(files, _reordered)


def _reordered(text: str) -> str:
    lines = text.split("\n")
    for run in reversed(list(_runs(ast.parse(text).body))):
        ranges = [(node.lineno - 1, node.end_lineno or node.lineno) for node in run]
        blocks = [lines[start:end] for start, end in ranges]
        joined = [line for block in reversed(blocks) for line in (*block, "", "")]
        lines[ranges[0][0] : ranges[-1][1]] = joined[:-2]
    return "\n".join(lines)


def _runs(body: list[ast.stmt]) -> Iterator[list[ast.FunctionDef]]:
    """Functions without decorators that stand together."""
    run: list[ast.FunctionDef] = []
    for node in [*body, ast.Pass()]:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            run.append(node)
            continue
        if len(run) > 1:
            yield run
        run = []


def split_off(files: Files, entry: str) -> Files:
    """With the functions that need nothing else of their module in a module of their own."""
    result = dict(files)
    for path, text in files.items():
        tree = ast.parse(text) if path.endswith(".py") else ast.Module([], [])
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        known = {alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names}
        bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        globals_ = (own | {name for node in tree.body for name in _stored(node)}) - known
        movable = [
            node for node in tree.body
            if isinstance(node, ast.FunctionDef) and not node.decorator_list and not _loaded(node) & globals_
        ]  # fmt: skip
        if not movable or not bound:
            continue
        lines = text.split("\n")
        moved = "\n\n\n".join("\n".join(lines[n.lineno - 1 : n.end_lineno]) for n in movable)
        head = "\n".join(ast.unparse(node) for node in imports)
        pure = PurePosixPath(path)
        module = f"{pure.stem}_helpers"
        result[str(pure.with_name(f"{module}.py"))] = f"{head}\n\n\n{moved}\n"
        for node in reversed(movable):
            del lines[node.lineno - 1 : node.end_lineno]
        package = ".".join((*pure.parent.parts, module))
        at = imports[-1].end_lineno or 0
        lines.insert(at, f"from {package} import {', '.join(n.name for n in movable)}")
        result[path] = "\n".join(lines)
    return result


def _stored(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return set()
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def _loaded(node: ast.FunctionDef) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


REWRITES: dict[str, Rewrite] = {
    rewrite.__name__: rewrite
    for rewrite in (
        copied,
        printed_anew,
        exploded,
        commented,
        requoted,
        renamed_locals,
        renamed_definitions,
        moved_down,
        renamed_entry,
        renamed_modules,
        reordered,
        split_off,
    )
}
"""By name."""


def all_at_once(files: Files, entry: str) -> Files:
    """Several rewrites one after the other."""
    for rewrite in (split_off, renamed_locals, renamed_definitions, reordered, renamed_modules, exploded, moved_down):
        files = rewrite(files, entry)
    return files


REWRITES["all_at_once"] = all_at_once

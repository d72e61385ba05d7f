"""Deletes and inserts statements."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from npulint.core.lazy_regex import lazy_compile
from npulint.fix.model import FixRefused
from npulint.fix.python.block_ends import reached_end
from npulint.fix.python.branches import turned_round
from npulint.fix.python.lists import ListElements
from npulint.fix.python.sections import behind_imports
from npulint.fix.python.templates import Templates
from npulint.fix.python.tree import Range, Tree
from npulint.judge.findings import Edit, FixStep

# Comments that describe the statement below.

_LONGEST = 3  # lines
_DEVICE = lazy_compile(r"(?i)gpu|cuda|cudnn|nccl|xla|memory|显存|显卡")
_FLAG = lazy_compile(r"(?i)cudnn")
_CODE = lazy_compile(r"npulint|noqa|pylint|pragma|type:|TODO|FIXME|[^=]=[^=]|\w\(")


def comment_start(tree: Tree, start: int, end: int) -> int:
    """The start of the comment about a device that describes only the statement below, which has the lines from `start`
    to `end`; `start` if there is none."""
    first, last = tree.line_of(start) - 1, tree.line_of(end)
    indent = tree.indent(start)
    top = first
    while top and tree.lines[top - 1].startswith(f"{indent}#"):
        top -= 1
    comment = tree.lines[top:first]
    text = "\n".join(comment)
    is_flag = len(comment) == 1 and _FLAG.search(text) is not None  # no other statement is about it
    if not 0 < len(comment) <= _LONGEST or not (is_flag or _is_paragraph(tree, indent, last)):
        return start
    return tree.starts[top] if _DEVICE.search(text) and not _CODE.search(text) else start


def _is_paragraph(tree: Tree, indent: str, line: int) -> bool:
    """Whether the code above a line has ended: a blank line or an outer block."""
    following = tree.lines[line] if line < len(tree.lines) else ""
    return not following.strip() or not following.startswith(indent)


_SIMPLE_ENDS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_COMPOUND = tuple(
    getattr(ast, name)
    for name in "FunctionDef AsyncFunctionDef ClassDef If For AsyncFor While With AsyncWith Try TryStar Match".split()
    if hasattr(ast, name)
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

_READING = frozenset(
    "len range enumerate str int bool getattr hasattr isinstance get is_available device_count"
    " list_physical_devices list_logical_devices get_visible_devices list_local_devices GPUOptions".split()
)
_ASKING = ("is_", "has_")  # prefixes of predicate functions

# -- delete ---------------------------------------------------------------------------------------


def deleted(tree: Tree, node: ast.AST, step: FixStep) -> list[Edit]:
    """The edits that delete the statement at a place, or one name of an import."""
    what, name = step.words["what"], step.words.get("name", "")
    statement = tree.statement(node)
    if isinstance(statement, ast.Import | ast.ImportFrom) and (what == "name" or name) and what != "line":
        return _without_name(tree, statement, node, name)
    if what == "name":
        raise FixRefused("no-statement")
    if isinstance(statement, _COMPOUND):
        raise FixRefused("no-statement")
    target = _is_whole(tree, statement, node)
    if target is not None:
        return [target]
    if what == "block":
        statement = _emptied(tree, statement)
        otherwise = _without_else(tree, statement)
        if otherwise is not None:
            return [otherwise]
        turned = turned_round(tree, statement)
        if turned:
            return turned
    if what == "line" and not (tree.leads(tree.range(statement)[0]) and _last_of_line(tree, statement)):
        raise FixRefused("one-line")
    return without(tree, statement)


def _emptied(tree: Tree, statement: ast.stmt, gone: Collection[ast.stmt] = ()) -> ast.stmt:
    """The outermost loop, condition, ``try`` or scope of names that has no effect without the statement (and those that
    are `gone`); the statement itself if there is none."""
    while all(node is statement or node in gone for node in tree.block(statement)):
        around = tree.parent(statement)
        if isinstance(around, ast.With) and _is_name_scope(around):
            statement = around
            continue
        if not isinstance(around, ast.For | ast.If | ast.Try) or around.orelse or _head(tree, around) is not around:
            break
        if isinstance(around, ast.For) and not (_names_only(around.target) and is_idle(around.iter)):
            break
        if isinstance(around, ast.If) and not is_idle(around.test):
            break
        if isinstance(around, ast.Try) and (around.finalbody or tree.field(statement) != "body"):
            break
        statement = around
    return statement


def _is_name_scope(node: ast.AST) -> bool:
    """Whether this is ``with tf.name_scope("…"):``, which only names the operations in it."""
    if not isinstance(node, ast.With) or len(node.items) != 1 or node.items[0].optional_vars is not None:
        return False
    call = node.items[0].context_expr
    name = getattr(call.func, "attr", "") if isinstance(call, ast.Call) else ""
    return isinstance(call, ast.Call) and name == "name_scope" and all(map(is_idle, call.args))


def _without_else(tree: Tree, statement: ast.stmt) -> Edit | None:
    """The edit that deletes an ``else`` with its only statement."""
    start, end = tree.range(statement)
    if tree.field(statement) != "orelse" or len(tree.block(statement)) > 1 or not _last_of_line(tree, statement):
        return None
    colon = tree.lexed.before(start)
    word = tree.lexed.before(colon[0])
    if tree.lexed.text(colon) != ":" or tree.lexed.text(word) != "else" or not tree.leads(word[0]):
        return None
    return tree.edit(*_lines(tree, word[0], end), "")


def _names_only(target: ast.expr) -> bool:
    return all(isinstance(part, ast.Name | ast.Tuple | ast.expr_context) for part in ast.walk(target))


def is_idle(node: ast.expr) -> bool:
    """Whether an expression only reads names, so that it can be removed."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            name = part.func.id if isinstance(part.func, ast.Name) else getattr(part.func, "attr", "")
            if name not in _READING and not name.startswith(_ASKING):
                return False
        elif isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return False
    return True


def _is_whole(tree: Tree, statement: ast.stmt, node: ast.AST) -> Edit | None:
    """The edit that deletes one of several targets; None for the whole statement. Raises `FixRefused` for another part
    of it."""
    if node is statement or node is getattr(statement, "value", None):
        return None
    if isinstance(node, ast.alias):
        if isinstance(statement, ast.Import | ast.ImportFrom) and len(statement.names) > 1:
            raise FixRefused("no-statement")
        return None
    if isinstance(statement, ast.AnnAssign | ast.AugAssign) and node is statement.target:
        return None
    if not isinstance(statement, ast.Assign) or node not in statement.targets:
        raise FixRefused("no-statement")
    if len(statement.targets) == 1:
        return None
    start = tree.outer(node)[0]
    equals = tree.lexed.after(tree.outer(node)[1])
    following = tree.lexed.after(equals[1])
    return tree.edit(start, following[0], "")


def _without_name(tree: Tree, statement: ast.Import | ast.ImportFrom, node: ast.AST, name: str) -> list[Edit]:
    names = statement.names
    if name:
        gone = {number for number, alias in enumerate(names) if name in (alias.name, alias.asname)}
    else:
        gone = {number for number, alias in enumerate(names) if alias is node or len(names) == 1}
    if not gone:
        raise FixRefused("no-part")
    if len(gone) == len(names):
        return without(tree, statement)
    return listed_names(tree, statement).changed(gone, ())


def listed_names(tree: Tree, statement: ast.Import | ast.ImportFrom) -> ListElements:
    """The names of an import as an editable list."""
    ranges = [tree.range(alias) for alias in statement.names]
    begin, end = -1, tree.range(statement)[1]
    if tree.lexed.text(tree.lexed.before(ranges[0][0])) == "(":
        begin, end = tree.lexed.before(ranges[0][0])[1], end - 1
    return ListElements(tree, tree.lexed, ranges, begin, end)


def without_all(tree: Tree, statements: Sequence[ast.stmt]) -> list[Edit]:
    """The edits that delete statements, with conditions and loops that have no effect without them."""
    gone = dict.fromkeys(statements)
    for statement in statements:
        block = tree.block(statement)
        if statement in gone and all(node in gone for node in block):
            outermost = _emptied(tree, statement, gone)
            if outermost is not statement:
                gone = dict.fromkeys([*(node for node in gone if node not in block), outermost])
    edits: list[Edit] = []
    for statement in gone:
        lone = all(node in gone for node in tree.block(statement)) and tree.parent(statement) is not tree.module
        edits += without(tree, statement, lone and statement is tree.block(statement)[0])
    return edits


def without(tree: Tree, statement: ast.stmt, lone: bool | None = None) -> list[Edit]:
    """The edits that delete a statement, replacing it by ``pass`` if its block would be empty (`lone`)."""
    start, end = tree.range(statement)
    if lone is None:
        lone = len(tree.block(statement)) == 1 and tree.parent(statement) is not tree.module
    fills_lines = tree.leads(start) and _last_of_line(tree, statement)
    if lone:
        return [tree.edit(start, tree.line_end(end) if fills_lines else end, "pass")]
    if fills_lines:
        return [tree.edit(*_lines(tree, comment_start(tree, start, end), end), "")]
    following = tree.lexed.after(end)
    if tree.lexed.text(following) == ";":
        behind = tree.lexed.after(following[1])
        if behind[0] >= 0 and tree.line_of(behind[0]) == tree.line_of(following[0]):
            return [tree.edit(start, behind[0], "")]
        end = following[1]
    before = tree.lexed.before(start)
    if tree.lexed.text(before) != ";":
        return [tree.edit(start, end, "")]
    return [tree.edit(tree.lexed.before(before[0])[1], end, "")]


def _last_of_line(tree: Tree, statement: ast.stmt) -> bool:
    """Whether only a semicolon and a comment follow a statement in its line."""
    end = tree.range(statement)[1]
    following = tree.lexed.after(end)
    if tree.lexed.text(following) == ";":
        following = tree.lexed.after(following[1])
    return following[0] < 0 or tree.line_of(following[0]) > tree.line_of(end)


def _lines(tree: Tree, start: int, end: int) -> Range:
    """The lines of a statement, with surplus blank lines after it."""
    first, last = tree.line_of(start), tree.line_of(end)
    if last == len(tree.lines) and first > 1:  # no line end at end of file
        return tree.starts[first - 1] - 1, len(tree.source)
    before, behind = first - 2, last
    above = 0
    while before >= 0 and not tree.lines[before].strip():
        before, above = before - 1, above + 1
    if before >= 0 and not any(line.strip() for line in tree.lines[last:]):
        return tree.starts[before + 1], len(tree.source)  # no trailing blank lines at end of file
    if before < 0 or (not above and _opens_block(tree, before, first - 1)):
        above = len(tree.lines)
    while behind < len(tree.lines) - 1 and not tree.lines[behind].strip() and behind - last < above:
        behind += 1
    return tree.starts[first - 1], tree.starts[behind] if behind < len(tree.lines) else len(tree.source)


def _opens_block(tree: Tree, header: int, line: int) -> bool:
    """Whether a line is the first of the block of `header`."""
    indents = [len(text) - len(text.lstrip()) for text in (tree.lines[header], tree.lines[line])]
    return tree.lines[header].rstrip().endswith(":") and indents[0] < indents[1]


# -- insert ---------------------------------------------------------------------------------------


def inserted(tree: Tree, node: ast.AST | None, step: FixStep) -> list[Edit]:
    """The edits that insert statements before, after or instead of the one at a place, or after the imports."""
    where = step.words["where"]
    old = node if isinstance(node, ast.expr) else None
    at = node if node is not None else tree.module
    if where == "imports":
        return [
            behind_imports(tree, _missing(tree, Templates(tree, at, old).statements(step.words["text"]).strip("\n")))
        ]
    if node is None or node is tree.module:
        raise FixRefused("place")
    statement = _head(tree, tree.statement(node))
    text = Templates(tree, at, old).statements(step.words["text"]).strip("\n")
    if _commented_out(tree, text):
        raise FixRefused("commented-out")  # the author disabled it on purpose
    if where == "instead":
        return _instead(tree, statement, text)
    if where == "past":
        statement = _outermost(tree, statement)
    if where == "end":
        statement = reached_end(tree, statement, text)
    if step.words.get("around"):
        statement = _outside(tree, statement, step.words["around"])
    return [_before(tree, statement, text) if where == "before" else _behind(tree, statement, text)]


def _missing(tree: Tree, text: str) -> str:
    """The statements of a text without calls that the file makes already on its own or in a function, such as
    switches of which only one is set. Raises `FixRefused` if none is left."""
    blocks = [tree.module.body, *(node.body for _, _, node in tree.nodes if isinstance(node, _SCOPES[:2]))]
    made = {ast.dump(node) for block in blocks for node in block if _is_call(node)}
    statements = ast.parse(text).body
    missing = [statement for statement in statements if not (_is_call(statement) and ast.dump(statement) in made)]
    if len(missing) == len(statements):
        return text
    if not missing:
        raise FixRefused("nothing")
    lines = text.split("\n")
    return "\n".join("\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in missing)


def _is_call(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call)


def _outermost(tree: Tree, statement: ast.stmt) -> ast.stmt:
    """The outermost statement around one in its function or module."""
    around = tree.parent(statement)
    while isinstance(around, ast.stmt) and not isinstance(around, _SCOPES):
        statement, around = around, tree.parent(around)
    return statement


def _outside(tree: Tree, statement: ast.stmt, context: str) -> ast.stmt:
    """The outermost ``with`` in its function that calls this context around a statement, otherwise the statement."""
    node, around = statement, tree.parent(statement)
    while isinstance(around, ast.stmt) and not isinstance(around, _SCOPES):
        if isinstance(around, ast.With) and any(_calls(item.context_expr, context) for item in around.items):
            node = around
        around = tree.parent(around)
    return node


def _calls(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Call) and name == getattr(node.func, "attr", getattr(node.func, "id", ""))


def _commented_out(tree: Tree, text: str) -> bool:
    """Whether a comment of the file contains this statement."""
    comments = (tree.source[start:end].lstrip("# \t") for start, end in tree.lexed.comments)
    return any(comment.startswith(text) for comment in comments)


def _instead(tree: Tree, statement: ast.stmt, text: str) -> list[Edit]:
    if isinstance(statement, _COMPOUND):
        raise FixRefused("no-statement")
    start, end = tree.range(statement)
    if tree.lexed.comment_in(start, end):
        raise FixRefused("comment")
    if tree.leads(start) and _last_of_line(tree, statement):
        return [tree.edit(start, end, _indented(tree, text, start)[len(tree.indent(start)) :])]
    return [tree.edit(start, end, _simple(text).replace("\n", "; "))]


def _head(tree: Tree, statement: ast.stmt) -> ast.stmt:
    """The statement, for ``elif`` the ``if`` that it belongs to."""
    while isinstance(statement, ast.If) and tree.source.startswith("elif", tree.range(statement)[0]):
        parent = tree.parent(statement)
        if not isinstance(parent, ast.If):
            break
        statement = parent
    return statement


def _before(tree: Tree, statement: ast.stmt, text: str) -> Edit:
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        raise FixRefused("place")
    start = tree.range(statement)[0]
    decorators: Sequence[ast.expr] = getattr(statement, "decorator_list", ())
    if decorators:
        start = min(tree.lexed.before(tree.outer(decorator)[0])[0] for decorator in decorators)
    if tree.leads(start):
        line = tree.line_start(start)
        return tree.edit(line, line, _indented(tree, text, start) + "\n")
    return tree.edit(start, start, f"{_simple(text)}; ")


def _behind(tree: Tree, statement: ast.stmt, text: str) -> Edit:
    if isinstance(statement, _SIMPLE_ENDS):
        raise FixRefused("unreachable")
    start, end = tree.range(statement)
    if tree.leads(start) and _last_of_line(tree, statement):
        place = tree.line_end(end)
        return tree.edit(place, place, "\n" + _indented(tree, text, start))
    if isinstance(statement, _COMPOUND):
        raise FixRefused("one-line")
    return tree.edit(end, end, f"; {_simple(text)}")


def _simple(text: str) -> str:
    """One line of simple statements; raises `FixRefused` otherwise."""
    body = ast.parse(text).body
    if "\n" in text or "#" in text or any(isinstance(node, _COMPOUND) for node in body):
        raise FixRefused("one-line")
    return text


def _indented(tree: Tree, text: str, place: int) -> str:
    """The lines of a text, indented as `place` in the unit of the file."""
    indent, unit = tree.indent(place), tree.unit
    lines = []
    for line in text.split("\n"):
        inner = len(line) - len(line.lstrip(" "))
        lines.append(indent + unit * (inner // 4) + line[inner // 4 * 4 :] if line.strip() else "")
    return "\n".join(lines)

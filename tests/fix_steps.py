"""Random steps for any source, each with the syntax tree that it has to come to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from npulint.fix.edits import coherent
from npulint.fix.imports import merged_imports
from npulint.fix.model import FixRefused, ImportRequest, Text
from npulint.fix.python import plan_all
from npulint.fix.python.lexing import Lexed
from npulint.fix.python.tree import Tree, tree_of
from npulint.fix.source import edited_text
from npulint.fix.verify import same, syntax
from npulint.judge.findings import FixStep
from tests.fix_support import PATH, span

Wanted = Callable[[], Callable[[], None]]
"""Changes the second tree as the step should; gives what undoes it."""

TEMPLATES: tuple[str, ...] = (
    "zz($old)",
    "$old + 1",
    "1 - $old",
    "not $old",
    "-$old",
    "$old ** 2",
    "$old.zz",
    "$old if zz else $old",
)
TEMPLATES += ("lambda: $old", "[$old]", "zz(a=$old)[0]", "zz[0]", "zz($old)($old)", "2 ** $old", "zz < $old")


def tree_parsed(text: str) -> ast.Module:
    return syntax(text)


def _comments(text: str) -> list[str]:
    lexed = Lexed(text, 0, len(text))
    return [text[start:end] for start, end in lexed.comments]


class Source:
    """A text, its tree, and a second tree of which each node is that of the first with the same number."""

    def __init__(self, text: str) -> None:
        self.text = Text(PATH, "python", text)
        self.tree: Tree = tree_of(self.text)
        self.twin = tree_parsed(text)
        pairs = zip(ast.walk(self.tree.module), ast.walk(self.twin), strict=True)
        self.counterpart: dict[ast.AST, Any] = dict(pairs)
        shared = [node for node in self.counterpart if not hasattr(node, "lineno") and not isinstance(node, ast.Module)]
        self.nodes = [node for node in self.counterpart if node not in set(shared)]
        self.comments = _comments(text)
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]

    def step(self, verb: str, node: ast.AST, words: dict[str, str]) -> FixStep:
        return FixStep(verb, PATH, span(self.text.text, *self.tree.range(node)), words)

    def failure(self, steps: Sequence[FixStep], check: Wanted) -> str | None:
        """What is wrong with the result of steps; empty when it is as it should be, None when they are refused."""
        try:
            edits = coherent(plan_all(steps, self.text).edits)
        except FixRefused:
            return None
        after = edited_text(self.text.text, edits)
        try:
            tree = tree_parsed(after)
        except (SyntaxError, ValueError) as error:
            return f"{steps}: {error}\n{edits}"
        if not {"delete", "drop"} & {step.verb for step in steps} and _comments(after) != self.comments:
            return f"{steps}: other comments\n{edits}"
        undo = check()
        try:
            return "" if same(tree, self.twin) else f"{steps}: another tree\n{edits}"
        finally:
            undo()

    # -- the steps ------------------------------------------------------------------------------

    def swapped(self, old: ast.AST, new: Any) -> Wanted:
        """One node of the second tree in the place of another."""
        parent, field = self.counterpart[self.tree.parent(old)], self.tree.field(old)
        twin = self.counterpart[old]

        def change() -> Callable[[], None]:
            holder = getattr(parent, field)
            if isinstance(holder, list):
                index = next(number for number, one in enumerate(holder) if one is twin)
                holder[index : index + 1] = new if isinstance(new, list) else [new]
                length = len(new) if isinstance(new, list) else 1
                return lambda: holder.__setitem__(slice(index, index + length), [twin])
            setattr(parent, field, new)
            return lambda: setattr(parent, field, twin)

        return change

    def listed(self, holder: list[Any], new: list[Any]) -> Wanted:
        """Other elements of a list of the second tree."""
        old = list(holder)

        def change() -> Callable[[], None]:
            holder[:] = new
            return lambda: holder.__setitem__(slice(None), old)

        return change

    def filled(self, template: str, old: ast.AST) -> Any:
        body = ast.parse(template.replace("$old", "OLD"), mode="eval").body
        return _Filler(self.counterpart[old]).visit(body)

    def random(self, random: Random) -> tuple[Sequence[FixStep], Wanted]:
        """Steps about a random node."""
        if random.random() < 0.1:
            return _several(self, random)
        step, check = random.choice(_MAKERS)(self, random)
        return (step,), check


class _Filler(ast.NodeTransformer):
    def __init__(self, old: ast.AST) -> None:
        self.old = old

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self.old if node.id == "OLD" else node


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _rename(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    call = random.choice(source.calls)
    step = source.step("rename", call, {"to": "zz.qq"})
    return step, source.swapped(call.func, _expression("zz.qq"))


def _rename_part(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    found = [call for call in source.calls if isinstance(call.func, ast.Attribute)]
    call = random.choice(found or source.calls)
    twin = source.counterpart[call.func]
    if not isinstance(call.func, ast.Attribute):
        return _rename(source, random)
    name = call.func.attr

    def check() -> Callable[[], None]:
        twin.attr = "zz"
        return lambda: setattr(twin, "attr", name)

    return source.step("rename_part", call, {"part": name, "to": "zz"}), check


def _wrap(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    found = [n for n in source.nodes if isinstance(n, ast.expr) and isinstance(getattr(n, "ctx", ast.Load()), ast.Load)]
    node, template = random.choice(found), random.choice(TEMPLATES)
    verb = random.choice(("wrap", "replace"))
    try:
        meant = source.tree.exactly_at(span(source.text.text, *source.tree.range(node)))
    except FixRefused:
        meant = node
    return source.step(verb, node, {"with": template}), source.swapped(meant, source.filled(template, meant))


def _value(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    found = [n for n in source.nodes if isinstance(n, ast.Assign | ast.AnnAssign) and n.value is not None]
    if not found:
        return _wrap(source, random)
    node, template = random.choice(found), random.choice(TEMPLATES)
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    assert node.value is not None
    return source.step("value", target, {"with": template}), source.swapped(
        node.value, source.filled(template, node.value)
    )


def _argument(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    call = random.choice(source.calls)
    twin = source.counterpart[call]
    given = [*call.args, *call.keywords]
    if not given or random.random() < 0.4:
        new = ast.keyword("zzz", _expression("1 if zz else 2"))
        step = source.step("argument", call, {"name": "zzz", "position": "99", "missing": "1 if zz else 2"})
        return step, source.listed(twin.keywords, [*twin.keywords, new])
    one: Any = random.choice(given)
    template = random.choice(TEMPLATES)
    if isinstance(one, ast.keyword):
        words = {"name": one.arg or "zz", "value": template}
        return source.step("argument", call, words), source.swapped(one.value, source.filled(template, one.value))
    words = {"name": "zzz", "position": str(call.args.index(one)), "value": template}
    return source.step("argument", call, words), source.swapped(one, source.filled(template, one))


def _renamed_argument(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    call = random.choice(source.calls)
    if not call.keywords:
        return _argument(source, random)
    keyword = random.choice(call.keywords)
    twin = source.counterpart[keyword]

    def check() -> Callable[[], None]:
        twin.arg = "zzz"
        return lambda: setattr(twin, "arg", keyword.arg)

    return source.step("argument", call, {"name": keyword.arg or "zz", "to": "zzz"}), check


def _drop(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    call = random.choice(source.calls)
    twin = source.counterpart[call]
    if not call.args and not call.keywords:
        return _argument(source, random)
    number = random.randrange(len(call.args) + len(call.keywords))
    if number < len(call.args):
        step = source.step("drop", call, {"name": "zzz", "position": str(number)})
        return step, source.listed(twin.args, twin.args[:number] + twin.args[number + 1 :])
    number -= len(call.args)
    step = source.step("drop", call, {"name": call.keywords[number].arg or "zz"})
    return step, source.listed(twin.keywords, twin.keywords[:number] + twin.keywords[number + 1 :])


def _several(source: Source, random: Random) -> tuple[Sequence[FixStep], Wanted]:
    """Arguments that go and others that come, and the call gets another name."""
    call = random.choice(source.calls)
    twin = source.counterpart[call]
    gone = [keyword for keyword in call.keywords if keyword.arg and random.random() < 0.6]
    steps = [source.step("drop", call, {"name": keyword.arg or ""}) for keyword in gone]
    new = [ast.keyword(name, _expression("1")) for name in ("zzz", "qqq")[: random.randrange(3)]]
    steps += [source.step("argument", call, {"name": one.arg or "", "missing": "1"}) for one in new]
    steps.append(source.step("rename", call, {"to": "zz.qq"}))
    kept = [source.counterpart[keyword] for keyword in call.keywords if keyword not in gone]
    arguments = source.listed(twin.keywords, [*kept, *new])
    name = source.swapped(call.func, _expression("zz.qq"))

    def check() -> Callable[[], None]:
        first, second = arguments(), name()

        def undo() -> None:
            first()
            second()

        return undo

    return steps, check


def import_failure(text: str, statement: str, after: str) -> str | None:
    """The error after adding an import to a text; empty if there is none, None if the fix is refused."""
    try:
        edits = merged_imports(Text(PATH, "python", text), [ImportRequest(PATH, statement, after)])
    except FixRefused:
        return None
    result = edited_text(text, edits)
    if merged_imports(Text(PATH, "python", result), [ImportRequest(PATH, statement, after)]):
        return f"{statement}: it is wished for again"
    before, behind = tree_parsed(text).body, tree_parsed(result).body
    wished = ast.parse(statement).body[0]
    new = [one for one in behind if not any(same(one, other) for other in before)]
    old = [one for one in before if not any(same(one, other) for other in behind)]
    if not edits and not new and not old:
        return ""
    if _comments(result) != _comments(text):
        return f"{statement}: other comments"
    if len(behind) == len(before):  # one more name of a statement
        return "" if len(new) == len(old) == 1 else f"{statement}: not merged"
    return "" if not old and len(new) == 1 and same(new[0], wished) else f"{statement}: other statements"


def _pass_arguments(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    call = random.choice(source.calls)
    twin = source.counterpart[call]
    new = ast.Call(_expression("zz.qq"), [twin.func, *twin.args], [*twin.keywords, ast.keyword("z", _expression("1"))])
    return source.step("replace", call, {"with": "zz.qq($callee, $arguments, z=1)"}), source.swapped(call, new)


def _delete(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    found = [node for node in source.nodes if isinstance(node, ast.stmt)]
    node = random.choice(found)
    block = source.tree.block(node)
    alone = len(block) == 1 and source.tree.parent(node) is not source.tree.module
    at = node.value if isinstance(node, ast.Expr | ast.Assign) else node
    return source.step("delete", at, {"what": "statement"}), source.swapped(node, [ast.Pass()] if alone else [])


def _delete_name(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    found = [node for node in source.nodes if isinstance(node, ast.Import | ast.ImportFrom) and len(node.names) > 1]
    if not found:
        return _delete(source, random)
    node = random.choice(found)
    alias = random.choice(node.names)
    return source.step("delete", node, {"what": "name", "name": alias.name}), source.swapped(alias, [])


def _insert(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    found = [node for node in source.nodes if isinstance(node, ast.stmt)]
    node = random.choice(found)
    where = random.choice(("before", "after"))
    head: Any = node
    while isinstance(head, ast.If) and source.tree.text(head).startswith("elif"):
        head = source.tree.parent(head)
    new = ast.parse("zz(1)").body
    twin = source.counterpart[head]
    statements = [*new, twin] if where == "before" else [twin, *new]
    return source.step("insert", node, {"text": "zz(1)", "where": where}), source.swapped(head, statements)


def _insert_block(source: Source, random: Random) -> tuple[FixStep, Wanted]:
    found = [node for node in source.nodes if isinstance(node, ast.stmt) and not isinstance(node, ast.If)]
    node = random.choice(found)
    text = "if zz:\n    if qq:\n        pass\nelse:\n    zz(2)"
    statements = [source.counterpart[node], *ast.parse(text).body]
    return source.step("insert", node, {"text": text, "where": "after"}), source.swapped(node, statements)


_MAKERS = (
    _rename,
    _rename_part,
    _wrap,
    _wrap,
    _value,
    _argument,
    _argument,
    _renamed_argument,
    _drop,
    _drop,
    _pass_arguments,
    _delete,
    _delete_name,
    _insert,
    _insert_block,
)


def trials(text: str, random: Random, count: int) -> Iterator[tuple[str, str | None]]:
    """(verb, what is wrong) of random steps; nothing for a source without calls."""
    source = Source(text)
    for _ in range(count if source.calls else 0):
        steps, check = source.random(random)
        yield steps[0].verb if len(steps) == 1 else "several", source.failure(steps, check)

"""Fills templates with $placeholders, adding parentheses where needed."""

from __future__ import annotations

import ast
import re

from npulint.fix.model import FixRefused
from npulint.fix.python import levels
from npulint.fix.python.names import module_name
from npulint.fix.python.tree import Range, Tree

_PLACEHOLDER = re.compile(r"\$(?:(old|complement|callee|receiver|arguments)\b|(arg|module)\(([^()]*)\))")
_STAND_IN = "stand_in_{}_"
_STOOD_IN = re.compile(r"\bstand_in_\d+_\b")
_NO_ARGUMENTS = re.compile(r"\$arguments\s*,\s*|(?:,\s*)?\$arguments\b")


class PlaceholderValue:
    """The value of a placeholder: its text, precedence, and range if it is a piece of source. `listed`: all arguments
    of a call."""

    def __init__(self, text: str, level: int, place: Range | None = None, listed: bool = False) -> None:
        self.text = text
        self.level = level
        self.place = place
        self.listed = listed


class Filled:
    """A filled template: its text, precedence, and `around`, the text before and after the old expression if that
    occurs in it unchanged and once."""

    def __init__(self, text: str, level: int, around: tuple[str, str] | None) -> None:
        self.text = text
        self.level = level
        self.around = around

    def within(self, required: int) -> Filled:
        """The filled template, in parentheses if its precedence is below `required`."""
        if self.level >= required:
            return self
        around = None if self.around is None else (f"({self.around[0]}", f"{self.around[1]})")
        return Filled(f"({self.text})", levels.ATOM, around)


class Templates:
    """Fills templates for a place: `old` is the expression, `call` the call there, if any."""

    def __init__(self, tree: Tree, at: ast.AST, old: ast.expr | None = None) -> None:
        self._tree = tree
        self._at = at
        self._old = old
        self._call = at if isinstance(at, ast.Call) else None

    def expression(self, template: str) -> Filled:
        """A template for an expression; raises `FixRefused` if it cannot be filled or is no expression."""
        source, parts = self._stood_in(template)
        body = _expression(source)
        texts = self._texts(body, parts)
        text = _replaced(source, texts)
        if isinstance(body, ast.Name) and body.id in parts and source.strip() == body.id:
            level = parts[body.id].level if texts[body.id] == parts[body.id].text else levels.ATOM
        else:
            level = levels.level(body, source.strip())
        around = self._around(source, texts, parts)
        if not _stands_alone(text) and around is None:
            level = -1  # multi-line expressions need parentheses
        return Filled(text, level, around)

    def statements(self, template: str) -> str:
        """A template for statements."""
        source, parts = self._stood_in(template)
        try:
            body = ast.parse(source)
        except (SyntaxError, ValueError):
            raise FixRefused("template") from None
        return _replaced(source, self._texts(body, parts))

    def _stood_in(self, template: str) -> tuple[str, dict[str, PlaceholderValue]]:
        parts: dict[str, PlaceholderValue] = {}
        template = self._quoted(template)
        if self._call is not None and not (self._call.args or self._call.keywords):
            template = _NO_ARGUMENTS.sub("", template)

        def stand_in(match: re.Match[str]) -> str:
            name = _STAND_IN.format(len(parts))
            parts[name] = self._part(match[1] or match[2], (match[3] or "").strip())
            return name

        return _PLACEHOLDER.sub(stand_in, template), parts

    def _quoted(self, template: str) -> str:
        """A template with the quotes used in the surrounding code."""
        own = [quote for quote in "'\"" if quote in template]
        if len(own) != 1 or "\\" in template or own[0] * 3 in template:
            return template
        place = self._tree.range(self._at) if hasattr(self._at, "lineno") else (0, 0)
        for start, end in (place, (0, len(self._tree.source))):
            near = [quote for begin, close, quote in self._tree.quotes if start <= begin and close <= end]
            if near:
                return template.replace(own[0], max([*own, "'", '"'], key=near.count))
        return template

    def _part(self, name: str, operand: str) -> PlaceholderValue:
        if name == "module":
            module = module_name(self._tree, operand)
            return PlaceholderValue(module, levels.ATOM)
        if name == "old":
            return self._source(self._old) if self._old is not None else _refuse("no-expression")
        if name == "complement":
            return self._complement()
        call = self._call
        if call is None:
            raise FixRefused("no-call")
        if name == "callee":
            return self._source(call.func)
        if name == "receiver":
            if not isinstance(call.func, ast.Attribute):
                raise FixRefused("name")
            return self._source(call.func.value)
        if name == "arguments":
            return self._arguments(call)
        return self._source(_argument(call, operand))

    def _source(self, node: ast.expr) -> PlaceholderValue:
        """An expression with its parentheses."""
        if shares_parentheses(self._tree, node):
            start, end = self._tree.range(node)
            return PlaceholderValue(self._tree.source[start:end], levels.ATOM)
        start, end = self._tree.outer(node)
        text = self._tree.source[start:end]
        bare = (start, end) == self._tree.range(node)
        return PlaceholderValue(text, levels.level(node, text) if bare else levels.ATOM, (start, end))

    def _complement(self) -> PlaceholderValue:
        old = self._old
        if old is None:
            raise FixRefused("no-expression")
        if isinstance(old, ast.BinOp) and isinstance(old.op, ast.Sub) and _is_one(old.left):
            part = self._source(old.right)
            return PlaceholderValue(part.text, part.level)
        part = self._source(old)
        text = part.text if part.level > levels.SUM else f"({part.text})"
        return PlaceholderValue(f"1 - {text}", levels.SUM)

    def _arguments(self, call: ast.Call) -> PlaceholderValue:
        """All arguments as written. The template has one name as stand-in for them."""
        start, end = self._tree.opening(call) + 1, self._tree.range(call)[1] - 1
        tokens = self._tree.tokens(call)
        last = tokens.before(end)
        if tokens.text(last) == "," and last[0] >= start and not tokens.comment_in(last[1], end):
            end = last[0] if "\n" not in self._tree.source[last[1] : end] else end
        return PlaceholderValue(self._tree.source[start:end], levels.ATOM, listed=True)

    def _texts(self, body: ast.AST, parts: dict[str, PlaceholderValue]) -> dict[str, str]:
        """The replacement of each stand-in, parenthesized where necessary."""
        texts = {name: part.text for name, part in parts.items()}
        for parent in ast.walk(_rooted(body)):
            for field, value in ast.iter_fields(parent):
                for child in value if isinstance(value, list) else (value,):
                    if isinstance(child, ast.Name) and child.id in parts:
                        part = parts[child.id]
                        if part.listed and (type(parent), field) != (ast.Call, "args"):
                            raise FixRefused("template")
                        if part.level < levels.required(parent, field, child):
                            texts[child.id] = f"({part.text})"
        return texts

    def _around(self, source: str, texts: dict[str, str], parts: dict[str, PlaceholderValue]) -> tuple[str, str] | None:
        """The text before and after the old expression; None if it does not occur exactly once."""
        if self._old is None or shares_parentheses(self._tree, self._old):
            return None
        place = self._tree.outer(self._old)
        names = [name for name, part in parts.items() if part.place == place]
        if len(names) != 1 or source.count(names[0]) != 1:
            return None
        bare = "\0"
        text = texts[names[0]]
        marked = text.replace(parts[names[0]].text, bare, 1)
        before, _, behind = _replaced(source, {**texts, names[0]: marked}).partition(bare)
        return before, behind


def shares_parentheses(tree: Tree, node: ast.AST) -> bool:
    """Whether a generator is the only argument of a call, without own parentheses."""
    parent = tree.parent(node)
    if not isinstance(node, ast.GeneratorExp) or not isinstance(parent, ast.Call) or node is parent.func:
        return False
    return tree.opening(parent) == tree.range(node)[0]


def _refuse(reason: str) -> PlaceholderValue:
    raise FixRefused(reason)


def _expression(source: str) -> ast.expr:
    try:
        return ast.parse(f"({source}\n)" if "\n" in source else source.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise FixRefused("template") from None
    except (RecursionError, MemoryError):
        raise FixRefused("too-deep") from None


def _stands_alone(text: str) -> bool:
    """Whether an expression may span lines without brackets around it. Raises `FixRefused` for invalid ones."""
    _expression(text)
    try:
        ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return False
    return True


def _rooted(body: ast.AST) -> ast.AST:
    return ast.Expression(body) if isinstance(body, ast.expr) else body


def _replaced(source: str, texts: dict[str, str]) -> str:
    return _STOOD_IN.sub(lambda match: texts.get(match[0], match[0]), source)


def _is_one(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, bool) and node.value == 1


def _argument(call: ast.Call, operand: str) -> ast.expr:
    """The argument of ``$arg(name|position)``; raises `FixRefused` if it is not certainly passed."""
    name, _, position = operand.partition("|")
    if name.isdigit():
        name, position = "", name
    for keyword in call.keywords:
        if name and keyword.arg == name:
            return keyword.value
    index = int(position) if position else -1
    if any(isinstance(passed, ast.Starred) for passed in call.args[: index + 1]):
        raise FixRefused("starred")
    if 0 <= index < len(call.args):
        return call.args[index]
    raise FixRefused("starred" if any(keyword.arg is None for keyword in call.keywords) else "argument")

"""Makes trees of the expressions of one function, class or module."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from npulint.commands.compare.code_changes.arguments import (
    PASSED,
    compared,
    dotted,
    is_running,
    is_switch,
    names_device,
    shared_name,
)
from npulint.commands.compare.code_changes.equal_forms import equal_form, of_environment, text_of
from npulint.commands.compare.code_changes.resolver import Resolver
from npulint.commands.compare.code_changes.trees import (
    ATTRIBUTE,
    CALL,
    LOCAL,
    OUTER,
    RANKS,
    Tree,
    constant,
    number,
)
from npulint.commands.training_config.followed import passing_at
from npulint.commands.training_config.steps.calls import SIZES
from npulint.commands.training_config.steps.model import Home
from npulint.commands.training_config.steps.unresolved import cast_of
from npulint.core.lazy_regex import lazy_compile
from npulint.data.recipe import NEVER, RecipeCall, recipe_call
from npulint.model.values.cursors import CallSite, scope_named

_BINARY: Final[Mapping[type, str]] = {
    **{ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**"},
    **{ast.MatMult: "@", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.LShift: "<<", ast.RShift: ">>"},
}
_COMPARED: Final[Mapping[type, str]] = {
    **{ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Is: "is"},
    **{ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in"},
}
_TURNED: Final = {">": "<", ">=": "<="}
_UNARY: Final[Mapping[type, str]] = {ast.USub: "neg", ast.UAdd: "pos", ast.Not: "not", ast.Invert: "~"}
_MOVING: Final = frozenset(
    "cuda npu cpu to contiguous pin_memory identity prefetch cache with_options tqdm DeviceWrapper item".split()
)
"""Last names of calls that give what they are given, at another place in memory or a little earlier."""
_JOINING: Final = frozenset(("os.path.join", "posixpath.join", "tensorflow.io.gfile.join"))
_TYPE: Final = lazy_compile(r"(?i)float|half|int|double|bool|type")
_NOTHING: Final = Tree(("nothing",))


class Expressions:
    """Makes trees. `versions` counts the assignments to each local variable so far."""

    def __init__(self, resolver: Resolver, block: int, variables: frozenset[str], outer: frozenset[str]) -> None:
        self._resolver, self._block = resolver, block
        self.versions: dict[str, int] = dict.fromkeys(variables, 0)
        self._outer = outer
        self._bound: list[str] = []

    def of(self, node: ast.AST | None) -> Tree:
        """The tree of an expression."""
        if node is None:
            return _NOTHING
        make = _MAKERS.get(type(node))
        if make is not None:
            return make(self, node)
        inner = [self.of(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return Tree((type(node).__name__,), tuple(inner), node)

    def _several(self, nodes: Sequence[ast.expr]) -> tuple[Tree, ...]:
        return tuple(self.of(node) for node in nodes)

    # -- names

    def variable(self, name: str, node: ast.AST | None = None) -> Tree:
        """A local variable as it is assigned last."""
        return Tree((LOCAL, name, self.versions[name]), (), node)

    def _name(self, node: ast.Name) -> Tree:
        name = node.id
        if name in self._bound:
            return Tree(("bound", len(self._bound) - 1 - self._bound[::-1].index(name)), (), node)
        if name in self.versions:
            return self.variable(name, node)
        if name in self._outer:
            return Tree((OUTER, name), (), node)
        return self._resolved(name, node) or Tree((OUTER, name), (), node)

    def _resolved(self, written: str, node: ast.expr) -> Tree | None:
        """What a dotted name means, if that is known."""
        canonical = self._resolver.name(written, self._block, node.lineno)
        target = self._resolver.target(canonical) if not canonical.endswith("()") else None
        if target is not None:
            return Tree(("own", self._resolver.shared.own(target)), (), node)
        if canonical.startswith("?") or not canonical:
            return None
        if ":" in canonical:
            inner = canonical.partition(":")[2]
            return None if "(" in inner or "[" in inner else Tree((OUTER, inner), (), node)
        known = "." in written or canonical != written or hasattr(builtins, written) or self._resolver.imports(written)
        return Tree(("lib", shared_name(canonical)), (), node) if known else None

    def _attribute(self, node: ast.Attribute) -> Tree:
        root, written = dotted(node)
        if root and root not in self._bound and root not in self.versions and root not in self._outer:
            resolved = self._resolved(written, node)
            if resolved is not None:
                return resolved
        base = self.of(node.value)
        return Tree((ATTRIBUTE, node.attr), (base,), node)

    # -- calls

    def _call(self, node: ast.Call) -> Tree:
        site = self._resolver.site(node)
        canonical = "?" if site is None else site.name
        recipe = recipe_call(canonical, self._resolver.framework)
        receiver = self._receiver(node)
        if site is not None and self._moves(site, recipe):
            if receiver is not None:
                return receiver
            named = [key.value for key in node.keywords if recipe is not None and key.arg == recipe.through]
            return self.of((*node.args, *named)[0]) if node.args or named else _NOTHING
        if recipe is not None and recipe.part == "ranks" and recipe.neutral:
            return Tree((RANKS, recipe.neutral), (), node, -1 if site is None else site.index)
        text = self._text_call(node, canonical, receiver)
        if text is not None:
            return text
        target = self._resolver.target(canonical) if site is not None else None
        names, values = self._arguments(node, site, recipe, target)
        first = () if receiver is None else (receiver,)
        callee = self._callee(node, canonical, recipe, target)
        tree = Tree(
            (CALL,),
            (callee, *first, *values),
            node,
            -1 if site is None else site.index,
            ("", *(("self",) if first else ()), *names),
        )
        return equal_form(tree, canonical)

    def _moves(self, site: CallSite, recipe: RecipeCall | None) -> bool:
        """Whether a call gives what it is given, on another device."""
        if site.last in ("tqdm", "cuda", "npu", "cpu"):
            return True
        if site.last == "to" and recipe is None:
            return not any(_TYPE.search(value.written) for value in site.arguments)
        if recipe is None or not recipe.transparent:
            return False
        return (site.last in _MOVING or recipe.adapter) and not cast_of(site, recipe)

    def _receiver(self, node: ast.Call) -> Tree | None:
        """The object that a method is called on; None for a function."""
        if not isinstance(node.func, ast.Attribute):
            return None
        base = self.of(node.func.value)
        return None if base.kind in ("lib", "own") and not isinstance(node.func.value, ast.Call) else base

    def _callee(self, node: ast.Call, canonical: str, recipe: RecipeCall | None, target: Home | None) -> Tree:
        if target is not None:
            applied = "()" if canonical.endswith("()") else ""
            return Tree(("own", self._resolver.shared.own(target), applied), (), node.func)
        if recipe is not None:
            return Tree(("lib", recipe.same_as), (), node.func)
        if isinstance(node.func, ast.Attribute):
            known = not canonical.startswith("?") and ":" not in canonical and ")." not in canonical
            return Tree(("lib", shared_name(canonical) if known else f"?.{node.func.attr}"), (), node.func)
        return self.of(node.func)

    def _arguments(
        self, node: ast.Call, site: CallSite | None, recipe: RecipeCall | None, target: Home | None
    ) -> tuple[list[str], list[Tree]]:
        """The names and values of the arguments that may affect numbers, in an order that does not depend on how they
        are passed."""
        given: list[tuple[str, Tree]] = []
        starred = any(isinstance(value, ast.Starred) for value in node.args)
        if recipe is not None and recipe.rest in SIZES and len(node.args) > recipe.positional and not starred:
            given.append((recipe.rest, self._sizes(node.args[recipe.positional :])))
        parameters, shift = self._parameters(site, target)
        for at, value in enumerate(node.args if not given else node.args[: recipe.positional if recipe else 0]):
            name = str(at)
            if recipe is not None and not starred:
                name = compared(recipe, recipe.parameter(at))
            elif parameters and not starred and at + shift < len(parameters):
                name = parameters[at + shift]
            if name and not (target is not None and is_running(name, value)):
                given.append((name, self.of(value)))
        for keyword in node.keywords:
            name = keyword.arg or "**"
            name = compared(recipe, name) if recipe is not None and keyword.arg else name
            counts = target is not None and is_running(name, keyword.value)
            idle = names_device(keyword.value) or (name.startswith(PASSED) and is_switch(keyword.value))
            if name and (name not in NEVER or name in parameters) and not counts and not idle:
                given.append((name, self.of(keyword.value)))
        if target is not None:
            given = [(self._resolver.shared.parameter(target, name), value) for name, value in given]
        plain = [pair for pair in given if pair[0].isdigit()]
        named = sorted((pair for pair in given if not pair[0].isdigit()), key=lambda pair: pair[0])
        ordered = [*plain, *named]
        return [name for name, _ in ordered], [value for _, value in ordered]

    def _sizes(self, nodes: Sequence[ast.expr]) -> Tree:
        """Sizes that are passed one by one, as in a list."""
        values = self._several(nodes)
        is_list = len(values) == 1 and values[0].kind == "display"
        return values[0] if is_list else Tree(("display",), values, nodes[0])

    def _parameters(self, site: CallSite | None, target: Home | None) -> tuple[tuple[str, ...], int]:
        """The parameters of a project function that is called, and how many of them are not passed."""
        scope = scope_named(site.context, site.name) if site is not None and target is not None else None
        function = scope.called_block if scope is not None else None
        if scope is None or function is None or site is None:
            return (), 0
        shift = 1 if scope.kind == "class" else passing_at(scope, site).shift
        return function.parameters, shift

    # -- texts

    def _text_call(self, node: ast.Call, canonical: str, receiver: Tree | None) -> Tree | None:
        """A call that puts a text together; None for others."""
        whole = Tree(("text",), (), node)
        if canonical in _JOINING and node.args and not node.keywords:
            pieces: list[Tree | str] = [self.of(node.args[0])]
            for value in node.args[1:]:
                pieces += ["/", self.of(value)]
            return text_of(pieces, whole)
        is_format = isinstance(node.func, ast.Attribute) and node.func.attr == "format" and not node.keywords
        if is_format and receiver is not None and receiver.label[:2] == ("const", "str"):
            return self._filled(str(receiver.label[2]), "{}", self._several(node.args), whole)
        return None

    def _filled(self, text: str, gap: str, values: Sequence[Tree], whole: Tree) -> Tree | None:
        """A format with its values; None where it has other gaps than these."""
        constants = text.split(gap)
        if len(constants) != len(values) + 1 or any("{" in part or "%" in part for part in constants):
            return None
        pieces: list[Tree | str] = [constants[0]]
        for value, after in zip(values, constants[1:], strict=True):
            pieces += [value, after]
        return text_of(pieces, whole)

    def _joined(self, node: ast.JoinedStr) -> Tree:
        pieces: list[Tree | str] = []
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                pieces.append(self.of(value.value))
            else:
                pieces.append(self.of(value))
        return text_of(pieces, Tree(("text",), (), node))

    # -- operators

    def _binary(self, node: ast.BinOp) -> Tree:
        left = self.of(node.left)
        operator = _BINARY[type(node.op)]
        if operator == "%" and left.label[:2] == ("const", "str"):
            values = self._several(node.right.elts if isinstance(node.right, ast.Tuple) else [node.right])
            text = str(left.label[2]).replace("%d", "%s")
            filled = self._filled(text, "%s", values, Tree(("text",), (), node))
            if filled is not None:
                return filled
            return Tree(("op", operator), (left, *values), node)
        right = self.of(node.right)
        if operator == "+" and any(side.label[:2] == ("const", "str") or side.kind == "text" for side in (left, right)):
            return text_of([left, right], Tree(("text",), (), node))
        return Tree(("op", operator), (left, right), node)

    def _unary(self, node: ast.UnaryOp) -> Tree:
        value = self.of(node.operand)
        operator = _UNARY[type(node.op)]
        if operator == "neg" and value.is_number:
            return constant(-float(str(value.label[2])), node)
        return value if operator == "pos" else Tree(("op", operator), (value,), node)

    def _compare(self, node: ast.Compare) -> Tree:
        operators = [_COMPARED[type(operator)] for operator in node.ops]
        values = self._several([node.left, *node.comparators])
        if len(operators) == 1 and operators[0] in _TURNED:
            return Tree(("op", _TURNED[operators[0]]), values[::-1], node)
        return Tree(("op", *operators), values, node)

    def _boolean(self, node: ast.BoolOp) -> Tree:
        return Tree(("op", type(node.op).__name__), self._several(node.values), node)

    def _choice(self, node: ast.IfExp) -> Tree:
        return Tree(("if",), self._several([node.test, node.body, node.orelse]), node)

    # -- displays

    def _constant(self, node: ast.Constant) -> Tree:
        value = node.value.decode("utf-8", "replace") if isinstance(node.value, bytes) else node.value
        return constant(value, node)

    def _display(self, node: ast.List | ast.Tuple) -> Tree:
        return Tree(("display",), self._several(node.elts), node)

    def _dict(self, node: ast.Dict) -> Tree:
        keys = ["**" if key is None else ast.unparse(key) for key in node.keys]
        order = sorted(range(len(keys)), key=lambda at: keys[at])
        return Tree(
            ("dict",), tuple(self.of(node.values[at]) for at in order), node, names=tuple(keys[at] for at in order)
        )

    def _subscript(self, node: ast.Subscript) -> Tree:
        base, index = self.of(node.value), self.of(node.slice)
        if base.label == ("lib", "os.environ"):
            known = of_environment(index)
            if known is not None:
                return known
        return Tree(("[]",), (base, index), node)

    def _slice(self, node: ast.Slice) -> Tree:
        parts = [self.of(part) for part in (node.lower, node.upper, node.step)]
        for at, usual in ((0, 0), (2, 1)):
            parts[at] = _NOTHING if parts[at].label == number(usual).label else parts[at]
        return Tree((":",), tuple(parts), node)

    # -- functions within expressions

    def _lambda(self, node: ast.Lambda) -> Tree:
        names = [arg.arg for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        defaults = self._several([value for value in (*node.args.defaults, *node.args.kw_defaults) if value])
        self._bound += names
        body = self.of(node.body)
        del self._bound[len(self._bound) - len(names) :]
        called = _only_called(body, len(self._bound), len(names))
        return called if called is not None else Tree(("lambda", len(names)), (body, *defaults), node)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Tree:
        parts: list[Tree] = []
        before = len(self._bound)
        for generator in node.generators:
            parts.append(self.of(generator.iter))
            self._bound += [name.id for name in ast.walk(generator.target) if isinstance(name, ast.Name)]
            parts.append(Tree(("filter",), self._several(generator.ifs), generator.target))
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        parts += self._several(made)
        del self._bound[before:]
        return Tree((type(node).__name__,), tuple(parts), node)


def _only_called(body: Tree, first: int, count: int) -> Tree | None:
    """The function that a lambda calls with its own parameters and nothing else; None for another lambda."""
    own = [("bound", first + at) for at in range(count)]
    if body.kind == CALL and [part.label for part in body.parts[1:]] == own and body.parts[0].kind == "own":
        return Tree(body.parts[0].label[:2]) if body.parts[0].label[-1] != "()" else None
    return None


_Maker = Callable[[Expressions, Any], Tree]
_MAKERS: Final[Mapping[type, _Maker]] = {
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions._call,
    ast.JoinedStr: Expressions._joined,
    ast.BinOp: Expressions._binary,
    ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare,
    ast.BoolOp: Expressions._boolean,
    ast.IfExp: Expressions._choice,
    ast.Constant: Expressions._constant,
    ast.List: Expressions._display,
    ast.Tuple: Expressions._display,
    ast.Dict: Expressions._dict,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._slice,
    ast.Lambda: Expressions._lambda,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
}

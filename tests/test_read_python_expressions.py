"""What the Python reader makes of expressions: a value, and the calls and names met on the way."""

from __future__ import annotations

import msgspec
import pytest

from npulint.facts.code import (
    UNKNOWN,
    CallResult,
    Code,
    Const,
    Function,
    Op,
    Ref,
    SequenceDisplay,
    Table,
    Unknown,
    Value,
)
from npulint.read.python import read_python

_HEAD = "import tensorflow as tf\n"  # makes the source concern a framework, else it is read lightly


def _code(text: str) -> Code:
    code, problems = read_python(_HEAD + text, "m.py")
    assert problems == []
    return code


def _value(expression: str) -> Value:
    return _code(f"x = {expression}\n").assignments[-1].value


_VALUES: dict[str, tuple[str, Value]] = {
    "a text": ("'a'", Const("a")),
    "bytes are remembered as such": ("b'a'", Const("a", True)),
    "a whole number": ("3", Const(3)),
    "a negative number": ("-3", Const(-3)),
    "a number with a plus sign": ("+3", Const(3)),
    "a fraction": ("1e-3", Const(0.001)),
    "a number beyond 64 bits": (str(1 << 70), Const(float(1 << 70))),
    "a number beyond all fractions": ("9" * 400, UNKNOWN),
    "a truth value": ("True", Const(True)),
    "None": ("None", Const(None)),
    "a complex number": ("1j", UNKNOWN),
    "three dots": ("...", UNKNOWN),
    "a name": ("a", Ref("a")),
    "a dotted name": ("a.b.c", Ref("a.b.c")),
    "an element": ("a['k']", Op("[]", (Ref("a"), Const("k")))),
    "an attribute of an element": ("a[0].b", Op(".", (Op("[]", (Ref("a"), Const(0))), Const("b")))),
    "a slice": ("a[1:f()]", Op("[]", (Ref("a"), UNKNOWN))),
    "a slice with literal bounds": ("a[:100]", Op("[]", (Ref("a"), Unknown((None, 100, None))))),
    "a slice with a step": ("a[::-1]", Op("[]", (Ref("a"), Unknown((None, None, -1))))),
    "a whole slice": ("a[:]", Op("[]", (Ref("a"), UNKNOWN))),
    "a sum": ("a + 1", Op("+", (Ref("a"), Const(1)))),
    "a shift": ("a << b", Op("<<", (Ref("a"), Ref("b")))),
    "a matrix product": ("a @ b", Op("@", (Ref("a"), Ref("b")))),
    "masks together": ("a & b | c", Op("|", (Op("&", (Ref("a"), Ref("b"))), Ref("c")))),
    "a negated name": ("-a", Op("neg", (Ref("a"),))),
    "a bitwise inversion": ("~a", Op("~", (Ref("a"),))),
    "not": ("not a", Op("not", (Ref("a"),))),
    "and": ("a and b", Op("and", (Ref("a"), Ref("b")))),
    "or of three": ("a or b or c", Op("or", (Ref("a"), Ref("b"), Ref("c")))),
    "a comparison": ("a < 1", Op("<", (Ref("a"), Const(1)))),
    "membership": ("a not in b", Op("not in", (Ref("a"), Ref("b")))),
    "a chain of comparisons": ("0 < a < 1", UNKNOWN),
    "a conditional": ("a if t else b", Op("if", (Ref("t"), Ref("a"), Ref("b")))),
    "a tuple": ("(1, a)", SequenceDisplay((Const(1), Ref("a")))),
    "a list": ("[1]", SequenceDisplay((Const(1),))),
    "a set": ("{1}", SequenceDisplay((Const(1),))),
    "a starred element": ("[*a]", SequenceDisplay((Op("star", (Ref("a"),)),))),
    "a dict": ("{'k': 1, **o}", Table((Const("k"), None), (Const(1), Ref("o")))),
    "an f-string": ("f'a{b}'", Op("join", (Const("a"), Ref("b")))),
    "a nested f-string": ("f'{a}{f\"{b}\"}'", Op("join", (Ref("a"), Op("join", (Ref("b"),))))),
    "a call": ("f()", CallResult(0)),
    "a method of a result": ("f().g", Op(".", (CallResult(0), Const("g")))),
    "getattr with a literal": ("getattr(a.b, 'c')", Ref("a.b.c")),
    "getattr of a result": ("getattr(f(), 'c')", Op(".", (CallResult(0), Const("c")))),
    "getattr of an element": ("getattr(a[0], 'c', None)", Op(".", (Op("[]", (Ref("a"), Const(0))), Const("c")))),
    "getattr with a computed name": ("getattr(a, b)", CallResult(0)),
    "a lambda": ("lambda: 1", Function(1)),
    "an assignment expression": ("(y := 3)", Const(3)),
    "a comprehension": ("[f(a) for a in b]", Op("each", (CallResult(0),))),
    "a dict comprehension": ("{a: 1 for a in b}", Op("each", (Const(1),))),
}


@pytest.mark.parametrize(("expression", "value"), _VALUES.values(), ids=_VALUES.keys())
def test_value_of(expression: str, value: Value) -> None:
    assert _value(expression) == value


def test_await_is_its_operand() -> None:
    assert _code("async def f():\n    x = await g()\n").assignments[-1].value == CallResult(0)


def test_long_text_is_cut() -> None:
    value = _value(repr("a" * 5000))
    assert isinstance(value, Const) and isinstance(value.value, str) and 100 < len(value.value) < 1000


@pytest.mark.parametrize("literal", ["'\\ud800'", "'a\\udfffb'", "{'\\ud800': 1}"])
def test_lone_surrogate_can_be_cached(literal: str) -> None:
    code = _code(f"x = {literal}\n")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(code), type=Code) == code


_WIDE = ", ".join(str(i) for i in range(300))


@pytest.mark.parametrize(
    "display",
    [f"[{_WIDE}, f(1)]", f"{{{', '.join(f'{i}: {i}' for i in range(300))}, 'k': f(1)}}"],
    ids=["a long list", "a long dict"],
)
def test_long_display_is_data_but_calls_in_it_are_found(display: str) -> None:
    code = _code(f"x = {display}\n")
    assert code.assignments[-1].value == UNKNOWN
    assert [c.callee for c in code.calls] == [Ref("f")]


_CALLEES: dict[str, tuple[str, list[Value]]] = {
    "a name": ("f(1)", [Ref("f")]),
    "a method": ("a.b.c()", [Ref("a.b.c")]),
    "a method of a result": ("a().b()", [Ref("a"), Op(".", (CallResult(0), Const("b")))]),
    "a method of a text": ("'a{}'.format(1)", [Op(".", (Const("a{}"), Const("format")))]),
    "a result": ("a()()", [Ref("a"), CallResult(0)]),
    "an element": ("a[0]()", [Op("[]", (Ref("a"), Const(0)))]),
    "a method of what is not modelled": ("(a < b < c).b()", [Op(".", (UNKNOWN, Const("b")))]),
    "inside a slice": ("a[f():g():h()]", [Ref("f"), Ref("g"), Ref("h")]),
    "inside an f-string": ("f'{f()!r:>{g()}}'", [Ref("f")]),
    "inside a comprehension": ("[f(a) for a in g() if h(a)]", [Ref("g"), Ref("h"), Ref("f")]),
    "inside a dict comprehension": ("{f(a): g(a) for a in b}", [Ref("f"), Ref("g")]),
    "inside a lambda": ("lambda x=f(): g(x)", [Ref("f"), Ref("g")]),
    "inside a chain of comparisons": ("0 < f() < g()", [Ref("f"), Ref("g")]),
}


@pytest.mark.parametrize(("expression", "callees"), _CALLEES.values(), ids=_CALLEES.keys())
def test_calls_are_found(expression: str, callees: list[Value]) -> None:
    assert [c.callee for c in _code(f"x = {expression}\n").calls] == callees


def test_arguments_keep_their_order_and_keywords() -> None:
    call = _code("f(1, *a, k=2, **o)\n").calls[0]
    assert call.args == (Const(1), Op("star", (Ref("a"),)))
    assert call.keywords == (("k", Const(2)), ("**", Ref("o")))


_MENTIONS: dict[str, tuple[str, list[str]]] = {
    "a member of an imported module": ("x = tf.float16\n", ["tf.float16"]),
    "an imported name": ("from tensorflow import float16\nx = float16\n", ["float16"]),
    "a name that no import binds": ("x = other.float16\n", []),
    "a callee is a call, not a mention": ("tf.f(1)\n", []),
    "an argument": ("f(tf.float16)\n", ["tf.float16"]),
    "getattr with a literal": ("x = getattr(tf, 'float16')\n", ["tf", "tf.float16"]),
    "a decorator": ("@tf.function\ndef f(): pass\n", ["tf.function"]),
    "an import inside a function": ("def f():\n    import horovod as h\n    return h.size\n", ["h.size"]),
}


@pytest.mark.parametrize(("text", "names"), _MENTIONS.values(), ids=_MENTIONS.keys())
def test_mentions_of_imported_names(text: str, names: list[str]) -> None:
    assert [m.name for m in _code(text).name_uses] == names


def test_comprehension_binds_its_names_in_a_block_of_its_own() -> None:
    code = _code("x = [f(a, c) for a, (b, c) in d]\n")
    block = code.blocks[code.calls[0].block]
    assert (block.kind, block.parent, block.params, block.test) == ("loop", 0, ("a", "b", "c"), Ref("d"))


def test_first_source_of_a_comprehension_is_read_outside_of_it() -> None:
    code = _code("x = [a for b in f(b) for a in g(b)]\n")
    assert [code.blocks[c.block].kind for c in code.calls] == ["module", "loop"]


def test_assignment_expression_in_a_condition_binds() -> None:
    bind = _code("if (n := f()):\n    pass\n").assignments[0]
    assert (bind.target, bind.value, bind.block) == ("n", CallResult(0), 0)


def test_lambda_returns_its_body() -> None:
    code = _code("f = lambda a, b=2, *c, **d: a.b\n")
    block = code.blocks[1]
    assert (block.kind, block.params, block.defaults) == (
        "lambda",
        ("a", "b", "*c", "**d"),
        (Const(2), UNKNOWN, UNKNOWN),
    )
    assert [(r.value, r.block) for r in code.returns] == [(Ref("a.b"), 1)]


def test_an_augmented_assignment_keeps_its_operator_unless_it_adds() -> None:
    added, divided = (one.value for one in _code("a += b\na /= b\n").assignments)
    assert added == Op("+=", (Ref("b"),))
    assert divided == Op("+=", (Ref("b"), Const("/")))

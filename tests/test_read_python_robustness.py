"""Odd, huge and hostile sources: read, or refused with a clear problem, and never for long."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npulint.commands.build import assemble
from npulint.facts.code import UNKNOWN, Code, Op, SequenceDisplay, Table, Value
from npulint.facts.model import FileFacts, Problem
from npulint.model.running.code_facts import CodeFact
from npulint.read.python import read_python
from tests.growth import assert_linear, ended_if_stuck

_HEAD = "import tensorflow as tf\n"
_DEEP_VALUE = 80  # levels; a decoder or a comparison recurses over them


def _depth(value: Value) -> int:
    deepest, queue = 0, [(value, 1)]
    while queue:
        here, depth = queue.pop()
        deepest = max(deepest, depth)
        if isinstance(here, Op):
            queue += [(v, depth + 1) for v in here.operands]
        elif isinstance(here, SequenceDisplay):
            queue += [(v, depth + 1) for v in here.items]
        elif isinstance(here, Table):
            queue += [(v, depth + 1) for v in (*here.keys, *here.values) if v is not None]
    return deepest


def _check(text: str) -> tuple[Code, str]:
    """Read and assemble; returns the code and the reason of a problem."""
    with ended_if_stuck():
        code, problems = _read(text)
    return code, problems[0].reason if problems else ""


def _read(text: str) -> tuple[Code, list[Problem]]:
    code, problems = read_python(text, "train.py")
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(code), type=Code) == code
    assert all(_depth(b.value) <= _DEEP_VALUE for b in code.assignments)
    assert all(_depth(v) <= _DEEP_VALUE for c in code.calls for v in (c.callee, *c.args))
    for program in assemble("", [FileFacts("train.py", "python", code)]):
        for kind in program.index.kinds():
            for fact in program.index.of_kind(kind):
                for attribute in ("active", "in_input", "under", "value"):
                    fact.get(attribute)
    return code, problems


# name -> (text for a depth, calls of `leaf` in it)
_NESTS: dict[str, tuple[Callable[[int], str], int | None]] = {
    "a sum": (lambda n: "x = " + " + ".join(["a"] * n) + " + leaf()\n", 1),
    "a sum of calls": (lambda n: "x = " + " + ".join(["leaf()"] * n) + "\n", None),
    "a power": (lambda n: "x = " + "**".join(["a"] * n) + "**leaf()\n", 1),
    "not": (lambda n: "x = " + "not " * n + "leaf()\n", 1),
    "conditionals": (lambda n: "x = " + "a if b else " * n + "leaf()\n", 1),
    "chained methods": (lambda n: "x = leaf()" + ".m()" * n + "\n", 1),
    "chained attributes": (lambda n: "x = leaf()" + ".m" * n + "\n", 1),
    "a method at the end of chained attributes": (lambda n: "x = leaf()" + ".m" * n + "()\n", 1),
    "chained attributes of a name": (lambda n: "x = a" + ".m" * n + "(leaf())\n", 1),
    "chained subscripts": (lambda n: "x = leaf()" + "[0]" * n + "\n", 1),
    "a target of subscripts": (lambda n: "a" + "[0]" * n + " = leaf()\n", 1),
    "lambdas": (lambda n: "x = " + "lambda: " * n + "leaf()\n", 1),
    "elif": (lambda n: "if a:\n    pass\n" + "elif a:\n    pass\n" * n + "else:\n    leaf()\n", 1),
}


@pytest.mark.parametrize("depth", [50, 100, 800, 8000])
@pytest.mark.parametrize("nest", _NESTS.keys())
def test_deep_source_is_read_or_refused(nest: str, depth: int) -> None:
    make, expected = _NESTS[nest]
    code, reason = _check(_HEAD + make(depth))
    if reason:
        assert (reason, depth > 100) == ("too-deep", True)
    else:
        found = sum(getattr(c.callee, "name", "") == "leaf" for c in code.calls)
        assert found == (depth if expected is None else expected)


_BRACKETS = {
    "parentheses": ("(", ")"),
    "lists": ("[", "]"),
    "calls": ("f(", ")"),
    "dicts": ("{1: ", "}"),
    "subscripts": ("a[", "]"),
    "lambdas in parentheses": ("(lambda a: ", ")"),
    "comprehensions": ("[a for a in ", "]"),
    "assignment expressions": ("(a := ", ")"),
}


@pytest.mark.parametrize(("begin", "end"), _BRACKETS.values(), ids=_BRACKETS.keys())
def test_ninety_brackets_are_read(begin: str, end: str) -> None:
    code, reason = _check(f"{_HEAD}x = {begin * 90}leaf(){end * 90}\n")
    assert reason == ""
    assert any(getattr(c.callee, "name", "") == "leaf" for c in code.calls)


def test_hundred_and_fifty_parentheses_are_read() -> None:
    code, reason = _check(f"{_HEAD}x = {'(' * 150}leaf(){')' * 150}\n")
    assert (reason, len(code.calls)) == ("", 1)


def test_ninety_indents_are_read() -> None:
    text = "".join(" " * i + "if a:\n" for i in range(90)) + " " * 90 + "leaf()\n"
    code, reason = _check(_HEAD + text)
    assert (reason, len(code.calls)) == ("", 1)


_HUGE = {
    "a dict of a megabyte": "d = {" + ", ".join(f"'k{i}': {i}" for i in range(70_000)) + "}\n",
    "a line of a megabyte": "s = '" + "x" * 1_000_000 + "'\n",
    "a wide line of a megabyte with calls": "s = '" + "é" * 300_000 + "'; y = [" + "f('é'), " * 5_000 + "]\n",
    "ten thousand functions": "".join(f"def f{i}(a): return a\n" for i in range(10_000)),
    "ten thousand calls": "".join(f"x = tf.abs(x + {i})\n" for i in range(10_000)),
    "ten thousand bindings of a name": "".join(f"if a: x = {i}\n" for i in range(10_000)) + "tf.abs(x)\n",
    "a display of calls": "x = [" + "f(1), " * 20_000 + "]\n",
    "a tuple of ten thousand targets": ", ".join(f"a{i}" for i in range(10_000)) + " = x\n",
    "a name of a megabyte": "x" * 1_000_000 + " = 1\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", _HUGE.values(), ids=_HUGE.keys())
def test_huge_source_is_read(text: str) -> None:
    assert _check(_HEAD + text)[1] == ""


def test_number_beyond_the_interpreters_limit_is_no_crash() -> None:
    assert _check(f"{_HEAD}x = {'9' * 5000}\n")[1] in ("", "syntax-error")


_EXPLOSIVE = {
    "doubling names": ("    x# = x@ or x@\n", "    x30.run(1); tf.Session(config=x30)\n"),
    "branches of one name": ("    if p.a@:\n        x0 = x0 or p\n", "    tf.Session(config=x0); x0.run(1)\n"),
    "branches of a number": ("    if p.a@:\n        x0 = x0 + 1\n", "    tf.nn.top_k(p, x0)\n"),
    "doubling numbers": ("    x# = x@ + x@\n", "    tf.nn.top_k(p, x30)\n"),
    "doubling sources of gradients": (
        "    x# = zip(x@, x@, x@)\n",
        "    tf.train.AdamOptimizer().apply_gradients(x30)\n",
    ),
    "doubling functions": (
        "    def x#(a): return x@(a) if a else x@(a)\n",
        "    tf.Session(config=x30(1)); x30(2).run()\n",
    ),
    "doubling wrappers": ("    x# = W(x@) if p.a else V(x@)\n", "    x30.minimize(p)\n"),
    "doubling conditions": ("    x# = not x@ and not x@\n", "    if x30:\n        tf.Session()\n"),
}


@pytest.mark.parametrize(("step", "end"), _EXPLOSIVE.values(), ids=_EXPLOSIVE.keys())
def test_question_with_exponentially_many_answers_ends(step: str, end: str) -> None:
    steps = "".join(step.replace("@", str(i)).replace("#", str(i + 1)) for i in range(30))
    assert _check(f"{_HEAD}def f(p):\n    x0 = p.q\n{steps}{end}")[1] == ""


_CIRCULAR = {
    "a name of itself": "x = x\nx.run(1)\ntf.Session(config=x)\n",
    "two names of each other": "a = b\nb = a\na.run(1)\ntf.nn.top_k(a, b)\n",
    "functions that return each other": "def f(): return g()\ndef g(): return f()\nf().run(1)\n"
    "tf.Session(config=f())\n",
    "a function that returns itself": "def f(): return f\nf()()()\ntf.data.Dataset.range(1).map(f)\n",
    "parameters handed round": "def f(a): g(a)\ndef g(a):\n    f(a)\n    tf.Session(config=a)\n",
    "attributes of each other": "class C:\n    def m(self):\n        self.a = self.b\n"
    "        self.b = self.a\n        self.a.run(1)\n",
    "a class that is its own base": "class C(C): pass\nC().run(1)\nC().a.b()\n",
    "classes that are each other's bases": "class A(B): pass\nclass B(A): pass\nA().run(1)\nB().x.y()\n",
    "options that are their own defaults": "parser.add_argument('--a', default=args.a)\ntf.nn.top_k(x, args.a)\n",
    "a display that holds itself": "d = {'k': d['k']}\ntf.nn.top_k(x, d['k'])\n",
    "a stage that maps itself": "def f(d): return d.map(f)\nf(tf.data.Dataset.range(1))\n",
    "a function under its own condition": "def f(a):\n    if f(a):\n        f(tf.Session())\n",
    "a lambda of itself": "f = lambda: f()\nf().run(1)\n",
    "a partial of itself": "import functools\nf = functools.partial(f, 1)\nf(1)\n",
}


@pytest.mark.parametrize("text", _CIRCULAR.values(), ids=_CIRCULAR.keys())
def test_circular_definition_ends(text: str) -> None:
    assert _check(_HEAD + text)[1] == ""


_MANY = {
    "operations beside a run": ("sess = tf.Session()\nfor i in x:\n    sess.run(a)\n", "    tf.add(a, @)\n", ""),
    "runs in a loop": ("sess = tf.Session()\nfor i in x:\n", "    sess.run(a@)\n", ""),
    "tables": (
        "",
        "t@ = tf.contrib.lookup.HashTable(a, b)\ntf.data.Dataset.range(3).map(lambda x: t@.lookup(x))\n",
        "",
    ),
    "variables": ("", "t@ = tf.Variable(1)\ntf.data.Dataset.range(3).map(lambda x: t@ + x)\n", ""),
    "custom optimizers": (
        "",
        "c@ = tf.ConfigProto()\no@ = c@.graph_options.rewrite_options.custom_optimizers.add()\n"
        "o@.name = 'NpuOptimizer'\n",
        "",
    ),
    "Python functions": ("", "tf.py_func(f, [x], t)\n", ""),
    "stages of one dataset": ("d = tf.data.Dataset.range(3)\n", "d = d.map(f)\n", "d.batch(3)\n"),
    "calls of one function": ("def f(x, n):\n    return tf.nn.dropout(x, 0.5, n)\n", "f(a@, s@)\n", ""),
    "steps of an optimizer that is handed in": (
        "def f(o):\n    o.minimize(x)\n    o.minimize(y)\n",
        "f(tf.train.AdamOptimizer(@))\n",
        "",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("begin", "step", "end"), _MANY.values(), ids=_MANY.keys())
def test_cost_does_not_grow_with_the_square(begin: str, step: str, end: str) -> None:
    def repeated(count: int) -> str:
        return f"{_HEAD}{begin}{''.join(step.replace('@', str(i)) for i in range(count))}{end}"

    assert _check(repeated(1500))[1] == ""
    assert_linear(repeated, _read, 400)


_WORDS = st.sampled_from(
    "\n \n tf a b f ( ) [ ] { } : , . = + - * / not and or if else lambda for in while with as def class return yield "
    "global import from try except finally await async match case 1 'é' f'{a}' := @ ** \n \n \t    ".split(" ")
)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(_WORDS, max_size=40).map(" ".join))
def test_any_words_are_read_or_refused(text: str) -> None:
    _check(text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    _check(text)


_STATEMENTS = st.sampled_from(
    [
        "a = b",
        "b = a.c",
        "a = f(b)",
        "b = a or b",
        "a.c = tf.ConfigProto()",
        "a = [b, 1]",
        "b = {'k': a}",
        "a = b['k']",
        "a = tf.train.AdamOptimizer()",
        "a.minimize(b)",
        "b = a.map(f)",
        "tf.Session(config=a)",
        "with tf.Session() as a: b.run(a)",
        "if a: b = 1",
        "for a in b: f(a)",
        "from m import *",
        "from m import a",
        "import m as b",
        "a.b = a",
        "b = lambda a: b(a)",
        "def f(a): return g(a)",
        "def g(b): return f(b)",
        "class a(b): c = a",
        "a = a + b",
        "b = tf.data.Dataset.range(a)",
        "args = p.parse_args()",
        "p.add_argument('--a', default=b)",
        "b = args.a",
        "b = functools.partial(f, a)",
        "global a",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(_STATEMENTS, max_size=14), st.lists(_STATEMENTS, max_size=8))
def test_any_program_is_assembled(train: list[str], helper: list[str]) -> None:
    files = []
    for path, body in (("train.py", train), ("m.py", [*helper, "from train import *"])):
        code, _ = read_python(_HEAD + "\n".join(body) + "\n", path)
        files.append(FileFacts(path, "python", code))
    for program in assemble("", files):
        for kind in program.index.kinds():
            for fact in program.index.of_kind(kind):
                for attribute in [*fact.own_attributes(), *CodeFact.attribute_names()]:
                    fact.get(attribute)
                if fact.args is not None:
                    fact.args.argument_value("config", 0)


def test_unknown_stays_one_object() -> None:
    assert read_python("import torch\nx = a < b < c\n", "m.py")[0].assignments[0].value is UNKNOWN


@pytest.mark.parametrize("operator", ["and", "or"])
def test_what_is_recorded_of_many_operands_is_in_proportion(operator: str) -> None:
    """Each operand is evaluated where those before let it; that is not written down for all of them with each."""
    sizes = []
    for count in (300, 1200):
        code, reason = _check(f"{_HEAD}if {f' {operator} '.join(['f()'] * count)}:\n    x\n")
        assert reason == "" and len(code.calls) == count
        sizes.append(len(msgspec.msgpack.encode(code)))
    assert sizes[1] < 5 * sizes[0]

"""What the Python reader makes of statements: blocks, bindings, imports, returns."""

from __future__ import annotations

import sys
from textwrap import dedent

import pytest

from npulint.facts.code import UNKNOWN, Assignment, CallResult, Code, Const, Function, Op, Ref
from npulint.read.python import read_python

_HEAD = "import tensorflow as tf\n"


def _code(text: str) -> Code:
    code, problems = read_python(_HEAD + dedent(text), "m.py")
    assert problems == []
    return code


def _targets(text: str) -> list[str]:
    return [b.target for b in _code(text).assignments]


def _kinds_around_call(text: str) -> list[str]:
    """The kinds of the blocks around the first call, innermost first, without the module."""
    code = _code(text)
    block, kinds = code.calls[0].block, []
    while block > 0:
        kinds.append(code.blocks[block].kind)
        block = code.blocks[block].parent
    return kinds


_TARGETS = {
    "a name": ("a = 1", ["a"]),
    "several targets": ("a = b = 1", ["a", "b"]),
    "an attribute": ("a.b.c = 1", ["a.b.c"]),
    "an element with a literal key": ("a.m['k'].s = 1", ["a.m[k].s"]),
    "an element with a computed key": ("a[k].s = 1", ["a[*].s"]),
    "a slice": ("a[1:2] = b", ["a[*]"]),
    "an attribute of a result": ("a.b().c = 1", ["a.b().c"]),
    "a tuple": ("a, (b, c) = d", ["a", "b", "c"]),
    "a starred name": ("a, *b = c", ["a", "b"]),
    "an attribute of an expression without a name": ("(a or b).c = 1", []),
    "an annotation with a value": ("a: int = 1", ["a"]),
    "an annotation without a value": ("a: int", []),
    "an augmented assignment": ("a += 1", ["a"]),
    "a for loop": ("for a, b in c: pass", ["a", "b"]),
    "a context": ("with f() as a, g() as b: pass", ["a", "b"]),
    "a function": ("def f(): pass", ["f"]),
    "a class": ("class C: pass", ["C"]),
}


@pytest.mark.parametrize(("text", "targets"), _TARGETS.values(), ids=_TARGETS.keys())
def test_what_is_bound(text: str, targets: list[str]) -> None:
    assert _targets(text) == targets


_UNPACKED = {
    "a display is taken apart": ("a, b = 1, 2", [Const(1), Const(2)]),
    "an object is indexed": ("a, b = c", [Op("[]", (Ref("c"), Const(0))), Op("[]", (Ref("c"), Const(1)))]),
    "after a star it counts from the end": (
        "a, *b, c = d",
        [Op("[]", (Ref("d"), Const(0))), UNKNOWN, Op("[]", (Ref("d"), Const(-1)))],
    ),
    "what is unknown stays so": ("a, b = c < d < e", [UNKNOWN, UNKNOWN]),
}


@pytest.mark.parametrize(("text", "values"), _UNPACKED.values(), ids=_UNPACKED.keys())
def test_unpacking(text: str, values: list[object]) -> None:
    assert [b.value for b in _code(text).assignments] == values


_AROUND = {
    "if": ("if a:\n    f()", ["if"]),
    "else": ("if a:\n    pass\nelse:\n    f()", ["else"]),
    "elif is an if within an else": ("if a:\n    pass\nelif b:\n    f()", ["if", "else"]),
    "for": ("for a in b:\n    f()", ["loop"]),
    "the else of a loop runs once": ("for a in b:\n    pass\nelse:\n    f()", []),
    "while": ("while a:\n    f()", ["loop"]),
    "the condition of a while stands outside": ("while f():\n    pass", []),
    "with": ("with a:\n    f()", ["with"]),
    "several contexts nest": ("with a, b:\n    f()", ["with", "with"]),
    "a later context is entered within the earlier": ("with a, f():\n    pass", ["with"]),
    "try": ("try:\n    f()\nexcept E:\n    pass", ["try"]),
    "except": ("try:\n    pass\nexcept E:\n    f()", ["except"]),
    "the else of a try": ("try:\n    pass\nexcept E:\n    pass\nelse:\n    f()", ["try"]),
    "finally always runs": ("try:\n    pass\nfinally:\n    f()", []),
    "a method": ("class C:\n    def m(self):\n        f()", ["function", "class"]),
    "an async function": (
        "async def g():\n    async with a:\n        async for b in c:\n            f()",
        ["loop", "with", "function"],
    ),
    "a default runs outside": ("def g(a=f()): pass", []),
    "a decorator runs outside": ("@f()\ndef g(): pass", []),
    "a base class": ("class C(f()): pass", []),
    "an assertion": ("assert f()", []),
    "an exception": ("raise f()", []),
    "a deep condition": ("if a:\n    for b in c:\n        if d:\n            f()", ["if", "loop", "if"]),
}


@pytest.mark.parametrize(("text", "kinds"), _AROUND.values(), ids=_AROUND.keys())
def test_blocks_around_a_call(text: str, kinds: list[str]) -> None:
    assert _kinds_around_call(text + "\n") == kinds


def test_bare_raise_and_delete_say_nothing() -> None:
    code = _code("def f():\n    del a.b\n    raise\n")
    assert (code.calls, [b.target for b in code.assignments]) == ([], ["f"])


def test_condition_is_kept_for_both_branches() -> None:
    code = _code("if a.b:\n    f()\nelse:\n    g()\n")
    assert [(b.kind, b.test) for b in code.blocks[1:]] == [("if", Ref("a.b")), ("else", Ref("a.b"))]


def test_qualified_names_skip_plain_blocks() -> None:
    code = _code(
        """
        if a:
            class C:
                class D:
                    def m(self):
                        def inner(): pass
        """
    )
    assert [b.name for b in code.blocks if b.name] == ["C", "C.D", "C.D.m", "C.D.m.inner"]


def test_function_records_parameters_defaults_and_decorators() -> None:
    code = _code("@d\ndef f(a, /, b, c=1, *r, k, l=2, **o): pass\n")
    block = code.blocks[1]
    assert block.params == ("a", "b", "c", "k", "l", "*r", "**o")
    assert block.defaults == (Const(1), UNKNOWN, Const(2), UNKNOWN, UNKNOWN)
    assert block.decorators == (Ref("d"),)
    assert (block.line, block.end_line) == (3, 3)


def test_class_records_its_bases() -> None:
    assert _code("class C(a.B, D): pass\n").blocks[1].bases == (Ref("a.B"), Ref("D"))


def test_definition_is_bound_to_its_block() -> None:
    code = _code("def f(): pass\nclass C: pass\n")
    assert [(b.target, b.value) for b in code.assignments] == [("f", Function(1)), ("C", Function(2))]


_RETURNS = {
    "return": ("return a", [Ref("a")]),
    "return without a value": ("return", []),
    "yield as a statement": ("yield a", [Ref("a")]),
    "yield without a value": ("yield", [UNKNOWN]),
    "yield as an expression": ("b = yield a", [Ref("a")]),
    "yield from": ("yield from a", [Ref("a")]),
    "yield without a value as an expression": ("b = yield", []),
}


@pytest.mark.parametrize(("text", "values"), _RETURNS.values(), ids=_RETURNS.keys())
def test_returns(text: str, values: list[object]) -> None:
    assert [r.value for r in _code(f"def f():\n    {text}\n").returns] == values


_IMPORTS = {
    "a module": ("import a", [("a", "", "a", 0)]),
    "a submodule binds its root and loads itself": ("import a.b", [("a", "", "a", 0), ("a.b", "", "", 0)]),
    "a submodule under a name": ("import a.b as c", [("a.b", "", "c", 0)]),
    "a member": ("from a import b", [("a", "b", "b", 0)]),
    "a renamed member": ("from a import b as c", [("a", "b", "c", 0)]),
    "all members": ("from a import *", [("a", "*", "*", 0)]),
    "relative": ("from ..a import b", [("a", "b", "b", 2)]),
    "relative without a module": ("from . import b", [("", "b", "b", 1)]),
    "several": ("from a import (b,\n    c)", [("a", "b", "b", 0), ("a", "c", "c", 0)]),
}


@pytest.mark.parametrize(("text", "records"), _IMPORTS.values(), ids=_IMPORTS.keys())
def test_imports(text: str, records: list[tuple[str, str, str, int]]) -> None:
    assert [(i.module, i.name, i.alias, i.level) for i in _code(text + "\n").imports[1:]] == records


def _scope_kinds(text: str, name: str) -> list[str]:
    code = _code(text)
    return [code.blocks[b.block].kind for b in code.assignments if b.target == name]


_DECLARED = {
    "global": ("def f():\n    global a\n    a = 1\n", ["global"]),
    "global in a branch": ("def f():\n    global a\n    if b:\n        a = 1\n", ["global"]),
    "nonlocal": ("def f():\n    a = 1\n    def g():\n        nonlocal a\n        a = 2\n", ["function", "nonlocal"]),
    "another name stays local": ("def f():\n    global b\n    a = 1\n", ["function"]),
    "an inner function is a scope of its own": ("def f():\n    global a\n    def g():\n        a = 1\n", ["function"]),
}


@pytest.mark.parametrize(("text", "kinds"), _DECLARED.values(), ids=_DECLARED.keys())
def test_declared_names_are_bound_elsewhere(text: str, kinds: list[str]) -> None:
    assert _scope_kinds(text, "a") == kinds


_MATCH = """
match f():
    case tf.float16:
        a()
    case Point(x=x) if g(x):
        b()
    case {"k": v, **rest}:
        c()
    case [1, *more] | (2 as more):
        d()
    case _:
        e()
"""


def test_match_reads_subject_patterns_guards_and_bodies() -> None:
    code = _code(_MATCH)
    assert {c.callee.name for c in code.calls if isinstance(c.callee, Ref)} == set("abcdefg")
    assert sorted({b.target for b in code.assignments}) == ["more", "rest", "v", "x"]
    assert [m.name for m in code.name_uses] == ["tf.float16"]


def test_match_bodies_stand_under_a_condition() -> None:
    code = _code(_MATCH)
    assert {code.blocks[c.block].kind for c in code.calls if c.callee in (Ref("a"), Ref("e"))} == {"if"}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="except* is younger")
def test_exception_groups_are_read() -> None:
    assert _kinds_around_call("try:\n    pass\nexcept* E:\n    f()\n") == ["except"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="the type statement is younger")
def test_type_statement_and_parameters_are_read() -> None:
    code = _code("type A[T] = list[T]\ndef f[T](a: T) -> T:\n    return a\nclass C[T]: pass\n")
    assert [b.name for b in code.blocks if b.name] == ["f", "C"]


@pytest.mark.skipif(sys.version_info < (3, 12), reason="quotes within f-strings are younger")
def test_reused_quotes_in_an_f_string_are_read() -> None:
    assert _code("x = f'{a['k']}'\n").assignments[0].value == Op("join", (Op("[]", (Ref("a"), Const("k"))),))


_LIGHT = {
    "imports are kept": ("import helper\n", ["import"]),
    "constants are kept": ("BATCH = 3\n", ["bind"]),
    "constants in branches are kept": ("try:\n    import a\nexcept ImportError:\n    B = 1\n", ["import", "bind"]),
    "constants of classes are kept": ("class C:\n    B = 1\n", ["bind", "bind"]),
    "functions are left out": ("def f():\n    a = 1\n", []),
    "functions that import are kept": ("def f():\n    import a\n", ["import", "bind"]),
}


@pytest.mark.parametrize(("text", "kinds"), _LIGHT.values(), ids=_LIGHT.keys())
def test_source_that_concerns_no_framework_is_read_lightly(text: str, kinds: list[str]) -> None:
    code, problems = read_python(text, "m.py")
    assert problems == []
    assert ["import"] * len(code.imports) + ["bind"] * len(code.assignments) == kinds
    assert code.calls == []


_WORDS = {
    "a framework": "import tensorflow\n",
    "options": "parser = argparse.ArgumentParser()\n",
    "a session handed in": "def f(sess): return sess.run(x)\n",
    "a train step": "def f(o): return o.minimize(x)\n",
    "an adapter setting": "def f(op): op.parameter_map['k'].b = True\n",
}


@pytest.mark.parametrize("text", _WORDS.values(), ids=_WORDS.keys())
def test_source_that_may_concern_a_framework_is_read_in_full(text: str) -> None:
    code, _ = read_python(text + "def probe():\n    seen()\n", "m.py")
    assert any(isinstance(c.callee, Ref) and c.callee.name == "seen" for c in code.calls)


def test_method_calls_on_results_keep_their_receiver() -> None:
    code = _code("x = f().g()\n")
    assert code.calls[1].callee == Op(".", (CallResult(0), Const("g")))


def test_bindings_know_their_place() -> None:
    assert _code("    \na.b = 1\n").assignments == [Assignment("a.b", Const(1), 0, 3, 1, 3, 4)]

"""Python 2 sources are told in Python 3 where that is possible: no line moves, and findings still come."""

from __future__ import annotations

import pytest

from npulint.facts.code import Ref
from npulint.read.python import read_python
from npulint.read.python.python2 import modernised
from tests.growth import ended_if_stuck

_REWRITTEN = {
    "print of a text": ("print 'a'", "print('a')"),
    "print of nothing": ("print", "print()"),
    "print of several": ("print a, b", "print(a, b)"),
    "print of a call": ("print f(a)", "print(f(a))"),
    "print of a bracket and more": ("print (a), b", "print((a), b)"),
    "print with percent": ("print '%s' % a", "print('%s' % a)"),
    "print to a stream": ("print >>f, a", "print(  f, a)"),
    "print behind a colon": ("if a: print b", "if a: print(b)"),
    "print behind a semicolon": ("a = 1; print a", "a = 1; print(a)"),
    "print in else": ("if a: b\nelse: print c", "if a: b\nelse: print(c)"),
    "exec": ("exec code", "exec(code)"),
    "except with a name": ("try: a\nexcept E, e: b", "try: a\nexcept E as e: b"),
    "except of several": ("try: a\nexcept (A, B), e: b", "try: a\nexcept (A, B) as e: b"),
    "raise with a text": ("raise E, 'a'", "raise E from 'a'"),
    "raise with a traceback": ("raise E, 'a', t", "raise E from 'a' or t"),
    "unequal": ("a <> b", "a != b"),
    "backquotes": ("a = `b`", "a = (b)"),
    "an octal number": ("a = 0777", "a = 0o777"),
    "a long number": ("a = 10L + 0xFFL", "a = 10 + 0xFF"),
    "a raw unicode text": ("a = ur'b'", "a = r'b'"),
    "async as a name": ("async = 1", "ASYNC = 1"),
    "tabs of eight columns": ("if a:\n\tb\n        c", "if a:\n        b\n        c"),
    "carriage returns": ("print 'a'\r\nprint 'b'", "print('a')\nprint('b')"),
}


@pytest.mark.parametrize(("old", "new"), _REWRITTEN.values(), ids=_REWRITTEN.keys())
def test_statement_is_rewritten(old: str, new: str) -> None:
    assert modernised(old + "\n") == new + "\n"


_KEPT = {
    "a call of print": "print('a')",
    "a call of print with more": "print('a', file=f)",
    "print as a name": "print = f",
    "an attribute of print": "print.a()",
    "an element of print": "print[0]",
    "except as": "try: a\nexcept E as e: b",
    "except of several": "try: a\nexcept (A, B): b",
    "raise": "raise E('a')",
    "raise of nothing": "raise",
    "a colon in a lambda": "f(lambda: print, a)",
    "a colon in a dict": "a = {b: print, c: d}",
    "a fraction": "a = 0.5 + 1e05",
    "zero": "a = 0",
    "an open bracket": "a = (",
    "an open text": "a = '''",
}


@pytest.mark.parametrize("text", _KEPT.values(), ids=_KEPT.keys())
def test_other_statements_are_kept(text: str) -> None:
    assert modernised(text + "\n") == text + "\n"


def test_rewritten_source_is_read_with_a_remark() -> None:
    code, problems = read_python("import tensorflow as tf\nprint 'a'\nf(tf.float16)\n", "m.py")
    assert [(p.reason, p.fatal, p.span.line) for p in problems] == [("python2-read", False, 2)]
    assert [(c.callee, c.line) for c in code.calls] == [(Ref("print"), 2), (Ref("f"), 3)]


def test_source_that_stays_unreadable_is_refused() -> None:
    code, problems = read_python("print 'a'\ndef f((a, b)): pass\n", "m.py")
    assert (code.calls, [(p.reason, p.fatal) for p in problems]) == ([], [("python2", True)])


_HOSTILE = {
    "a huge dict": "x = {" + "1: 2, " * 30_000 + "}\nprint 'x'\n",
    "a huge dict in a loop's head": "for x in {" + "1: 2, " * 10_000 + "}: print x\n",
    "many lambdas": "f(" + "lambda: 1, " * 10_000 + "); print 1\n",
    "many commas": "raise A" + ", b" * 10_000 + "\n",
    "many statements on a line": "a; " * 10_000 + "print 'x'\n",
    "many branches": "if a: pass\n" + "elif a: pass\n" * 5_000 + "print 'x'\n",
    "open brackets": "print " + "(" * 5_000 + "\n",
    "many backquotes": "`" * 30_000,
    "many digits": "0" * 100_000 + " print 'x'\n",
    "a long indent": "\t" * 50_000 + "print 'x'\n",
}


@pytest.mark.parametrize("text", _HOSTILE.values(), ids=_HOSTILE.keys())
def test_hostile_source_costs_little(text: str) -> None:
    with ended_if_stuck():
        read_python(text, "m.py")

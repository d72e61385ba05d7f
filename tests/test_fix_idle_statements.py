"""Statements that a fix leaves without work go, and statements put instead of others stand where those stood."""

from __future__ import annotations

import pytest

from tests.fix_support import changed, stepped

_REPLACED = {
    "x = «f(x, 1)»\ny = x\n": "y = x\n",
    "a.b = «f(a.b, 1)»\n": "",
    "«f(x, 1)»\ny = x\n": "y = x\n",
    "if t():\n    x = «f(x)»\n": "if t():\n    pass\n",
    "y = «f(x)»\n": "y = x\n",
    "x = y = «f(x)»\n": "x = y = x\n",
    "x = «f(x)» + 1\n": "x = x + 1\n",
    "x = «f(g())»\n": "x = g()\n",
    "«f(g())»\n": "g()\n",
    "return_(«f(x)»)\n": "return_(x)\n",
}
_INSTEAD = {
    "«f(1)»\n": "a = 1\nb = 2\n",
    "def g():\n    «f(1)»  # why\n": "def g():\n    a = 1\n    b = 2  # why\n",
    "if t:\n\tx, _ = «f(\n\t\t1)»\n": "if t:\n\ta = 1\n\tb = 2\n",
    "x = 1; «f(1)»\n": "refused: one-line",
    "x = [\n    «f(1)»,  # why\n]\n": "refused: comment",
    "if «f(1)»:\n    pass\n": "refused: no-statement",
}


@pytest.mark.parametrize(("source", "wanted"), _REPLACED.items(), ids=_REPLACED)
def test_a_replacement_that_leaves_nothing_takes_the_statement_out(source: str, wanted: str) -> None:
    assert stepped(source, "replace", {"with": "$arg(0)"}) == wanted


@pytest.mark.parametrize(("source", "wanted"), _INSTEAD.items(), ids=_INSTEAD)
def test_statements_instead_of_another(source: str, wanted: str) -> None:
    assert stepped(source, "insert", {"text": "a = 1\nb = 2", "where": "instead"}) == wanted


def test_one_statement_instead_of_another_within_a_line() -> None:
    assert stepped("x = 1; «f(1)»; y = 2\n", "insert", {"text": "a = 1", "where": "instead"}) == "x = 1; a = 1; y = 2\n"


def test_blank_lines_before_the_last_statement_go_with_it() -> None:
    assert stepped("x = 1\n\n\n«f(1)»\n", "delete", {"what": "statement"}) == "x = 1\n"
    assert stepped("x = 1\n\n\n«f(1)»\n\n", "delete", {"what": "statement"}) == "x = 1\n"
    assert stepped("x = 1\n\n«f(1)»\n\ny = 1\n", "delete", {"what": "statement"}) == "x = 1\n\ny = 1\n"


def test_what_a_star_hands_on_from_elsewhere_is_not_imported_again() -> None:
    wish = ("import", {"what": "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig"})
    rename = ("rename", {"to": "g"})
    assert (
        changed("from npu_bridge.npu_init import *\n«f()»\n", rename, wish)
        == "from npu_bridge.npu_init import *\ng()\n"
    )
    line = "from tensorflow.core.protobuf.rewriter_config_pb2 import RewriterConfig\n"
    assert changed("from os.path import *\n«f()»\n", rename, wish) == f"from os.path import *\n{line}g()\n"


def test_a_statement_that_somebody_made_a_comment_is_not_put_back() -> None:
    words = {"text": "a.b = OFF", "where": "before"}
    assert stepped("«f(1)»\n#  a.b = OFF  # it crashes\n", "insert", words) == "refused: commented-out"
    assert stepped("«f(1)»\n# a.b = OF\n", "insert", words) == "a.b = OFF\nf(1)\n# a.b = OF\n"


def test_what_only_held_an_idle_statement_goes_with_it() -> None:
    source = "def g(x):\n    if verbose:\n        x = «f(x)»\n    return x\n"
    assert stepped(source, "replace", {"with": "$arg(0)"}) == "def g(x):\n    return x\n"

"""Fixes also understand sources in which an argument is called ``async``."""

from __future__ import annotations

import ast

import pytest

from npulint.fix.model import Text
from npulint.fix.verify import objection, syntax
from tests.fix_support import stepped

_OLD = "y = «x.cuda(async=True)»  # a comment\n"


def test_an_argument_called_async_is_renamed() -> None:
    words = {"name": "async", "to": "non_blocking"}
    assert stepped(_OLD, "argument", words) == "y = x.cuda(non_blocking=True)  # a comment\n"


def test_other_steps_leave_it_as_it_is() -> None:
    assert stepped(_OLD, "rename_part", {"part": "cuda", "to": "npu"}) == "y = x.npu(async=True)  # a comment\n"
    behind = "a = x.cuda(async = True); «torch.cuda.f()»\n"
    assert stepped(behind, "rename", {"to": "torch.npu.f"}) == "a = x.cuda(async = True); torch.npu.f()\n"


@pytest.mark.parametrize("source", ["async = 1\n", "print 'a'\n", "x.cuda(async=True, ASYNC=1)\n", "f(async=)\n"])
def test_what_is_no_python_otherwise_stays_refused(source: str) -> None:
    with pytest.raises(SyntaxError):
        syntax(source)
    assert stepped("«a»\n" + source, "rename", {"to": "b"}) == "refused: not-python"


def test_new_sources_are_parsed_as_they_are() -> None:
    source = "async def f(a):\n    async with a as b:\n        return b == 'async=True'\n"
    assert ast.dump(syntax(source)) == ast.dump(ast.parse(source))


def test_a_file_is_not_left_with_an_argument_given_twice() -> None:
    before = Text("m.py", "python", "f(a=1)\n")
    assert objection(before, "f(a=1, a=2)\n", ()) == "broken"
    assert objection(before, "f(a=1, **a)\n", ()) != "broken"


_ARITHMETIC = {
    "a product": ("return_ = x * «torch.sigmoid(x)»\n", "return_ = silu(x)\n"),
    "a product in brackets": ("f((0.5 * x * (1 + «erf(x)»)), y)\n", "f(silu(x), y)\n"),
    "a sign": ("y = [-x * «g(x)» for x in z]\n", "y = [silu(x) for x in z]\n"),
    "no arithmetic around it": ("y = x, «g(x)»\n", "y = x, silu(x)\n"),
    "a method of the formula": ("y = (x * «g(x)»).sum()\n", "y = silu(x).sum()\n"),
}


@pytest.mark.parametrize(("source", "result"), _ARITHMETIC.values(), ids=_ARITHMETIC.keys())
def test_the_whole_formula_around_a_place_is_replaced(source: str, result: str) -> None:
    assert stepped(source, "replace", {"with": "silu(x)", "of": "arithmetic"}) == result


def test_what_is_added_is_given_another_value() -> None:
    assert stepped("«total += loss»\n", "value", {"with": "$old.detach()"}) == "total += loss.detach()\n"
    assert stepped("«total += a + b»\n", "value", {"with": "$old.detach()"}) == "total += (a + b).detach()\n"

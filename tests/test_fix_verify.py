"""An edited file still holds what it held beside the edits."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Span
from npulint.fix.model import Text
from npulint.fix.source import edited_text
from npulint.fix.verify import carried, objection, same, stretches
from npulint.judge.findings import Edit

SOURCE = """\
import a

@a.b
def f(x):
    '''甲''' ; return x + 1

y = f(1); z = 2
w = [
    1,
]
"""


def edit(line: int, column: int, end_line: int, end_column: int, text: str) -> Edit:
    return Edit("a.py", Span(line, column, end_line, end_column), text)


def said(text: str, *edits: Edit, kind: str = "python", new: bool = False) -> str:
    return objection(Text("a.py", kind, text, new), edited_text(text, edits), edits)


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(edit(5, 27, 5, 28, "2"), id="within a function, behind Chinese"),
        pytest.param(edit(2, 1, 2, 1, "import b\n"), id="a line above a decorator"),
        pytest.param(edit(7, 1, 7, 1, "new()\n"), id="a line above a statement"),
        pytest.param(edit(1, 1, 2, 1, ""), id="a statement goes"),
        pytest.param(edit(7, 16, 7, 16, "\nnew()"), id="a line below"),
        pytest.param(edit(7, 11, 7, 16, "q = 2"), id="the second statement of a line"),
        pytest.param(edit(8, 5, 10, 2, "[]"), id="several lines"),
        pytest.param(edit(11, 1, 11, 1, "last()\n"), id="at the end"),
        pytest.param(edit(3, 1, 3, 1, "# a\n"), id="a comment"),
    ],
)
def test_good(one: Edit) -> None:
    assert said(SOURCE, one) == ""


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        pytest.param(edit(7, 5, 7, 5, "("), "broken", id="a bracket"),
        pytest.param(edit(1, 1, 1, 1, "if x:\n"), "broken", id="a head without a body"),
        pytest.param(edit(6, 1, 7, 1, "if x: "), "changed-elsewhere", id="what follows is swallowed"),
        pytest.param(edit(2, 1, 2, 1, "s = '''\n"), "broken", id="a text that begins"),
        pytest.param(edit(10, 2, 10, 2, "\n'''"), "broken", id="a text that never ends"),
        pytest.param(edit(4, 1, 4, 1, "class C: pass\n"), "", id="the decorator is of the function, which is touched"),
        pytest.param(edit(7, 8, 7, 10, "; '''"), "broken", id="half a line"),
        pytest.param(edit(7, 9, 7, 10, " #"), "changed-elsewhere", id="the rest of a line becomes a comment"),
        pytest.param(edit(2, 1, 3, 1, "; "), "broken", id="a decorator in a line"),
        pytest.param(edit(6, 1, 6, 1, "    "), "", id="blanks in an empty line"),
        pytest.param(edit(7, 1, 7, 1, "\\\n"), "", id="a backslash before a statement"),
    ],
)
def test_broken(one: Edit, reason: str) -> None:
    assert said(SOURCE, one) == reason


def test_text_that_was_no_python_need_not_become_any() -> None:
    assert said("print 'a'\n", edit(1, 1, 1, 6, "print  ")) == ""


def test_nested_too_deep() -> None:
    deep = "-" * 100_000 + "1"
    assert said(f"x = 1\ny = {deep}\n", edit(1, 5, 1, 6, "2")) == "too-deep"


def test_deep_trees_are_compared() -> None:
    sums = "+".join(["a"] * 900)
    other = edit(1, 1, 1, 2, "b")
    assert said(f"x = 1\ny = {sums}\n", other) == ""


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("f(1)", "f( 1 )", True),
        ("f(1)", "f(1.0)", False),
        ("f(1)", "f(True)", False),
        ("x = 1e999 - 1e999", "x = 1e999 - 1e999", True),
        ("f(a)", "f(a, b)", False),
        ("f(a=1)", "f(b=1)", False),
        ("'a'", "b'a'", False),
        ("[x]", "(x,)", False),
    ],
)
def test_trees(one: str, other: str, equal: bool) -> None:
    assert same(ast.parse(one), ast.parse(other)) is equal
    assert equal is (ast.dump(ast.parse(one)) == ast.dump(ast.parse(other)))


@pytest.mark.parametrize(
    ("text", "one", "reason"),
    [
        ('{"black-list": {"to-add": ["A"]}}', edit(1, 31, 1, 31, ', "B"'), ""),
        ('{"black-list": {"to-add": ["A"]}}', edit(1, 31, 1, 31, ', "B'), "broken-json"),
        ("{oops", edit(1, 1, 1, 1, " "), ""),
    ],
)
def test_lists(text: str, one: Edit, reason: str) -> None:
    assert said(text, one, kind="mixlist") == reason


def test_a_new_list_must_be_json() -> None:
    assert said("", edit(1, 1, 1, 1, "{}"), kind="mixlist", new=True) == ""
    assert said("", edit(1, 1, 1, 1, "{"), kind="mixlist", new=True) == "broken-json"


SCRIPT = "export A=1\nif true; then\n  python train.py \\\n    --x 'a b'\nfi\ncat <<E\ntext\nE\n"


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        pytest.param(edit(1, 10, 1, 11, "2"), "", id="a value"),
        pytest.param(edit(2, 1, 2, 1, "export B=2\n"), "", id="a line more"),
        pytest.param(edit(1, 1, 2, 1, ""), "", id="a line less"),
        pytest.param(edit(4, 10, 4, 11, "c"), "", id="within a text"),
        pytest.param(edit(1, 10, 1, 11, "'"), "changed-elsewhere", id="a quote that stays open"),
        pytest.param(edit(1, 11, 1, 11, " <<E"), "changed-elsewhere", id="a here-document"),
        pytest.param(edit(1, 11, 1, 11, "$(("), "changed-elsewhere", id="arithmetic that stays open"),
    ],
)
def test_scripts(one: Edit, reason: str) -> None:
    assert said(SCRIPT, one, kind="shell") == reason


def test_other_files_have_no_words_to_compare() -> None:
    assert said("torch==1\n", edit(1, 8, 1, 9, "2"), kind="dependency") == ""


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3), st.text("xy", max_size=3)), max_size=5))
def test_stretches_say_where_texts_went(wanted: list[tuple[int, int, str]]) -> None:
    text = "".join(chr(ord("a") + place) for place in range(20))
    edits, done = [], 0
    for start, length, new in sorted(wanted):
        start = max(start, done)
        done = min(start + length, 20)
        if start <= 20:
            edits.append(edit(1, start + 1, 1, max(start, done) + 1, new.upper()))
    after = edited_text(text, edits)
    changed = stretches(text, edits)
    assert [after[start:end] for _, _, start, end in changed] == [one.text for one in edits]
    for place in range(20):
        begin, end = carried(changed, place, place + 1)
        covered = any(start <= place and place + 1 <= close for start, close, _, _ in changed)
        assert covered or text[place] in after[begin:end]

"""Syntax colours of source lines."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.report.html.source import Syntax, colored

CODE = '''x = """doc
def not_code  # no
end""" + f'a{b}'  # comment "q"
y = 1'''.split("\n")


@pytest.mark.parametrize(
    ("path", "text", "shown"),
    [
        ("a.py", "def f(x): return None", "<b>def</b> f(x): <b>return</b> <b>None</b>"),
        ("a.py", "x.import_ = 'it''s' # 'n'", "x.import_ = <u>'it'</u><u>'s'</u> <i># 'n'</i>"),
        ("a.py", 's = rb"a\\"b" + "open', 's = <u>rb"a\\"b"</u> + <u>"open</u>'),
        ("a.py", "classify(device)", "classify(device)"),
        ("a.py", "if a<b: pass", "<b>if</b> a&lt;b: <b>pass</b>"),
        ("a.sh", 'export A="b # c" # d', '<b>export</b> A=<u>"b # c"</u> <i># d</i>'),
        ("a.sh", "echo ${#a} $# --do", "echo ${#a} $# --do"),
        ("a.yaml", "fp16: true # no", "fp16: <b>true</b> <i># no</i>"),
    ],
)
def test_lines_are_colored(path: str, text: str, shown: str) -> None:
    assert colored(text, Syntax(path).tokens(text), 0, len(text)) == shown


def test_strings_of_several_lines_are_known_in_each_of_them() -> None:
    syntax = Syntax("a.py", CODE)
    shown = [colored(text, syntax.tokens(text, number), 0, len(text)) for number, text in enumerate(CODE, 1)]
    assert shown == [
        'x = <u>"""doc</u>',
        "<u>def not_code  # no</u>",
        '<u>end"""</u> + <u>f\'a{b}\'</u>  <i># comment "q"</i>',
        "y = 1",
    ]


def test_a_part_of_a_line_has_the_colours_of_the_whole() -> None:
    text = "x = 'abc' # d"
    tokens = Syntax("a.py").tokens(text)
    assert [colored(text, tokens, *part) for part in ((0, 6), (6, 13))] == ["x = <u>'a</u>", "<u>bc'</u> <i># d</i>"]


@given(st.lists(st.text(st.sampled_from("ab'\"\\# \ndefif<&fr"), max_size=30), max_size=6), st.data())
def test_no_text_is_lost_or_gains_markup(lines: list[str], data: st.DataObject) -> None:
    lines = [line.replace("\n", "") for line in lines]
    syntax = Syntax("a.py", lines)
    for number, text in enumerate(lines, 1):
        middle = data.draw(st.integers(0, len(text)))
        tokens = syntax.tokens(text, number)
        shown = colored(text, tokens, 0, middle) + colored(text, tokens, middle, len(text))
        assert unescape(re.sub("</?[bui]>", "", shown)) == text

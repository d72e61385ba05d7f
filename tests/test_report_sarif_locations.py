"""URIs, regions and line hashes of SARIF logs."""

from __future__ import annotations

import pytest

from npulint.facts.model import Span
from npulint.report.sarif.results import ROOT, artifact, line_hashes, region, stored


@pytest.mark.parametrize(
    ("path", "uri", "based"),
    [
        pytest.param("models/train.py", "models/train.py", True, id="plain"),
        pytest.param("./models/train.py", "models/train.py", True, id="no leading dot"),
        pytest.param(".//.//a.py", "a.py", True, id="nor two"),
        pytest.param(".hidden/a.py", ".hidden/a.py", True, id="a hidden folder"),
        pytest.param("a b.py", "a%20b.py", True, id="blank"),
        pytest.param("100%#?.py", "100%25%23%3F.py", True, id="signs with a meaning"),
        pytest.param("模型/训练.py", "%E6%A8%A1%E5%9E%8B/%E8%AE%AD%E7%BB%83.py", True, id="Chinese"),
        pytest.param("a:b.py", "a%3Ab.py", True, id="no scheme"),
        pytest.param("a\\xff.py", "a%5Cxff.py", True, id="backslash"),
        pytest.param("\udcff.py", "%5Cudcff.py", True, id="surrogate"),
        pytest.param("a\n::error.py", "a%0A%3A%3Aerror.py", True, id="line feed"),
        pytest.param("x[1](2)+@,;=$&'!~.py", "x%5B1%5D(2)+@,;=$&'!~.py", True, id="what a path may hold"),
        pytest.param("a/./b//c.py", "a/b/c.py", True, id="needless segments"),
        pytest.param("../other/a.py", "../other/a.py", False, id="outside"),
        pytest.param("a/../../b.py", "../b.py", False, id="outside by a detour"),
        pytest.param("..a/b.py", "..a/b.py", True, id="two dots are a name too"),
        pytest.param("/data/a b.py", "file:///data/a%20b.py", False, id="absolute"),
        pytest.param("C:/code/a b.py", "file:///C:/code/a%20b.py", False, id="drive"),
        pytest.param("//server/share/a.py", "file:////server/share/a.py", False, id="network share"),
    ],
)
def test_paths_become_uris(path: str, uri: str, based: bool) -> None:
    assert artifact(path) == ({"uri": uri, "uriBaseId": ROOT} if based else {"uri": uri})


@pytest.mark.parametrize(
    ("span", "numbers"),
    [
        pytest.param(Span(8, 10, 12, 2), (8, 10, 12, 2), id="several lines"),
        pytest.param(Span(3, 5, 3, 9), (3, 5, 3, 9), id="the end is exclusive in both"),
        pytest.param(Span(3, 5, 3, 5), (3, 5, 3, 5), id="a place between characters"),
        pytest.param(Span(0, 0, 0, 0), (1, 1, 1, 1), id="no place"),
        pytest.param(Span(5, 7, 3, 2), (5, 7, 5, 7), id="upside down"),
    ],
)
def test_regions(span: Span, numbers: tuple[int, int, int, int]) -> None:
    assert tuple(region(span).values()) == numbers


def test_columns_in_a_notebook_are_those_of_the_file() -> None:
    lines = ["{", '  "a = \\"x\\"; \\ud83d\\ude80 = \\u6a21(\\\\)",', '  "outputs": []']
    code = 'a = "x"; 🚀 = 模(\\)'
    place = stored("n.ipynb", Span(2, code.index("模") + 1, 2, len(code) + 1), lambda path: lines)
    assert lines[1][place.column - 1 : place.end_column - 1] == "\\u6a21(\\\\)"
    assert stored("n.py", Span(2, 3, 2, 4), lambda path: lines) == Span(2, 3, 2, 4)
    assert stored("n.ipynb", Span(9, 3, 9, 4), lambda path: lines) == Span(9, 3, 9, 4)
    assert stored("n.ipynb", Span(1, 1, 1, 2), lambda path: lines) == Span(1, 1, 1, 2)


@pytest.mark.parametrize(
    ("text", "hashes"),
    [  # as GitHub's upload action computes them
        pytest.param("", ["c129715d7a2bc9a3:1"], id="empty"),
        pytest.param("x", ["638816509450efbf:1"], id="without end"),
        pytest.param(
            "one\ntwo\n \nthree\n   ",
            "3e75c7f1c585b24b:1 c89fdac74a13c027:1 8f49d77268a1cd9f:1 bd8bfd8320422591:1 c129715d7a2bc9a3:1".split(),
            id="blanks do not count",
        ),
        pytest.param(
            'a = 1\nb = "中文🚀"\n\t  \n\n\nfor i in x:\n  pass\nfor i in x:\n  pass\n',
            (
                "6b9492a8a4601514:1 7a28fc15aab03f53:1 546164594c2946ad:1 39f35ae202d6a497:1 680bfca469e53769:1 "
                "119b5dbd4f006fc3:1 bffbb9418aed2664:1 3ce72858fbd5a8f3:1 d9ebd24fce30bc54:1 c129715d7a2bc9a3:1"
            ).split(),
            id="UTF-16",
        ),
    ],
)
def test_hashes_of_lines(text: str, hashes: list[str]) -> None:
    lines = text.split("\n")
    found = line_hashes(lines, range(1, len(lines) + 1))
    assert [found[number] for number in sorted(found)] == hashes
    assert line_hashes(lines, [len(lines) + 1]) == {}


def test_equal_lines_are_counted() -> None:
    lines = [f"y = {number % 3}" for number in range(300)]
    found = line_hashes(lines, [1, 2, 4, 7])
    assert found == {
        1: "d6a5fa29017319bc:1",
        2: "a7121cbe87946661:1",
        4: "d6a5fa29017319bc:2",
        7: "d6a5fa29017319bc:3",
    }

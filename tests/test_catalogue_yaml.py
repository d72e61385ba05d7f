"""The YAML tree: what keeps its type, what is refused, and where."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.judge.catalogue.sources import MAX_BYTES
from npulint.judge.catalogue.yaml_tree import Mapping, Sequence, TreeError, YamlScalar, load_tree, parse_tree
from tests.growth import ended_if_stuck


@pytest.fixture(params=["the C parser", "the Python parser"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs with both parsers of PyYAML."""
    if request.param == "the Python parser":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without the C parser")


def value_of(text: str) -> object:
    tree = parse_tree(f"key: {text}\n")
    assert isinstance(tree, Mapping)
    node = tree.entries["key"][1]
    assert isinstance(node, YamlScalar)
    return node.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("1.10", "1.10", id="a version keeps its zero"),
        pytest.param("2.0", "2.0", id="a float stays text"),
        pytest.param("1e3", "1e3", id="an exponent stays text"),
        pytest.param(".5", ".5", id="a float without a leading digit stays text"),
        pytest.param(".inf", ".inf", id="infinity stays text"),
        pytest.param("yes", "yes", id="yes is a word"),
        pytest.param("no", "no", id="no is a word"),
        pytest.param("NO", "NO", id="Norway is a word"),
        pytest.param("on", "on", id="on is a word"),
        pytest.param("off", "off", id="off is a word"),
        pytest.param("y", "y", id="y is a word"),
        pytest.param("True", "True", id="only lower-case true is a boolean"),
        pytest.param("012", "012", id="an octal of YAML 1.1 stays text"),
        pytest.param("0o14", "0o14", id="an octal of YAML 1.2 stays text"),
        pytest.param("0x1F", "0x1F", id="a hexadecimal stays text"),
        pytest.param("0b11", "0b11", id="a binary stays text"),
        pytest.param("1_000", "1_000", id="underscores make no number"),
        pytest.param("+1", "+1", id="a plus makes no number"),
        pytest.param("12:30:45", "12:30:45", id="a sexagesimal stays text"),
        pytest.param("2024-01-31", "2024-01-31", id="a date stays text"),
        pytest.param("=", "=", id="the value tag stays text"),
        pytest.param("9" * 5000, "9" * 5000, id="an endless integer stays text"),
        pytest.param('"1"', "1", id="a quoted number is text"),
        pytest.param("'true'", "true", id="a quoted boolean is text"),
        pytest.param('""', "", id="a quoted empty text is text"),
        pytest.param("1", 1, id="an integer is a number"),
        pytest.param("-20", -20, id="a negative integer is a number"),
        pytest.param("0", 0, id="zero is a number"),
        pytest.param("true", True, id="true is a boolean"),
        pytest.param("false", False, id="false is a boolean"),
        pytest.param("null", None, id="null is null"),
        pytest.param("~", None, id="a tilde is null"),
        pytest.param("", None, id="nothing is null"),
    ],
)
def test_scalars(text: str, value: object) -> None:
    found = value_of(text)
    assert found == value
    assert type(found) is type(value)


def test_keys_are_text_and_keep_their_order() -> None:
    tree = parse_tree("no: a\n1: b\n1.10: c\ntrue: d\n")
    assert isinstance(tree, Mapping)
    assert list(tree.entries) == ["no", "1", "1.10", "true"]


def test_places_count_from_one() -> None:
    tree = parse_tree("a:\n  - x\n  - {b: y}\n")
    assert isinstance(tree, Mapping)
    items = tree.entries["a"][1]
    assert isinstance(items, Sequence)
    inner = items.items[1]
    assert isinstance(inner, Mapping)
    assert (items.items[0].line, items.items[0].column) == (2, 5)
    assert (inner.entries["b"][0].line, inner.entries["b"][0].column) == (3, 6)


BOMB = "a: &a [x, x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [*{chr(97 + i)}, *{chr(97 + i)}]\n" for i in range(20)
)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        pytest.param("a: 1\nb: 2\na: 3\n", 3, 1, "'a' is given twice (first in line 1)", id="a key given twice"),
        pytest.param("x:\n  {a: 1, a: 2}\n", 2, 10, "'a' is given twice", id="a key given twice in braces"),
        pytest.param("'1': a\n1: b\n", 2, 1, "'1' is given twice", id="two spellings of one key"),
        pytest.param("a: &x 1\n", 1, 4, "anchors and aliases are not allowed ('x')", id="an anchor"),
        pytest.param("a: &x [*x]\n", 1, 4, "anchors and aliases", id="a list that contains itself"),
        pytest.param(BOMB, 1, 4, "anchors and aliases", id="an alias bomb"),
        pytest.param(
            "a: 1\nb: !!python/name:os.system x\n", 2, 4, "tags are not allowed", id="a tag that names Python"
        ),
        pytest.param("a: !!str 1\n", 1, 4, "tags are not allowed", id="a harmless tag"),
        pytest.param("a: !mine {}\n", 1, 4, "tags are not allowed", id="a tag of one's own"),
        pytest.param("[a, b]: c\n", 1, 1, "a key must be a single word", id="a list as a key"),
        pytest.param("a: 1\n---\nb: 1\n", 1, 1, "more than one document", id="two documents"),
        pytest.param("# nothing\n", 1, 1, "the file is empty", id="only a comment"),
        pytest.param("a: [1, 2\nb: 3\n", 2, 1, "not YAML", id="a bracket that is not closed"),
        pytest.param("a:\n\tb: 1\n", 2, 1, "not YAML", id="a tab as indentation"),
        pytest.param("a: 1\nb: x\x01y\n", 2, 5, "control character", id="a control character"),
    ],
)
def test_refused(text: str, line: int, column: int, message: str) -> None:
    with pytest.raises(TreeError) as caught:
        parse_tree(text)
    first = caught.value.places[0]
    assert message in first[2]
    assert first[:2] == (line, column) or "not YAML" in message


def test_all_refusals_are_listed() -> None:
    with pytest.raises(TreeError) as caught:
        parse_tree("a: &x 1\nb: !t 2\na: 3\nc: *x\n")
    assert [place[0] for place in caught.value.places] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 200_000, id="200,000 brackets"),
        pytest.param("{a: " * 50_000, id="50,000 braces"),
        pytest.param("- " * 50_000, id="50,000 dashes"),
        pytest.param("? " * 50_000, id="50,000 question marks"),
    ],
)
def test_deep_nesting_is_a_clean_error(text: str) -> None:
    with ended_if_stuck(), pytest.raises(TreeError, match="nested deeper than 64 levels"):
        parse_tree(text)


def test_64_levels_are_accepted_and_65_are_not() -> None:
    parse_tree("[" * 64 + "]" * 64)
    with pytest.raises(TreeError, match="1:65: nested"):
        parse_tree("[" * 65 + "]" * 65)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"a: " + b"x" * MAX_BYTES, "larger than 64 KB", id="a large file"),
        pytest.param(b"[" * 200_000, "larger than 64 KB", id="a large nest"),
        pytest.param(b"a: 1\nb: \xff\n", "2:1: not UTF-8", id="bytes that are not UTF-8"),
    ],
)
def test_bytes_refused(data: bytes, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        load_tree(data)


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    tree = load_tree(b"\xef\xbb\xbfa: 1\n")
    assert isinstance(tree, Mapping)
    assert list(tree.entries) == ["a"]


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.text(alphabet="ab:-[]{}&*!|>'\"#%?,\n \t0é\x85\u2028\x01", max_size=60))
def test_any_text_gives_a_tree_or_a_tree_error(text: str) -> None:
    try:
        tree = parse_tree(text)
    except TreeError as error:
        places = error.places
    else:
        places = [(tree.line, tree.column, "")]
    assert places
    assert all(line >= 1 and column >= 1 for line, column, _ in places)

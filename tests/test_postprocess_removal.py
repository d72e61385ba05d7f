"""The edits of useless suppressions: names go, what is of use and what others wrote stays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from npulint.facts.model import FileFacts, Problem, Span
from npulint.judge.findings import Edit, Finding
from npulint.judge.postprocess.comments import suppress
from npulint.judge.postprocess.engine import ENGINE_RULES
from npulint.judge.postprocess.select import Identity
from npulint.read.source import comments
from tests.surface_support import finding

RULES: list[Identity] = [
    finding(code="NPU1301", name="native-dropout"),
    finding(code="NPU1101", name="bad-variable"),
    finding(code="NPU1402", name="log-placement"),
    *ENGINE_RULES,
]


def complaints(
    text: str, kind: str = "python", found: Sequence[Finding] = (), path: str = "a.py", broken: bool = False
) -> list[Finding]:
    noted = comments(text.replace("//", "# ") if kind == "cuda" else text, kind == "python")
    file = FileFacts(path, kind, comments=noted, problems=[Problem(path, "syntax-error")] if broken else [])
    lines = text.split("\n")
    return suppress(found, [file], RULES, lambda rule: True, lambda _: lines, "en").complaints


def applied(text: str, edits: Sequence[Edit]) -> str:
    """The text after edits, which may not overlap; equal ones count once."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    places = sorted(
        {(starts[e.span.line - 1] + e.span.column - 1, starts[e.span.end_line - 1] + e.span.end_column - 1, e.text)
         for e in edits}
    )  # fmt: skip
    assert all(first[1] <= second[0] for first, second in pairwise(places)), places
    for start, end, new in reversed(places):
        text = text[:start] + new + text[end:]
    return text


def mended(text: str, kind: str = "python", found: Sequence[Finding] = (), path: str = "a.py") -> str:
    edits = [edit for one in complaints(text, kind, found, path) for edit in one.fix.edits]
    return applied(text, edits)


DROPOUT = finding(path="a.py", span=Span(1, 1, 1, 2))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x()  # npulint: ignore[NPU1301]\n", "x()\n", id="the whole comment"),
        pytest.param("x()  # npulint: ignore[NPU1301] slow, see #12\n", "x()\n", id="with its reason"),
        pytest.param("\tx()\t#npulint:ignore[NPU1301]  \ny\n", "\tx()\ny\n", id="with the blanks around it"),
        pytest.param("  # npulint: ignore[NPU1301]\nx()\n", "x()\n", id="a line of its own"),
        pytest.param("x()\n# npulint: ignore-file[NPU1301]", "x()", id="the last line"),
        pytest.param("# npulint: ignore-file[NPU1301]", "", id="the only line"),
        pytest.param("x()  # type: ignore  # npulint: ignore[NPU1301] why\n", "x()  # type: ignore\n", id="behind"),
        pytest.param("x()  # npulint: ignore[NPU1301]  # type: ignore\n", "x()  # type: ignore\n", id="before"),
        pytest.param("x()  # a  # npulint: ignore[NPU1301] b  # c\n", "x()  # a  # c\n", id="between others"),
        pytest.param("# a  # npulint: ignore[NPU1301]\nx()\n", "# a\nx()\n", id="a line with others"),
        pytest.param(
            "x()  # npulint: ignore[NPU1301]  # npulint: ignore[NPU1101]\n", "x()\n", id="two directives, both useless"
        ),
        pytest.param(
            "x()  # npulint: ignore[NPU1301]  # noqa: NPU1101  # b\n", "x()  # b\n", id="two directives before others"
        ),
        pytest.param("x()  # noqa: E501,NPU1301 long\n", "x()  # noqa: E501 long\n", id="among codes of others"),
        pytest.param("x()  # noqa: NPU1301, E501\n", "x()  # noqa: E501\n", id="before codes of others"),
        pytest.param("x()  # noqa:NPU1301\n", "x()\n", id="noqa with our code alone"),
        pytest.param("s = '# npulint: ignore[NPU1301]'  # npulint: ignore[NPU1301]\n",
                     "s = '# npulint: ignore[NPU1301]'\n", id="the same text in a string"),
        pytest.param("x()  # npulint: ignore[nonsense, NPU1301]\n", "x()  # npulint: ignore[nonsense]\n", id="unknown"),
        pytest.param("名 = x()  # npulint: ignore[NPU1301] 原因\n", "名 = x()\n", id="beside Chinese"),
        pytest.param("x()## npulint: ignore[NPU1301]\n", "x()\n", id="two marks"),
    ],
)  # fmt: skip
def test_useless(before: str, after: str) -> None:
    assert mended(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("x()  # npulint: ignore[NPU1301, NPU1101] w\n", "x()  # npulint: ignore[NPU1301] w\n", id="last"),
        pytest.param("x()  # npulint: ignore[ NPU1101,NPU1301 ]\n", "x()  # npulint: ignore[ NPU1301 ]\n", id="first"),
        pytest.param("x()  # npulint: ignore[NPU1101 NPU1301, NPU1402]  # a\n",
                     "x()  # npulint: ignore[NPU1301]  # a\n", id="both"),
        pytest.param("x()  # npulint: ignore[NPU1301]  # noqa: NPU1101\n", "x()  # npulint: ignore[NPU1301]\n",
                     id="another directive"),
    ],
)  # fmt: skip
def test_names_of_use_stay(before: str, after: str) -> None:
    assert mended(before, found=[DROPOUT]) == after


@pytest.mark.parametrize(
    ("kind", "path", "before", "after"),
    [
        pytest.param("shell", "a.sh", "run a  # npulint: ignore[NPU1301]\n", "run a\n", id="shell"),
        pytest.param("shell", "a.sh", "# npulint: ignore[NPU1301]\nrun\n", "run\n", id="shell, own line"),
        pytest.param("shell", "a.sh", "run \\\n  a  # npulint: ignore[NPU1301]\n", "run \\\n  a\n", id="long command"),
        pytest.param("shell", "a.sh", "cat <<E\n# npulint: ignore[NPU1301]\nE\n", None, id="a text for a command"),
        pytest.param("shell", "a.sh", "echo 'a\n # npulint: ignore[NPU1301]\n'\n", None, id="a string"),
        pytest.param("shell", "a.sh", "run a \\\n# npulint: ignore[NPU1301]\nb\n", None, id="what it ends"),
        pytest.param("dockerfile", "Dockerfile", "ENV A=b # npulint: ignore[NPU1301]\n", None, id="a value"),
        pytest.param("dockerfile", "Dockerfile", "# npulint: ignore[NPU1301]\nRUN a\n", "RUN a\n", id="Dockerfile"),
        pytest.param("cuda", "a.cu", "f();  // npulint: ignore[NPU1301] http://a.b\n", "f();\n", id="C++"),
        pytest.param("cuda", "a.cu", "f();  // a  // npulint: ignore[NPU1301]\n", "f();  // a\n", id="beside"),
        pytest.param(
            "dependency", "requirements.txt", "a==1  # npulint: ignore[NPU1301]\n", "a==1\n", id="requirement"
        ),
    ],
)
def test_other_languages(kind: str, path: str, before: str, after: str | None) -> None:
    """Without an edit where it is no comment, or its end changes what the code means."""
    found = complaints(before, kind, path=path)
    assert [one.name for one in found] == ["unused-suppression"]
    assert mended(before, kind, path=path) == (before if after is None else after)
    assert found[0].fix.applicability == ("manual" if after is None else "safe")


def test_nothing_is_useless_in_a_file_that_could_not_be_read() -> None:
    text = "x()  # npulint: ignore[NPU1301, nonsense]\nif\n"
    assert [one.name for one in complaints(text, broken=True)] == ["invalid-suppression"]
    assert len(complaints(text)) == 2


NAMES = st.sampled_from(["NPU1301", "native-dropout", "NPU1101", "bad-variable", "log-placement", "npu1402"])
BLANKS = st.sampled_from([" ", "", "  ", "\t"])
SEPARATORS = st.sampled_from([",", ", ", " ", " , "])
LISTS = st.builds(lambda a, names, separator, b: f"[{a}{separator.join(names)}{b}]",
                  BLANKS, st.lists(NAMES, min_size=1, max_size=4), SEPARATORS, BLANKS)  # fmt: skip
OURS = st.builds(
    lambda word, names, reason: f"npulint: {word}{names}{reason}",
    st.sampled_from(["ignore", "ignore-file"]),
    LISTS,
    st.sampled_from(["", " why", " see #12", "  -- 因为"]),
)
NOQA = st.builds(lambda codes: "noqa: " + ",".join(codes),
                 st.lists(st.sampled_from(["E501", "NPU1301", "NPU1101", "W9"]), min_size=1, max_size=3))  # fmt: skip
THEIRS = st.sampled_from(["type: ignore", "a text", "pylint: disable=x", "备注"])
COMMENTS = st.builds(
    lambda pieces, mark, end: mark + f"  {mark}".join(pieces) + end,
    st.lists(st.one_of(OURS, NOQA, THEIRS), min_size=1, max_size=4),
    st.sampled_from(["# ", "#", "## "]),
    st.sampled_from(["", "  "]),
)
LINES = st.one_of(
    st.builds(lambda code, blanks, comment: f"{code}{blanks}{comment}", st.sampled_from(["x()", "s = '# a'", "y = 1"]),
              st.sampled_from(["  ", " ", "\t", ""]), COMMENTS),
    COMMENTS,
    st.sampled_from(["z()", "", "# a text"]),
)  # fmt: skip
SPOTS = st.lists(st.tuples(st.integers(1, 4), st.sampled_from(RULES[:3])), max_size=4)


@given(st.lists(LINES, min_size=1, max_size=4), SPOTS)
@example(["x()  # npulint: ignore[NPU1301]  # npulint: ignore[NPU1101]  # a"], [])
def test_after_the_edits_nothing_is_useless_and_nothing_else_changed(
    lines: list[str], spots: list[tuple[int, Identity]]
) -> None:
    text = "\n".join(lines) + "\n"
    found = [
        finding(path="a.py", code=rule.code, name=rule.name, span=Span(line, 1, line, 2))
        for line, rule in spots
        if line <= len(lines) and not lines[line - 1].startswith("#")
    ]
    before = complaints(text, found=found)
    assert all(one.fix.edits and one.fix.applicability == "safe" for one in before if one.name == "unused-suppression")
    after = mended(text, found=found)
    moved = [_moved(one, text, after) for one in found]
    assert [one.message for one in complaints(after, found=moved) if one.name == "unused-suppression"] == []
    assert _code(after) == _code(text)
    assert _theirs(after) == _theirs(text)
    assert _silenced(after, moved) == _silenced(text, found)


def _moved(one: Finding, before: str, after: str) -> Finding:
    """The finding at the same line of code."""
    place = len([line for line in before.split("\n")[: one.span.line] if line.partition("#")[0].strip()])
    coded = [n for n, line in enumerate(after.split("\n"), 1) if line.partition("#")[0].strip()]
    line = coded[place - 1] if 0 < place <= len(coded) and before.split("\n")[one.span.line - 1].strip() else 99
    return finding(path="a.py", code=one.code, name=one.name, span=Span(line, 1, line, 2))


def _code(text: str) -> list[str]:
    return [code for line in text.split("\n") if (code := line.partition("#")[0].rstrip())]


def _theirs(text: str) -> list[str]:
    wanted = ("type: ignore", "a text", "pylint: disable=x", "备注", "E501", "W9")
    return [word for line in text.split("\n") for word in wanted for _ in range(line.count(word))]


def _silenced(text: str, found: Sequence[Finding]) -> int:
    file = FileFacts("a.py", "python", comments=comments(text))
    lines = text.split("\n")
    return len(suppress(found, [file], RULES, lambda rule: True, lambda _: lines, "en").suppressed)

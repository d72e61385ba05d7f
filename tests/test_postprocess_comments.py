"""Suppression comments: what they silence and what is said about useless ones."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent

import pytest

from npulint.facts.model import FileFacts, Span
from npulint.judge.findings import Finding
from npulint.judge.postprocess.comments import Suppressed, suppress
from npulint.judge.postprocess.engine import ENGINE_RULES
from npulint.judge.postprocess.select import Identity
from npulint.read.source import comments
from tests.surface_support import finding

DROPOUT = finding()
RULES: list[Identity] = [DROPOUT, finding(code="NPU1101", name="bad-variable"), *ENGINE_RULES]


def run(text: str, *findings: Finding, kind: str = "python", inactive: str = "") -> Suppressed:
    source = dedent(text)
    file = FileFacts("a.py", kind, comments=comments(source, kind == "python"))
    lines = {"a.py": source.split("\n")}
    active = lambda rule: rule.name != inactive  # noqa: E731
    return suppress(findings, [file], RULES, active, lambda path: lines.get(path, ()), "en")


def at(line: int, end: int = 0, **changes: object) -> Finding:
    return finding(path="a.py", span=Span(line, 1, end or line, 2), **changes)


def told(complaints: Sequence[Finding]) -> list[str]:
    return [f"{c.span.line}:{c.span.column} {c.name}: {c.message}" for c in complaints]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("x()  # npulint: ignore[native-dropout] slow, but rare", (1, 1), id="by name with a reason"),
        pytest.param("x()  # npulint: ignore[NPU1301]", (1, 1), id="by code"),
        pytest.param("x()  # npulint:ignore [ npu1301 ,Native-Dropout]", (1, 1), id="loosely written"),
        pytest.param("x()  # because  # npulint: ignore[NPU1301]", (1, 1), id="behind another comment"),
        pytest.param("x()  # noqa: NPU1301", (1, 1), id="noqa with a code"),
        pytest.param("x()  # noqa: E501,NPU1301 long", (1, 1), id="noqa among other codes"),
        pytest.param("# npulint: ignore[NPU1301]\nx()", (2, 2), id="alone, for the next line"),
        pytest.param("# npulint: ignore[NPU1301]\n\n# why\nx()", (4, 4), id="alone, with more comments between"),
        pytest.param("# npulint: ignore[NPU1301]\nx(\n  y(),\n)", (3, 3), id="alone, for the whole next statement"),
        pytest.param("x(\n  y(),  # npulint: ignore[NPU1301]\n)", (2, 2), id="inside a statement"),
        pytest.param("x(  # npulint: ignore[NPU1301]\n  y(),\n)", (2, 2), id="on the first line of the statement"),
        pytest.param("x(\n  y(),\n)  # npulint: ignore[NPU1301]", (2, 2), id="on the last line of the statement"),
        pytest.param("x(\n  y(),\n)  # npulint: ignore[NPU1301]", (1, 3), id="at the end of a long finding"),
        pytest.param("if x(\n  y()\n):  # npulint: ignore[NPU1301]\n  z()", (2, 2), id="at the end of a head"),
        pytest.param("a = 1\nx()\n# npulint: ignore-file[native-dropout]", (2, 2), id="for the file"),
    ],
)
def test_silenced(text: str, place: tuple[int, int]) -> None:
    result = run(text, at(*place))
    assert (result.kept, len(result.suppressed), told(result.complaints)) == ([], 1, [])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("x()  # noqa", 1, id="a bare noqa is for other tools"),
        pytest.param("x()  # noqa: E501", 1, id="noqa with other codes"),
        pytest.param("# noqa: NPU1301\nx()", 2, id="noqa does not reach the next line"),
        pytest.param("x()  # npulint: ignore", 1, id="no blanket"),
        pytest.param("x()  # npulint: ignore[]", 1, id="no empty blanket"),
        pytest.param("x()  # npulint: ignore[NPU1101]", 1, id="another check"),
        pytest.param("x()  # npulint: ignored[NPU1301]", 1, id="another word"),
        pytest.param("y()  # npulint: ignore[NPU1301]\nx()", 2, id="the line before"),
        pytest.param("x()\ny()  # npulint: ignore[NPU1301]", 1, id="the line after"),
        pytest.param("s = '# npulint: ignore[NPU1301]'; x()", 1, id="a string is no comment"),
        pytest.param("if a(  # npulint: ignore[NPU1301]\n  b):\n  x()", 3, id="a head does not cover its body"),
    ],
)
def test_not_silenced(text: str, line: int) -> None:
    assert run(text, at(line)).suppressed == []


def test_other_files_are_not_silenced() -> None:
    other = finding(path="b.py", span=Span(1, 1, 1, 2))
    assert run("# npulint: ignore-file[native-dropout]", other).kept == [other]


def test_a_shell_script_is_silenced_line_by_line() -> None:
    assert len(run("export A=1  # npulint: ignore[NPU1301]", at(1), kind="shell").suppressed) == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("# npulint: ignore[NPU1301]\npython a.py \\\n  --x 1 \\\n  --y 2", 3, id="above a long command"),
        pytest.param("python a.py \\\n  --x 1 \\\n  --y 2  # npulint: ignore[NPU1301]", 2, id="at the end of one"),
        pytest.param("a=(1\n  2\n)  # npulint: ignore[NPU1301]", 2, id="at the end of a list"),
    ],
)
def test_a_command_of_several_lines_is_silenced_as_one(text: str, line: int) -> None:
    assert len(run(text, at(line), kind="shell").suppressed) == 1


def test_the_command_before_is_not_silenced() -> None:
    text = "python b.py\npython a.py \\\n  --x 1  # npulint: ignore[NPU1301]"
    assert run(text, at(1), kind="shell").suppressed == []


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        pytest.param("x()  # npulint: ignore[bad-variable]", "npulint: ignore[bad-variable]", id="unused"),
        pytest.param("x()  # npulint: ignore[qq] why", "npulint: ignore[qq]", id="invalid, before a reason"),
        pytest.param("x()  # why  # npulint: ignore[NPU1101]", "npulint: ignore[NPU1101]", id="behind another comment"),
        pytest.param("x()  # noqa: F401,NPU1101 why", "noqa: F401,NPU1101", id="noqa"),
        pytest.param("x('名称')  # npulint: ignore[qq]", "npulint: ignore[qq]", id="behind wide characters"),
    ],
)
def test_a_complaint_marks_the_comment_from_its_first_character_to_its_last(text: str, marked: str) -> None:
    (complaint,) = run(text).complaints
    begin = text.index(marked) + 1
    assert complaint.span == Span(1, begin, 1, begin + len(marked))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param(
            "x()  # npulint: ignore[bad-variable]",
            ["1:8 unused-suppression: unused suppression: `bad-variable` reports nothing here"],
            id="unused",
        ),
        pytest.param(
            "x()  # npulint: ignore[bad-variable, native-dropout]",
            ["1:8 unused-suppression: unused suppression: `bad-variable` reports nothing here"],
            id="one of two unused",
        ),
        pytest.param(
            "x()  # noqa: F401,NPU1101",
            ["1:8 unused-suppression: unused suppression: `NPU1101` reports nothing here"],
            id="only our codes of a noqa",
        ),
        pytest.param(
            "x()  # npulint: ignore[nativ-dropout]",
            ["1:8 invalid-suppression: there is no check named `nativ-dropout`; did you mean `native-dropout`?"],
            id="misspelled",
        ),
        pytest.param(
            "x()  # npulint: ignore[qq]",
            ["1:8 invalid-suppression: there is no check named `qq`"],
            id="like nothing",
        ),
        pytest.param(
            "x()  # npulint: ignore",
            ["1:8 invalid-suppression: the comment names no check, so it has no effect"],
            id="blanket",
        ),
        pytest.param("x()  # npulint: ignore[bad-variable, unused-suppression]", [], id="kept on purpose"),
        pytest.param("x()  # npulint: see the manual", [], id="only prose"),
    ],
)
def test_complaints(text: str, complaint: list[str]) -> None:
    assert told(run(text, at(1)).complaints) == complaint


def test_a_comment_about_a_check_that_does_not_run_is_left_alone() -> None:
    assert run("x()  # npulint: ignore[bad-variable]", inactive="bad-variable").complaints == []


def test_one_comment_may_silence_several_findings() -> None:
    both = [at(1), at(1, code="NPU1101", name="bad-variable")]
    result = run("x()  # npulint: ignore[NPU1101, NPU1301]", *both)
    assert (len(result.suppressed), result.complaints) == (2, [])


def test_source_that_stops_being_python_still_has_its_comments() -> None:
    assert len(run("x()  # npulint: ignore[NPU1301]\ny = '''never closed", at(1)).suppressed) == 1

"""Comments that the editor offers: where they stand, and that they silence what they are about."""

from __future__ import annotations

from collections import Counter
from functools import cache
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from npulint.commands.examples import check_sources
from npulint.facts.model import Span
from npulint.fix.ignoring import ignore_here, ignore_in_file, style_of
from npulint.judge.catalogue.check import Catalogue, Check, Example
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding
from npulint.judge.postprocess.removal import applied
from tests.surface_support import finding


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


@cache
def bad_examples() -> list[tuple[Check, Example]]:
    return [
        (check, example)
        for check in catalogue().checks
        if not check.opt_in
        for example in check.examples
        if example.bad
    ]


def at(span: Span, path: str = "a.py", **changes: str) -> Finding:
    return finding(path=path, span=span, name="native-dropout", **changes)


def here(text: str, span: Span, path: str = "a.py") -> str | None:
    """The text after the edit for a finding at a span."""
    source = dedent(text)
    lines = source.split("\n")
    edit = ignore_here(at(span, path), lines, style_of(path, source.encode()))
    return None if edit is None else "\n".join(applied(lines, edit))


NOTE = "# npulint: ignore[native-dropout]"


@pytest.mark.parametrize(
    ("text", "span", "after"),
    [
        pytest.param("x()", Span(1, 1, 1, 4), f"x()  {NOTE}", id="a plain line"),
        pytest.param("x()\n", Span(1, 1, 1, 4), f"x()  {NOTE}\n", id="with a line end"),
        pytest.param("x()   \ny()", Span(1, 1, 1, 4), f"x()  {NOTE}\ny()", id="blanks at the end go"),
        pytest.param("x()  # 说明😀", Span(1, 1, 1, 4), f"x()  # 说明😀  {NOTE}", id="behind another comment"),
        pytest.param("x(\n  1,\n)", Span(1, 1, 3, 2), f"x(\n  1,\n)  {NOTE}", id="at the end of a statement"),
        pytest.param("x(\n  y(),\n)", Span(2, 3, 2, 6), f"x(\n  y(),  {NOTE}\n)", id="inside of a statement"),
        pytest.param('x("""\na\n""")', Span(1, 3, 3, 4), f'x("""\na\n""")  {NOTE}', id="behind a long text"),
        pytest.param('x(y(), """\na\n""")', Span(1, 3, 1, 6), f'x(y(), """\na\n""")  {NOTE}', id="not into a text"),
        pytest.param("a = x() + \\\n  1", Span(1, 5, 1, 8), f"a = x() + \\\n  1  {NOTE}", id="not behind a backslash"),
        pytest.param("if x(\n  1\n):\n  y()", Span(1, 4, 3, 2), f"if x(\n  1\n):  {NOTE}\n  y()", id="a head"),
        pytest.param(
            "x()  # npulint: ignore[other] why", Span(1, 1, 1, 4), "x()  # npulint: ignore[other, native-dropout] why",
            id="into a comment that is there",
        ),
        pytest.param(
            "# npulint: ignore[other]\nx()", Span(2, 1, 2, 4), "# npulint: ignore[other, native-dropout]\nx()",
            id="into a comment above",
        ),
        pytest.param(
            "y()  # npulint: ignore[other]\nx()", Span(2, 1, 2, 4), f"y()  # npulint: ignore[other]\nx()  {NOTE}",
            id="not into one of another statement",
        ),
        pytest.param("x()  # npulint: ignore", Span(1, 1, 1, 4), f"x()  # npulint: ignore  {NOTE}", id="a blanket"),
        pytest.param("x()  # noqa: E501", Span(1, 1, 1, 4), f"x()  # noqa: E501  {NOTE}", id="behind another tool's"),
        pytest.param("x(]\n", Span(1, 1, 1, 4), f"x(]  {NOTE}\n", id="in a text that is no Python yet"),
    ],
)  # fmt: skip
def test_python(text: str, span: Span, after: str) -> None:
    assert here(text, span) == after


@pytest.mark.parametrize(
    ("text", "span", "after"),
    [
        pytest.param("export A=1\n", Span(1, 8, 1, 11), f"export A=1  {NOTE}\n", id="a plain line"),
        pytest.param(
            "python a.py \\\n  --x 1\n", Span(1, 1, 1, 12), f"python a.py \\\n  --x 1  {NOTE}\n", id="a continued line"
        ),
        pytest.param(
            "a\npython a.py \\\n  --x 1 \\\n  --y 2", Span(3, 3, 3, 8),
            f"a\npython a.py \\\n  --x 1 \\\n  --y 2  {NOTE}", id="in the middle of a command",
        ),
        pytest.param("echo 'a\nb'", Span(1, 1, 1, 5), f"echo 'a\nb'  {NOTE}", id="not into a text"),
        pytest.param(
            "python a.py <<EOF\nx\nEOF\n", Span(1, 1, 1, 12), f"python a.py <<EOF  {NOTE}\nx\nEOF\n",
            id="before a here-document",
        ),
        pytest.param("#!/bin/bash\npython a.py", Span(1, 1, 1, 1), None, id="never on the interpreter's line"),
    ],
)  # fmt: skip
def test_shell(text: str, span: Span, after: str | None) -> None:
    assert here(text, span, "run.sh") == after


@pytest.mark.parametrize(
    ("path", "text", "line", "after"),
    [
        ("Dockerfile", "FROM a\nENV B=1\n", 2, f"FROM a\n{NOTE}\nENV B=1\n"),
        ("Dockerfile", "FROM a\nRUN b \\\n  c\n", 3, f"FROM a\nRUN b \\\n{NOTE}\n  c\n".replace(NOTE, f"  {NOTE}")),
        ("requirements.txt", "torch==1.8\n", 1, f"torch==1.8  {NOTE}\n"),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n  torch\n",
            3,
            f"[options]\ninstall_requires =\n  {NOTE}\n  torch\n",
        ),
        ("environment.yml", "- torch\n", 1, f"- torch  {NOTE}\n"),
        ("ops.cu", "a<<<1>>>();\n", 1, "a<<<1>>>();  // npulint: ignore[native-dropout]\n"),
        ("ops.cu", "#define A \\\n  b \\\n  c\n", 2, None),
        ("ops_info.json", "{}", 1, None),
        ("a.ipynb", "{}", 1, None),
        ("train", "#!/usr/bin/env python\nx()", 2, f"#!/usr/bin/env python\nx()  {NOTE}"),
    ],
)
def test_other_files(path: str, text: str, line: int, after: str | None) -> None:
    start = len(text.split("\n")[line - 1]) - len(text.split("\n")[line - 1].lstrip()) + 1
    assert here(text, Span(line, start, line, start + 1), path) == after


def test_a_finding_about_a_comment_is_not_silenced_by_another() -> None:
    lines = ["x()  # npulint: ignore[nothing]"]
    for name in ("unused-suppression", "invalid-suppression"):
        one = finding(path="a.py", name=name, span=Span(1, 8, 1, 20))
        assert ignore_here(one, lines, style_of("a.py")) is None
        assert ignore_in_file(one, lines, style_of("a.py")) is None


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("x()", "# npulint: ignore-file[native-dropout]\nx()"),
        (
            "#!/bin/sh\n# -*- coding: utf-8 -*-\n'''doc'''\nx()",
            "#!/bin/sh\n# -*- coding: utf-8 -*-\n{}\n'''doc'''\nx()",
        ),
        ("# npulint: ignore-file[other]\nx()", "# npulint: ignore-file[other, native-dropout]\nx()"),
        ("# only a comment", "# only a comment\n{}"),
    ],
)
def test_in_the_whole_file(text: str, after: str) -> None:
    lines = text.split("\n")
    edit = ignore_in_file(at(Span(len(lines), 1, len(lines), 2)), lines, style_of("a.py"))
    assert edit is not None
    assert "\n".join(applied(lines, edit)) == after.replace("{}", "# npulint: ignore-file[native-dropout]")


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_the_editor_offers_silences_the_finding_and_nothing_else(data: st.DataObject) -> None:
    check, example = data.draw(st.sampled_from(bad_examples()))
    found = check_sources(example.files, example.target, catalogue()).findings
    one = data.draw(st.sampled_from([f for f in found if f.code == check.code]))
    lines = example.files[one.path].split("\n")
    style = style_of(one.path, example.files[one.path].encode())
    offer = data.draw(st.sampled_from((ignore_here, ignore_in_file)))
    edit = offer(one, lines, style)
    if style is None or "\r" in example.files[one.path]:
        return
    assert edit is not None
    files = {**example.files, one.path: "\n".join(applied(lines, edit))}
    left = check_sources(files, example.target, catalogue()).findings
    before, after = (Counter((f.code, f.path, f.message) for f in some) for some in (found, left))
    assert (one.code, one.path, one.message) in before - after
    assert {key[0] for key in before - after} == {one.code}
    assert after - before == Counter()

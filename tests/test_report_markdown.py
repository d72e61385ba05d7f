"""The Markdown report, read by a parser: foreign texts are shown and nothing else, and it fits into a step summary."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from npulint.facts.model import Span
from npulint.judge.findings import ChecklistItem, Finding, Fix, ProgramSummary, RunResult, Summary
from npulint.report.markdown import LIMIT
from npulint.report.terminal import code, escape_control_chars, link, prose
from npulint.report.view import ReportView, render
from tests import hostile_results
from tests.surface_support import finding

_PIECES = (
    *("|", "\\|", "\\", "`", "``", "```", "<b>", "</td>", "<!--", "-->", "&lt;", "&#64;", "![a](http://x/y.png)"),
    *(
        "[a](javascript:b)",
        "[a]: http://x",
        "<http://x>",
        "http://evil.example",
        "www.evil.example",
        "@user",
        "#12",
        "!7",
    ),
    *(
        "*a*",
        "__b__",
        "~~c~~",
        "$x$",
        "# h",
        "- l",
        "1. n",
        "> q",
        "---",
        "===",
        "    code",
        "\n\n",
        "a",
        " ",
        "模型",
        "\t",
    ),
)
texts = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=4)), max_size=6).map("".join)
APART = "\u200b"
PARSER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def inline(markdown: str) -> list[Token]:
    return [child for token in PARSER.parse(markdown) for child in token.children or []]


def read(tokens: list[Token]) -> str:
    """What a reader sees."""
    return "".join(token.content for token in tokens).replace(APART, "")


@given(texts)
def test_prose_is_read_as_it_was_meant(text: str) -> None:
    tokens = PARSER.parse(f"x {prose(text)} x")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    children = tokens[1].children or []
    assert {token.type for token in children} <= {"text", "text_special", "code_inline"}
    assert read(children).replace("`", "") == f"x {escape_control_chars(text)} x".replace("`", "")


@given(texts)
def test_a_cell_is_one_cell_and_is_read_as_it_was_meant(text: str) -> None:
    rows = PARSER.parse(f"| a | b |\n| --- | --- |\n| {prose(text, cell=True)} | {code(text, cell=True)} |\n")
    cells = [rows[place + 1].children or [] for place, token in enumerate(rows) if token.type == "td_open"]
    assert len(cells) == 2
    assert {token.type for cell in cells for token in cell} <= {"text", "text_special", "code_inline"}
    meant = escape_control_chars(text)
    assert read(cells[0]).replace("`", "").strip() == meant.replace("`", "").strip()
    assert [token.content for token in cells[1] if token.type == "code_inline"] == ([meant] if meant else [])


@given(texts)
def test_code_is_shown_letter_by_letter(text: str) -> None:
    assert [token.content for token in inline(f"x {code(text)} x") if token.type == "code_inline"] == (
        [escape_control_chars(text)] if text else []
    )


@pytest.mark.parametrize("text", [" a ", "  ", " ", "`", " `", "` `", "a` ", "a``b", "a\\"])
@pytest.mark.parametrize("cell", [False, True])
def test_code_keeps_blanks_and_backticks(text: str, cell: bool) -> None:
    table = f"| a |\n| --- |\n| {code(text, cell=cell)} |\n"
    tokens = inline(table if cell else f"x {code(text)}")
    assert [token.content for token in tokens if token.type == "code_inline"] == [text]


@given(texts)
def test_nobody_is_called_and_nothing_becomes_an_address(text: str) -> None:
    seen = "".join(token.content for token in inline(f"x {prose(text)}") if token.type != "code_inline")
    assert not re.search(r"[@#!][A-Za-z0-9_]|://|\bwww\.", seen)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.org/checks/a/", "https://example.org/checks/a/"),
        ("http://example.org/a_(b)|c`d", "http://example.org/a_%28b%29%7Cc%60d"),
        ("javascript:alert(1)", None),
        ("https://exa mple.org", None),
        ("https://example.org/\n", None),
        ("", None),
    ],
)
def test_only_addresses_of_the_web_become_links(url: str, target: str | None) -> None:
    tokens = inline(f"| a |\n| --- |\n| {link(code('n|a', cell=True), url)} |\n")
    assert [token.attrs["href"] for token in tokens if token.type == "link_open"] == ([target] if target else [])
    assert [token.content for token in tokens if token.type == "code_inline"] == ["n|a"]


hostile = st.builds(
    lambda one, path, message, fix: msgspec.structs.replace(
        one, name="a-b", path=path, message=message, fix=Fix(fix), span=Span(3, 1, 3, 2)
    ),
    hostile_results.findings,
    texts,
    texts,
    texts,
)


@given(st.lists(hostile, max_size=4), st.lists(hostile_results.problems, max_size=2), st.lists(texts, max_size=3))
@settings(deadline=None, max_examples=60)
def test_the_whole_report_has_only_the_markup_that_it_makes(
    found: list[Finding], unread: Any, items: list[str]
) -> None:
    programs = [
        ProgramSummary(text, 1, "torch", "partial", (), (), "", (ChecklistItem("i", text, "unknown", None, text),))
        for text in items
    ]
    result = RunResult(found, programs, unread, summary=Summary(1, 1))
    tokens = PARSER.parse(render("markdown", result, ReportView()))
    blocks = [token for token in tokens if token.nesting >= 0]
    assert not {token.type for token in blocks} & {"html_block", "fence", "code_block", "blockquote_open", "hr"}
    children = [child for token in tokens for child in token.children or []]
    assert not {child.type for child in children} & {"html_inline", "image", "em_open", "s_open", "softbreak"}
    links = [child.attrs["href"] for child in children if child.type == "link_open"]
    assert all(str(href).startswith(("http://", "https://")) for href in links)
    assert sum(token.type == "tr_open" for token in tokens) == bool(found) + len(found) + 2 * len(items)
    assert sum(token.type == "td_open" for token in tokens) == 4 * (len(found) + len(items))


def test_the_gravest_stand_first() -> None:
    found = [
        finding(severity=word, message=word, path=f"{n}.py") for n, word in enumerate(["note", "error", "warning"])
    ]
    text = render("markdown", RunResult(found, summary=Summary(3, 3)), ReportView())
    assert text.index("| error |") < text.index("| warning |") < text.index("| note |")


@pytest.mark.parametrize("limit", [0, 4000, 40_000])
@pytest.mark.parametrize("many", ["findings", "programs", "checks", "all"])
def test_what_has_no_room_is_left_out_and_counted(limit: int, many: str) -> None:
    number = 9000 if not limit else 800
    items = tuple(ChecklistItem(str(n), "shapes are static 模型", "unknown", look="look " * 20) for n in range(13))
    programs = [
        ProgramSummary(f"{n}.py", 1, "torch", "partial", (), ("train",), "", items) for n in range(number // 10)
    ]
    found = [
        finding(
            message="模型" * 30,
            path=f"a/{n}.py",
            code=f"NPU{n:04}" if many in ("checks", "all") else "NPU1301",
            fix=Fix("Do this. " * 30),
            severity="error" if n == number - 1 else "warning",
        )
        for n in range(number)
    ]
    result = RunResult(
        found if many != "programs" else found[:1],
        programs if many in ("programs", "all") else [],
        summary=Summary(1, 1),
    )
    text = render("markdown", result, ReportView(limit=limit))
    assert len(text.encode()) <= (limit or LIMIT)
    rows = len(re.findall(r"^\| (?:error|warning) \|", text, re.MULTILINE))
    assert text.count("| error |") == (many != "programs")
    if many != "programs":
        assert f"\n{number - rows} more findings do not fit in this summary.\n" in text
    else:
        assert rows == 1 and "no room" not in text
    if programs and many in ("programs", "all"):
        told = text.count("## Readiness of")
        assert f"\n... and {len(programs) - told} more programs\n" in text
    assert len(text.encode()) > (limit or LIMIT) // 2 or many == "programs"


@pytest.mark.slow
def test_the_limit_holds_at_every_size() -> None:
    items = tuple(ChecklistItem(str(n), "shapes are static", "unknown", look="look") for n in range(3))
    programs = [ProgramSummary(f"{n}.py", 1, "torch", "partial", (), ("train",), "", items) for n in range(10)]
    found = [finding(path=f"{n}.py", code=f"NPU{n:04}", fix=Fix("Do it.")) for n in range(60)]
    result = RunResult(found, programs, summary=Summary(60, 60))
    sizes = {limit: len(render("markdown", result, ReportView(limit=limit)).encode()) for limit in range(700, 9000, 11)}
    assert [limit for limit, size in sizes.items() if size > limit] == []
    assert all(size > limit - 800 for limit, size in sizes.items() if limit < 6000)

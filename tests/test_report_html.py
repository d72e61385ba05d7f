"""The HTML report as a document: what is on the page, and that no text leaves its place."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from hashlib import sha256

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.facts.model import Problem, Span
from npulint.judge.findings import (
    ChecklistItem,
    Edit,
    Evidence,
    Fix,
    ProgramSummary,
    Related,
    RunResult,
    Summary,
    SuppressedFinding,
)
from npulint.judge.settings import Settings
from npulint.report.html import page as page_module
from npulint.report.html.markup import ShortPaths, outside
from npulint.report.html.source import frame, line_of
from npulint.report.terminal import escape_control_chars
from npulint.report.view import ReportView, RulePage, render
from tests.growth import assert_linear
from tests.html_support import EVIL, by_id, hostile, large, large_source, page, text_of, tree, with_class
from tests.surface_support import finding, sample

pieces = st.one_of(st.text(max_size=12), st.sampled_from([EVIL, "`", "``", "<b>", "&amp;", "\x00", "\udc80", "\u2066"]))
TAGS = {element.tag for element in tree(page(sample())).iter()}
texts = st.lists(pieces, max_size=4).map("".join)


def said(text: str) -> str:
    """A text as it is read on the page: code has no backticks around it."""
    parts = escape_control_chars(text).split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return "".join(parts)


@pytest.mark.slow
@settings(deadline=None)
@given(texts, texts, texts, texts, st.integers(0, 9), st.integers(0, 9))
def test_every_text_stays_in_its_place(
    message: str, path: str, line: str, reason: str, column: int, width: int
) -> None:
    line = "x" + line.replace("\n", "").replace("`", "")[:80]
    span = Span(1, column + 1, 1, column + width + 1)
    one = finding(message=message, path="p" + path, span=span, topic=reason, why=reason, fingerprint="")
    result = RunResult(
        [one], suppressed=[SuppressedFinding(one, "comment", reason)], unreadable=[Problem("p" + path, "json", reason)]
    )
    root = tree(page(result, lines=lambda name: [line]))
    (card,) = with_class(root, "f")
    assert text_of(card.find("h4")) == f"warning {said(message)}"
    assert text_of(card.find("p/a")) == f"p{escape_control_chars(path)}:1:{column + 1}"
    seen = escape_control_chars(line.replace("\t", "    "))
    assert text_of(card.find("pre/code")).rstrip() == seen.rstrip()
    cells = [text_of(cell) for cell in by_id(root, "silenced").iter("td")]
    assert cells[:2] == [one.name, said(message)]
    assert cells[3] == (said(reason) if reason else "no reason given")
    assert text_of(list(by_id(root, "unread").iter("td"))[-1]) == escape_control_chars(reason)
    assert {element.tag for element in root.iter()} <= TAGS


def test_hostile_texts_make_no_elements_and_no_attributes() -> None:
    text = page(hostile())
    root = tree(text)
    tags = Counter(element.tag for element in root.iter())
    assert (tags["script"], tags["style"], tags["title"], tags["img"]) == (1, 1, 1, 0)
    names = {name for element in root.iter() for name in element.attrib}
    assert not [name for name in names if name.startswith("on") or name == "style"]
    assert not [element for element in root.iter() if "javascript:" in (element.get("href") or "")]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", text)


def test_ids_are_unique_and_links_lead_somewhere() -> None:
    twice = [finding(fingerprint="ab"), finding(fingerprint="ab", span=Span(1, 1, 1, 2)), finding(fingerprint="")]
    for result in (sample(), hostile(), RunResult(twice, summary=Summary(1, 1))):
        root = tree(page(result))
        ids = [one.get("id") for one in root.iter() if one.get("id")]
        assert len(ids) == len(set(ids))
        inner = {(one.get("href") or "")[1:] for one in root.iter("a") if (one.get("href") or "").startswith("#")}
        assert inner <= set(ids)


def test_the_policy_allows_this_style_and_this_script_only() -> None:
    root = tree(page(sample()))
    (policy,) = [one.get("content") or "" for one in root.iter("meta") if one.get("http-equiv")]
    (style,), (script,) = root.iter("style"), root.iter("script")
    for name, element in (("style-src", style), ("script-src", script)):
        digest = b64encode(sha256(text_of(element).encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_the_page_asks_for_nothing() -> None:
    root = tree(page(sample(), page=lambda code: RulePage("Title", "", "", "")))
    asked = [one.get(name) or "" for one in root.iter() for name in ("src", "srcset", "data", "action", "poster")]
    assert not any(asked)
    assert [one.get("href", "")[:5] for one in root.iter("link")] == ["data:"]
    (style,) = root.iter("style")
    assert not re.search(r"@import|url\((?!#)", text_of(style))


def test_two_runs_give_the_same_bytes_and_no_time() -> None:
    later = msgspec.structs.replace(sample(), summary=msgspec.structs.replace(sample().summary, seconds=9.0))
    assert page(later) == page(sample())


def test_a_page_tells_no_place_of_the_machine() -> None:
    paths = [
        "/home/someone/models/app/train.py",
        "/home/someone/models/app/lib/model.py",
        "/home/someone/models/other/a.py",
    ]
    findings = [finding(path=path, fingerprint=str(n)) for n, path in enumerate(paths)]
    programs = [ProgramSummary(paths[0], 1, "torch", "partial", (), ("train",))]
    text = page(RunResult(findings, programs, [Problem(paths[1], "json")], summary=Summary(3, 2)))
    assert "someone" not in text
    root = tree(text)
    assert sorted(text_of(card.find("p/a")) for card in with_class(root, "f")) == [
        "app/lib/model.py:13:17",
        "app/train.py:13:17",
        "other/a.py:13:17",
    ]
    assert "models" in text_of(by_id(root, "run"))


@pytest.mark.parametrize(
    ("paths", "path", "told"),
    [
        (["a/b.py"], "a/b.py", "a/b.py"),
        (["/a/b.py"], "/a/b.py", "b.py"),
        (["/a/b.py", "/a/c/d.py", "e.py"], "/a/c/d.py", "c/d.py"),
        (["/a/b.py", "/ab/c.py"], "/ab/c.py", "ab/c.py"),
        (["C:/x/a.py", "C:/y/b.py"], "C:/y/b.py", "y/b.py"),
        (["C:/x/a.py", "D:/y/b.py"], "D:/y/b.py", "D:/y/b.py"),
    ],
)
def test_what_all_paths_share_is_left_out(paths: list[str], path: str, told: str) -> None:
    assert ShortPaths(paths)(path) == told


@pytest.mark.parametrize(
    ("result", "word"),
    [
        (sample(), "blocked"),
        (RunResult([finding()], summary=Summary(1, 1)), "open"),
        (
            RunResult(
                programs=[ProgramSummary("a", 1, "torch", "migrated", checklist=(ChecklistItem("d", "t", "failed"),))],
                summary=Summary(1, 1),
            ),
            "open",
        ),
        (RunResult([finding()], unreadable=[Problem("a.py", "syntax-error")], summary=Summary(1, 0, 1)), "nothing"),
        (
            RunResult(
                programs=[ProgramSummary("a", 1, "torch", "migrated", checklist=(ChecklistItem("d", "t", "unknown"),))],
                summary=Summary(1, 1),
            ),
            "check",
        ),
        (
            RunResult(
                programs=[
                    ProgramSummary("a", 1, "torch", "migrated", checklist=(ChecklistItem("device", "t", "passed"),))
                ],
                summary=Summary(1, 1),
            ),
            "ready",
        ),
        (
            RunResult(
                programs=[
                    ProgramSummary("a", 1, "torch", "migrated", checklist=(ChecklistItem("device", "t", "passed"),))
                ],
                unreadable=[Problem("b.py", "json")],
                summary=Summary(2, 1, 1),
            ),
            "check",
        ),
        (RunResult([finding(severity="note")], summary=Summary(1, 1)), "check"),
        (RunResult(summary=Summary(1, 1)), "unused"),
        (RunResult(), "nothing"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_verdict(result: RunResult, word: str, lang: str) -> None:
    root = tree(page(result, lang=lang))
    assert (by_id(root, "verdict").get("class") or "").split() == ["verdict", word]
    (html,) = root.iter("html") if root.tag != "html" else (root,)
    assert html.get("lang") == {"en": "en", "zh": "zh-CN"}[lang]


def test_the_verdict_tells_what_it_rests_on() -> None:
    failed = ProgramSummary("a", 1, "torch", "migrated", checklist=(ChecklistItem("d", "t", "failed"),))
    root = tree(page(RunResult(programs=[failed], summary=Summary(1, 1, known=3))))
    text = " ".join(by_id(root, "verdict").itertext())
    assert "It is not known whether the training program runs on the NPU" in text
    assert "1 readiness item failed." in text
    assert "3 findings recorded in the baseline are not counted." in text


def test_charts_count_what_was_found() -> None:
    root = tree(page(sample()))
    charts = with_class(root, "chart")
    rows = [[text_of(cell) for cell in row] for row in charts[0].iter("tr")]
    assert rows[0][2:] == ["error", "warning", "note", "Total"]
    assert rows[1:] == [
        ["functional", "", "1", "2", "0", "3"],
        ["precision", "", "0", "0", "0", "0"],
        ["performance", "", "0", "2", "0", "2"],
        ["hygiene", "", "0", "0", "1", "1"],
    ]
    bars = [
        [(r.get("class"), r.get("x"), r.get("width")) for r in row.iter() if r.tag.endswith("rect")]
        for row in charts[0].iter("tr")
    ]
    assert bars[1] == [("error", "0%", "33.333%"), ("warning", "33.333%", "66.667%")]
    assert next(one.get("aria-label") for one in with_class(charts[0], "bar")) == "functional: 1 error, 2 warnings"
    assert [next(text_of(cell) for cell in row) for row in charts[1].iter("tr")][1] == "native-dropout"


def test_items_of_several_programs_are_counted_together() -> None:
    items = (ChecklistItem("d", "on the NPU", "failed"), ChecklistItem("l", "loss scale", "passed"))
    programs = [ProgramSummary(name, 1, "torch", "partial", checklist=items) for name in ("a.py", "b.py")]
    root = tree(page(RunResult(programs=programs, summary=Summary(2, 2))))
    (chart,) = with_class(root, "chart")
    assert [[text_of(cell) for cell in row] for row in chart.iter("tr")][1:] == [
        ["on the NPU", "", "2", "0", "0", "2"],
        ["loss scale", "", "0", "0", "2", "2"],
    ]
    assert len(with_class(root, "program")) == 2


def test_evidence_leads_to_the_card_of_its_finding() -> None:
    one = finding(fingerprint="ab", severity="error")
    other = Evidence("models/train.py", Span(7, 1, 7, 3), "gone", "NPU1")
    failures = (Evidence(one.path, one.span, one.name, one.code), other)
    item = ChecklistItem("d", "on the NPU", "failed", failures[0], failures=failures)
    programs = [ProgramSummary("models/train.py", 1, "torch", "partial", checklist=(item,))]
    root = tree(page(RunResult([one], programs, summary=Summary(1, 1))))
    links = [(a.get("href"), text_of(a)) for a in by_id(root, "programs").iter("a")]
    assert links == [("#f-ab", "models/train.py:13")]
    assert "models/train.py:7" in text_of(by_id(root, "programs"))


def test_what_is_true_of_all_findings_of_a_check_is_said_once() -> None:
    twice = [finding(fingerprint="a"), finding(fingerprint="b", fix=Fix("Another fix."), why="Another reason.")]
    told = text_of(by_id(tree(page(RunResult(twice))), "findings"))
    assert told.count("The native operator runs on the host.") == 1
    assert told.count("Another fix.") == told.count("Another reason.") == 1


def test_more_findings_than_a_page_can_hold_are_cut_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "CARDS", 3)
    root = tree(page(sample()))
    cards = with_class(root, "f")
    assert len(cards) == 3
    assert sum("error" in (card.get("class") or "") for card in cards) == 1
    assert "3 findings are omitted" in text_of(by_id(root, "findings"))
    assert "6" in text_of(by_id(root, "run"))


def test_many_findings_of_a_check_are_folded() -> None:
    many = [finding(fingerprint=f"{n}", span=Span(n, 1, n, 2)) for n in range(1, 13)]
    root = tree(page(RunResult(many, summary=Summary(1, 1))))
    (rest,) = with_class(root, "rest")
    assert text_of(rest.find("summary")) == "4 more places"
    assert len(with_class(rest, "f")) == 4


def test_only_findings_from_the_lowest_severity_on_are_on_the_page() -> None:
    root = tree(page(sample(), shown_from="error"))
    assert len(with_class(root, "f")) == 1
    assert "5 findings below error are not included" in text_of(by_id(root, "run"))


def test_the_page_carries_notes_unless_it_is_told_otherwise() -> None:
    assert Settings().shown_from("html") == "note"
    assert Settings(min_severity="error").shown_from("html") == "error"


def test_addresses_that_are_no_pages_are_not_linked() -> None:
    assert outside("https://example.org/a?b=1&c", "x").startswith('<a href="https://example.org/a?b=1&amp;c"')
    for url in ("javascript:alert(1)", "data:text/html,x", " https://x", "//x"):
        assert outside(url, "x") == "x"
    assert outside("", "x") == ""


FRAMES = [
    pytest.param(
        ["a = 1", "  b(c)", "d"], Span(2, 3, 2, 7), "1\n2\n3", "a = 1\n  [b(c)]\nd", id="a line and its neighbours"
    ),
    pytest.param(["    a", "    b(c)"], Span(2, 5, 2, 6), "1\n2", "a\n[b](c)", id="shared blanks are left out"),
    pytest.param(["\ta(", "\t\tb)", ""], Span(1, 2, 2, 5), "1\n2", "[a(\n    b)]", id="tabs, over two lines"),
    pytest.param(["", "x", ""], Span(2, 1, 2, 1), "2", "[x]", id="an empty span marks a character"),
    pytest.param(["x"], Span(1, 9, 3, 4), "1", "x", id="a span beyond the end"),
    pytest.param(["x"], Span(5, 1, 5, 2), "", "", id="a line that is not there"),
    pytest.param(
        [f"l{n}" for n in range(1, 15)],
        Span(1, 1, 14, 4),
        "1\n2\n3\n4\n5\n6\n7\n\n13\n14",
        "[l1\nl2\nl3\nl4\nl5\nl6\nl7\n⋯\nl13\nl14]",
        id="of a long statement the beginning and the end",
    ),
    pytest.param(["a" * 500], Span(1, 401, 1, 411), "1", "…" + "a" * 60 + "[" + "a" * 10 + "]" + "a" * 90, id="long"),
]


@pytest.mark.parametrize(("lines", "span", "numbers", "code"), FRAMES)
def test_frames(lines: list[str], span: Span, numbers: str, code: str) -> None:
    text = frame("a.py", lines, span, "Source")
    if not numbers:
        assert text == ""
        return
    found = re.fullmatch(r"<pre.*?><span aria-hidden=\"true\">(.*?)</span><code>(.*)</code></pre>", text, re.S)
    assert found is not None
    gutter, body = found.groups()
    assert gutter == numbers
    assert _joined(body) == code


def _joined(body: str) -> str:
    """Marks as brackets; what is marked over several lines as one."""
    text = body.replace("<mark>", "[").replace("</mark>", "]")
    return re.sub(r"\]((?:\n⋯)?\n *)\[", r"\1", text)


def test_frames_of_notebooks_show_the_code_of_the_cell() -> None:
    lines = ['  "cell_type": "code",', '  "source": [', '   "x = 1\\n",', '   "y = \\"é\\"\\n",', '   "z"', "  ]"]
    text = frame("n.ipynb", lines, Span(4, 5, 4, 8), "Source")
    assert text.endswith(
        '<span aria-hidden="true">3\n4\n5</span><code>x = 1\ny = <mark><u>"é"</u></mark>\nz</code></pre>'
    )
    assert line_of("n.ipynb", lines, 4) == '<code>y = "é"</code>'


@given(st.lists(texts, max_size=6), st.integers(-1, 8), st.integers(-1, 40), st.integers(-1, 8), st.integers(-1, 40))
def test_frames_survive_any_place(lines: list[str], line: int, column: int, end_line: int, end_column: int) -> None:
    one = [text.replace("\n", "") for text in lines]
    frame("a.py", one, Span(line, column, end_line, end_column), "Source")
    line_of("a.ipynb", one, line)


def test_a_change_is_shown_as_lines_out_and_in() -> None:
    path = "models/train.py"
    edits = (
        Edit(path, Span(1, 1, 1, 1), "import npu_bridge\n"),
        Edit(path, Span(13, 18, 13, 31), "npu_ops.dropout"),
        Edit(path, Span(13, 35, 13, 38), "0.9"),
    )
    root = tree(page(RunResult([finding(fix=Fix("Do.", "safe", edits))])))
    told = [[text_of(row) for row in block.iter() if row.tag in ("del", "ins")] for block in with_class(root, "diff")]
    assert told == [
        ["+ import npu_bridge"],
        [
            '- name = "模型"; y = tf.nn.dropout(x, 0.5)',
            '+ name = "模型"; y = npu_ops.dropout(x, 0.9)',
        ],
    ]


def test_related_places_are_told_with_their_line() -> None:
    related = tuple(Related("models/train.py", Span(7, 1, 7, 3), f"place {n}") for n in range(120))
    root = tree(page(RunResult([finding(related=related)])))
    (box,) = with_class(root, "related")
    rows = [text_of(row) for row in box.iter("li")]
    assert rows[0] == "models/train.py:7 place 0 ds = tf.data.Dataset.range(3).map(parse)"
    assert len(rows) == 40
    assert "80 more rows are omitted" in text_of(box)


@pytest.mark.slow
def test_ten_thousand_findings_are_told_in_time() -> None:
    assert_linear(large, lambda result: render("html", result, ReportView(lines=large_source)), 800)
    text = render("html", large(10_000), ReportView(lines=large_source))
    assert len(text.encode()) < 20_000_000
    assert text.count("<article ") == 10_000

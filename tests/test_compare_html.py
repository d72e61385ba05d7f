"""The comparison in the HTML report: as a document, and in a real browser."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.facts.model import Span
from npulint.judge.findings import (
    ComparedItem,
    ComparedPair,
    ComparedRow,
    ComparedSide,
    Evidence,
    Related,
    RunResult,
    Summary,
)
from npulint.report.html import compared as compared_module
from npulint.report.terminal import escape_control_chars
from npulint.report.view import ReportView, render
from tests.comparison_samples import compared, comparison, findings, row, side, source
from tests.growth import assert_linear
from tests.html_support import EVIL, by_id, page, text_of, tree, with_class
from tests.surface_support import finding, sample
from tests.test_report_html_browser import DESKTOP, OVERFLOW, PHONE, Open
from tests.test_report_html_browser import browser as browser  # a fixture
from tests.test_report_html_browser import opened as opened  # a fixture

pieces = st.one_of(st.text(max_size=12), st.sampled_from([EVIL, "<b>", "&amp;", "\x00", "\udc80", "\u2066"]))
texts = st.lists(pieces, max_size=4).map("".join)
TAGS = {element.tag for element in tree(page(compared(), comparing=True, lines=source)).iter()}


def shown(result: RunResult | None = None, **view: Any) -> str:
    return page(compared() if result is None else result, **{"lines": source, "comparing": True, **view})


def hostile() -> RunResult:
    """A comparison whose every text tries to leave its place."""
    place = Related("gpu/" + EVIL, Span(1, 1, 1, 2), EVIL)
    one = ComparedSide(
        EVIL * 4, "gpu/" + EVIL, Span(1, 1, 1, 2), (place, place, Related(EVIL, Span(2, 1, 2, 2), "x" * 300))
    )
    rows = tuple(ComparedRow(EVIL, EVIL, answer, one, one, EVIL) for answer in ("differs", "note", "unknown", "same"))
    items = tuple(
        ComparedItem(EVIL + status, EVIL, status, rows, EVIL, (Evidence(EVIL, Span(7, 1, 7, 2), EVIL, EVIL),), 9)
        for status in ("consistent", "differs", "unknown")
    )
    pair = ComparedPair(EVIL, EVIL, EVIL, EVIL, EVIL, EVIL, items)
    return compared(comparison=comparison(pairs=(pair, pair), only_reference=(EVIL,), only_migrated=(EVIL,)))


def test_each_item_has_a_card_that_leads_to_it() -> None:
    root = tree(shown())
    (cards,) = with_class(root, "items")
    links = [(link.get("href"), link.get("class"), text_of(link)) for link in cards.iter("a")]
    assert len(links) == 9
    href, status, text = links[-1]
    assert (href, status) == ("#item-0-hyperparameters", "differs")
    assert text == "differs The hyperparameters are those of the reference 1 differs, 1 undetermined, 1 same"
    for target, *_ in links:
        by_id(root, str(target)[1:])


def test_both_sides_stand_next_to_each_other_with_their_way_and_source() -> None:
    item = by_id(tree(shown()), "item-0-hyperparameters")
    assert item.get("open") is not None
    line = next(one for one in item.iter("tr") if one.get("data-a") == "differs")
    what, reference, migrated = list(line)
    assert text_of(what) == "learning rate"
    assert text_of(with_class(reference, "at")[0]) == "train.py:5 → --lr → args.lr"
    assert text_of(with_class(migrated, "at")[0]) == "test/train_full_1p.sh:3 → --lr → args.lr"
    assert [text_of(one) for one in migrated.iter("mark")] == ["0.05"]
    (link,) = migrated.iter("a")
    assert link.get("href") == "#f-0123456789abcdef6201"
    equal = with_class(item, "equal")[0]
    assert [one.get("data-a") for one in equal.iter("tr") if one.get("data-a")] == ["same"]


def test_what_is_consistent_is_folded_and_what_has_nothing_to_say_is_a_line() -> None:
    root = tree(shown())
    assert by_id(root, "item-0-sharding").tag == "div"
    assert by_id(root, "item-0-data").get("open") is not None  # it has a note
    same = ComparedItem("data", "d", "consistent", (row("dataset", "d", "same", side("1"), side("1")),))
    only = compared(comparison=comparison(pairs=(ComparedPair("a", "b", items=(same,)),)))
    assert by_id(tree(shown(only)), "item-0-data").get("open") is None


@pytest.mark.parametrize(
    ("result", "word", "tone"),
    [
        pytest.param(compared(), "Differs from the reference", "open", id="differs"),
        pytest.param(
            compared(findings=[finding(severity="error")]), "Differs from the reference", "blocked", id="error"
        ),
        pytest.param(compared(comparison=comparison(pairs=())), "Nothing was compared", "nothing", id="no pair"),
    ],
)
def test_verdicts(result: RunResult, word: str, tone: str) -> None:
    root = tree(shown(result))
    assert text_of(by_id(root, "verdict-word")) == word
    assert tone in (by_id(root, "verdict").get("class") or "").split()
    assert text_of(next(root.iter("title"))) == f"{word} · Comparison with the reference"


@pytest.mark.parametrize(
    ("statuses", "severity", "word"),
    [
        (("consistent",), "", "Consistent with the reference"),
        (("consistent",), "note", "Consistent with the reference"),
        (("consistent",), "warning", "No difference found"),
        (("consistent", "unknown"), "", "No difference found"),
        (("unknown", "differs"), "", "Differs from the reference"),
    ],
)
def test_the_verdict_follows_the_items(statuses: tuple[str, ...], severity: str, word: str) -> None:
    items = tuple(ComparedItem(status, status, status) for status in statuses)
    told = [finding(severity=severity)] if severity else []
    result = compared(findings=told, comparison=comparison(pairs=(ComparedPair("a", "b", items=items),)))
    assert text_of(by_id(tree(shown(result)), "verdict-word")) == word


def test_a_check_beside_a_reference_keeps_its_own_verdict() -> None:
    base = sample()
    result = RunResult([*base.findings, *findings()], base.programs, summary=base.summary, comparison=comparison())
    root = tree(shown(result, comparing=False))
    assert text_of(by_id(root, "verdict-word")) == "The training program stops on the NPU"
    order = [one.get("id") for one in root.iter("section") if one.get("id") in ("programs", "compared", "findings")]
    assert order == ["programs", "compared", "findings"]


def test_more_rows_than_a_page_can_hold_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared_module, "_ROWS", 3)
    root = tree(shown())
    assert len([one for one in root.iter("tr") if one.get("data-a")]) == 3
    assert "4 more rows are omitted from this page." in text_of(by_id(root, "compared"))


@settings(deadline=None, max_examples=60)
@given(texts, texts, texts, texts)
def test_every_text_stays_in_its_place(what: str, value: str, path: str, look: str) -> None:
    one = ComparedSide(
        value, path, Span(1, 1, 1, 2), (Related(path, Span(1, 1, 1, 2), value), Related(path, Span(2, 1, 2, 2), what))
    )
    item = ComparedItem("data", what, "unknown", (ComparedRow("x", what, "differs", one, None),), look)
    result = RunResult(comparison=comparison(pairs=(ComparedPair(path, path, items=(item,)),)), summary=Summary(1, 1))
    root = tree(shown(result))
    assert {element.tag for element in root.iter()} <= TAGS
    line = next(one for one in root.iter("tr") if one.get("data-a"))
    assert text_of(line[0]) == escape_control_chars(what)
    assert text_of(with_class(line, "value")[0]) == (escape_control_chars(" ".join(value.split())) or "?")


def test_hostile_comparisons_make_a_valid_page() -> None:
    root = tree(shown(hostile()))
    assert len(with_class(root, "pair")) == 2
    assert {element.tag for element in root.iter()} <= TAGS
    assert not [one for one in root.iter() for name in one.attrib if name.startswith("on")]


# in a browser


ROWS = "Array.from(document.querySelectorAll('tr[data-a]')).filter(r => r.checkVisibility()).map(r => r.dataset.a)"
ITEMS = "Array.from(document.querySelectorAll('.item')).filter(i => !i.hidden).map(i => i.id.slice(7))"


def test_rows_are_filtered_by_answer_and_words(opened: Open) -> None:
    one = opened(shown())
    tab = one.tab
    assert sorted(one.ask(ROWS)) == ["differs"] * 3 + ["note"] + ["unknown"] * 2  # what is the same is folded
    tab.locator("#sides label.chip.unknown").click()
    tab.locator("#sides label.chip.note").click()
    assert set(one.ask(ROWS)) == {"differs"}
    assert one.ask(ITEMS)[0] == "reference_repeatable" and "data" not in one.ask(ITEMS)
    assert tab.locator("#sides output").inner_text() == "4 of 7 shown"
    tab.locator("#sides button").click()
    tab.wait_for_timeout(100)
    tab.fill("#sides input[type=search]", "BATCH 256")
    tab.wait_for_timeout(100)
    assert one.ask(ITEMS) == ["hyperparameters"]
    assert one.ask(ROWS) == ["same"]
    tab.fill("#sides input[type=search]", "no such words")
    tab.wait_for_timeout(100)
    assert tab.locator(".no-rows").is_visible()
    assert one.shown() == 2  # the findings have a filter of their own
    assert one.complaints == []


def test_cards_and_places_lead_where_they_say(opened: Open) -> None:
    one = opened(shown())
    one.tab.fill("#sides input[type=search]", "no such words")
    one.tab.locator(".items a").nth(7).click()
    one.tab.wait_for_timeout(300)
    assert 0 < one.ask("document.getElementById('item-0-training').getBoundingClientRect().top") < 850
    one.tab.locator("#item-0-hyperparameters td a").click()
    one.tab.wait_for_timeout(300)
    assert one.ask("location.hash") == "#f-0123456789abcdef6201"
    assert one.complaints == []


def test_without_scripts_everything_is_there(opened: Open) -> None:
    one = opened(shown(), java_script_enabled=False)
    body = one.tab.locator("body").inner_text()
    assert all(word in body for word in ("0.05", "random_flip_left_right", "--lr", "test/train_full_1p.sh:3"))
    assert not one.tab.locator("form:visible").count()
    assert one.complaints == []


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light"), (DESKTOP, "dark")])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_bars_the_way(opened: Open, scheme: str, size: dict[str, int], lang: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for result in (compared(), hostile()):
        one = opened(shown(result, lang=lang), viewport=size, color_scheme=scheme)
        assert one.ask(OVERFLOW) <= 0
        one.ask("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert one.ask(OVERFLOW) <= 0
        skipped = {"rules": {"scrollable-region-focusable": {"enabled": size != PHONE}}}
        violations = Axe().run(one.tab, options=skipped).response["violations"]
        assert [(broken["id"], [node["target"] for node in broken["nodes"]][:3]) for broken in violations] == []
        assert one.complaints == []


def test_paper_holds_both_sides(opened: Open) -> None:
    import io

    from pypdf import PdfReader

    from tests.html_support import squeezed

    one = opened(shown())
    sheets = PdfReader(io.BytesIO(one.tab.pdf(format="A4"))).pages
    told = squeezed("".join(sheet.extract_text() for sheet in sheets))
    for word in ("random_flip_left_right", "(x - 127.5) / 127.5", "x / 255.0", "--batch-size", "args.lr"):
        assert squeezed(word) in told


@pytest.mark.slow
def test_a_large_comparison_is_told_in_time() -> None:
    def told(count: int) -> RunResult:
        rows = tuple(
            row(
                "setting",
                f"setting_{n}",
                ("differs", "same")[n % 2],
                side("1", "gpu/train.py", 5),
                side("2", "npu/train.py", 5),
            )
            for n in range(count)
        )
        pair = ComparedPair("a", "b", items=(ComparedItem("hyperparameters", "the same", "differs", rows),))
        return compared(comparison=comparison(pairs=(pair,)))

    view = ReportView(lines=source, comparing=True)
    assert_linear(told, lambda result: render("html", result, view), 2000)
    text = render("html", told(5000), view)
    assert len(re.findall("<tr data-a", text)) == 2000

"""The dashboard of a survey in a real browser, opened from disk."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from npulint.survey.dashboard.page import page
from tests.html_support import EVIL
from tests.survey_support import broken, large, row, summed
from tests.test_report_html_browser import DESKTOP, OVERFLOW, PHONE, Open, Opened, browser, opened

__all__ = ["browser", "opened"]
pytestmark = pytest.mark.nightly

NAMES = "Array.from(document.querySelectorAll('#rows tbody tr:not(.more) th'), th => th.firstChild.textContent)"
SHOWN = "document.querySelector('[name=shown]').value"


@pytest.fixture(scope="module")
def many() -> str:
    return page(large(2000), "en")


@pytest.fixture
def fleet(opened: Open, many: str) -> Opened:
    return opened(many)


def names(one: Opened) -> list[str]:
    """The projects that are listed."""
    found: list[str] = one.ask(NAMES)
    return found


def test_two_thousand_projects_open_at_once(opened: Open, many: str) -> None:
    begun = time.perf_counter()
    one = opened(many)
    one.tab.wait_for_selector("#rows tbody tr")
    assert time.perf_counter() - begun < 10  # two seconds on an idle machine: bench, not a test, measures that
    assert one.complaints == [] and len(one.requests) == 1
    assert len(names(one)) == 50 and one.ask(SHOWN) == "2,001 of 2,001 projects"


def test_the_best_come_first_and_what_failed_last(fleet: Opened) -> None:
    words = "Array.from(document.querySelectorAll('#rows tbody .s'), b => b.textContent)"
    assert set(fleet.ask(words)) == {"Ready"}
    for _ in range(40):
        fleet.tab.click("button[name=next]")
    assert names(fleet)[-1] == "gone" and fleet.tab.is_disabled("button[name=next]")
    assert fleet.ask("document.querySelector('.pager output').value") == "2,001 to 2,001 of 2,001"


def shown(one: Opened) -> int:
    """How many projects the filters let through; -1 while the form is reset."""
    text: str = one.ask(SHOWN)
    return int(text.split()[0].replace(",", "")) if text else -1


def settled(one: Opened, number: int) -> bool:
    """Whether the filters let so many projects through, at the latest after some seconds."""
    end = time.monotonic() + 5
    while shown(one) != number and time.monotonic() < end:
        one.tab.wait_for_timeout(20)
    return shown(one) == number


def test_filters_of_framework_verdict_check_and_text(fleet: Opened) -> None:
    rows = large(2000).projects
    code = next(one.blockers[0] for one in rows if one.blockers and one.frameworks == ("torch",))
    blocked = [one for one in rows if code in one.blockers]
    fleet.tab.select_option("[name=check]", code)
    assert shown(fleet) == len(blocked)
    fleet.tab.select_option("[name=framework]", "torch")
    blocked = [one for one in blocked if one.frameworks == ("torch",)]
    assert shown(fleet) == len(blocked)
    group = blocked[0].project.partition("/")[0]
    fleet.search(f"{group}/ PROJECT")
    assert settled(fleet, sum(one.project.startswith(f"{group}/") for one in blocked))
    fleet.search("no such project")
    assert settled(fleet, 0) and fleet.tab.is_visible(".no-match")
    fleet.tab.click("button[type=reset]")
    assert settled(fleet, 2001)
    fleet.tab.uncheck("input[value=ready]", force=True)
    assert shown(fleet) == 1601


def test_a_blocker_shows_its_projects(fleet: Opened) -> None:
    fleet.tab.click("[data-check] >> nth=0")
    code = fleet.ask("document.querySelector('[data-check]').dataset.check")
    number = fleet.ask("document.querySelector('#blockers tbody td').textContent")
    assert settled(fleet, int(number))
    assert fleet.ask("document.querySelector('[name=check]').value") == code


def test_columns_are_sorted_by_their_heads(fleet: Opened) -> None:
    numbers = (
        "Array.from(document.querySelectorAll('#rows tbody tr'), r => Number(r.cells[6].textContent.replace(',', '')))"
    )
    fleet.tab.click("[data-sort=lines]")
    assert fleet.ask(numbers) == sorted(fleet.ask(numbers), reverse=True)
    assert fleet.ask("document.querySelector('[data-column=lines]').getAttribute('aria-sort')") == "descending"
    assert fleet.ask("document.querySelector('[name=order]').value") == "lines"
    fleet.tab.click("[data-sort=lines]")
    assert fleet.ask(numbers) == sorted(fleet.ask(numbers))
    fleet.tab.select_option("[name=order]", "name")
    assert names(fleet)[:3] == ["gone", "group0/project-0", "group0/project-40"]


def test_a_project_unfolds_and_leads_to_its_report(fleet: Opened) -> None:
    fleet.search("group7/project-47")
    assert settled(fleet, 1)
    assert fleet.ask("document.querySelector('#rows a').getAttribute('href')") == "reports/project-47.html"
    fleet.tab.focus("#rows button[aria-expanded]")
    fleet.tab.keyboard.press("Enter")
    assert "/fleet/group7/project-47" in fleet.tab.inner_text("#rows .more")
    fleet.tab.keyboard.press("Enter")
    assert fleet.ask("document.querySelectorAll('#rows .more').length") == 0


def test_the_page_works_by_keyboard(fleet: Opened) -> None:
    fleet.tab.keyboard.press("Tab")
    fleet.tab.keyboard.press("Enter")  # to the projects
    assert fleet.ask("location.hash") == "#projects"
    fleet.tab.keyboard.press("Tab")
    fleet.tab.keyboard.type("group7/")
    assert settled(fleet, 50)
    assert {name.split("/")[0] for name in names(fleet)} == {"group7"}


@pytest.fixture(scope="module")
def hostile() -> dict[str, str]:
    """Pages with hostile and long texts, in both languages."""
    evil = row(EVIL, source=EVIL, frameworks=(EVIL,), blockers=("NPU1", "NPU2", "NPU3"), verdict="blocked", errors=9)
    found = summed(
        *(evil, row("x" * 300, verdict="open"), broken(EVIL + "2", "configuration", EVIL + "y" * 200)),
        names={"NPU1": EVIL, "NPU2": "b" * 90, "NPU3": "c"},
    )
    return {lang: page(found, lang) for lang in ("en", "zh")}


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("lang", "scheme", "size"),
    [("en", "light", DESKTOP), ("zh", "dark", DESKTOP), ("zh", "light", PHONE), ("en", "dark", PHONE)],
)
def test_everybody_can_read_it(opened: Open, hostile: dict[str, str], lang: str, scheme: str, size: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    one = opened(hostile[lang], viewport=size, color_scheme=scheme)
    for button in one.tab.query_selector_all("#rows button[aria-expanded]"):
        button.click()
    assert one.complaints == [] and one.ask("document.images.length") == 0
    assert one.ask(OVERFLOW) <= 0
    found = Axe().run(one.tab, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []


def test_without_scripts_the_totals_are_there(opened: Open, many: str) -> None:
    one = opened(many, java_script_enabled=False)
    assert one.tab.is_visible("#totals") and one.tab.is_visible("#blockers")
    assert one.tab.is_visible("noscript p") and not one.tab.is_visible("#rows")


def test_reports_are_found_next_to_the_page(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "a.html").write_text("<title>of a</title>")
    (tmp_path / "index.html").write_text(page(summed(row("a", report="reports/a.html")), "en"))
    context = browser.new_context()
    one = Opened(context.new_page(), (tmp_path / "index.html").as_uri())
    one.tab.click("#rows a")
    one.tab.wait_for_load_state()
    assert one.tab.title() == "of a"
    context.close()

"""The HTML report in a real browser, opened from disk as its readers open it."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from npulint.judge.findings import RunResult
from npulint.report.history import decoded
from npulint.report.view import ProjectStamp, ReportView
from npulint.report.view import render as rendered
from tests.html_support import hostile, large, large_source, page, squeezed
from tests.project_support import ROOT, Project
from tests.run_support import RESULT, RUN
from tests.step_support import RESULT as STEPPED
from tests.surface_support import finding, sample
from tests.tools import chinese_font, needed

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PLACE = "(box => [box.top, box.bottom])(document.getElementById('{}').getBoundingClientRect())"
END = "window.scrollY + window.innerHeight >= document.documentElement.scrollHeight - 1"
HEAD = 60  # pixels of the line that stays at the top
CARDS = "Array.from(document.querySelectorAll('.f')).filter(f => !f.hidden)"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = needed("chromium", "chromium-browser", "google-chrome")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield one
        one.close()


class Opened:
    """A page, and everything that it complained about or asked for."""

    def __init__(self, tab: Any, address: str) -> None:
        self.tab = tab
        self.complaints: list[str] = []
        self.requests: list[str] = []
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.goto(address)

    def ask(self, script: str) -> Any:
        """The value of a script."""
        return self.tab.evaluate(script)

    def shown(self) -> int:
        """How many findings the filter lets through."""
        number: int = self.ask(f"{CARDS}.length")
        return number

    def search(self, text: str) -> None:
        """Type into the search field and wait until it was obeyed."""
        self.tab.fill("input[type=search]", text)
        self.tab.wait_for_timeout(150)


Open = Callable[..., Opened]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Open]:
    contexts = []

    def show(text: str, **options: Any) -> Opened:
        path = tmp_path / "report.html"
        path.write_text(text, encoding="utf-8")
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        contexts.append(context)
        return Opened(context.new_page(), path.as_uri())

    yield show
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """The report on the sample projects in each language, and the findings that the JSON report has."""
    folder = tmp_path_factory.mktemp("reports")
    found = {}
    for lang in ("en", "zh"):
        target = folder / f"{lang}.html"
        words = ("check", "--lang", lang, "--no-cache", "--format", "json", "--output", f"html={target}", "examples")
        answer = Project(ROOT).run(*words)
        found[lang] = (target.read_text(encoding="utf-8"), answer.findings)
    return found


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_report_opens_in_silence(opened: Open, reports: Any, lang: str) -> None:
    text, findings = reports[lang]
    one = opened(text)
    grave = sum(found["severity"] != "note" for found in findings)
    assert one.shown() == grave > 0
    numbers = one.ask("Array.from(document.querySelectorAll('.chart')[0].tBodies[0].rows, r => r.cells[5].innerText)")
    assert sum(map(int, numbers)) == len(findings)
    boxes = one.ask(
        "Array.from(document.querySelectorAll('.chart rect'), r => r.getBoundingClientRect())"
        ".map(b => [b.width, b.height, b.left + b.width])"
    )
    assert boxes
    assert all(width > 0 and height > 5 for width, height, _ in boxes)
    assert one.complaints == []
    assert len(one.requests) == 1


def test_bars_are_as_long_as_their_numbers_say(opened: Open) -> None:
    one = opened(page(sample()))
    rows = one.ask(
        "Array.from(document.querySelectorAll('.chart')[0].tBodies[0].rows, r => [r.cells[5].innerText, "
        "Array.from(r.querySelectorAll('rect'), b => b.getBoundingClientRect().width).reduce((a, b) => a + b, 0)])"
    )
    unit = rows[0][1] / int(rows[0][0])
    assert unit > 10
    for number, width in rows:
        assert width == pytest.approx(int(number) * unit, abs=1)


def test_filters_show_what_they_name(opened: Open) -> None:
    one = opened(page(sample()))
    tab = one.tab
    assert one.shown() == 5
    tab.locator("label.chip.note").click()
    assert one.shown() == 6
    tab.locator("label.chip.performance").click()
    assert one.shown() == 4
    assert tab.locator("output").inner_text() == "4 of 6 findings shown"
    tab.locator("label.chip.performance").click()
    tab.select_option("select[name=topic]", "dropout")
    assert one.ask(f"new Set({CARDS}.map(f => f.closest('.group').dataset.topic)).size") == 1
    tab.locator("button[type=reset]").click()
    tab.wait_for_timeout(100)
    assert one.shown() == 5
    one.search("PLAIN-config allow_soft")
    assert one.ask(f"{CARDS}.map(f => f.closest('.group').id)") == ["check-NPU1103"]
    one.search("no such words")
    assert one.shown() == 0
    assert tab.locator(".no-match").is_visible()
    assert tab.locator(".group:visible").count() == 0
    assert one.complaints == []


def test_numbers_beside_the_filters_follow_the_other_filters(opened: Open) -> None:
    one = opened(page(sample()))
    told = "Object.fromEntries(Array.from(document.querySelectorAll('.chip b'), b => [b.dataset.n, +b.innerText]))"
    severities = Counter(found.severity for found in sample().findings)
    assert {name: one.ask(told)[name] for name in severities} == severities
    one.tab.locator("label.chip.performance").click()
    assert one.ask(told)["warning"] == 2
    assert one.ask(told)["performance"] == 2
    assert one.ask(told)["hygiene"] == 0


def test_grouping_by_file_and_back_loses_nothing(opened: Open) -> None:
    one = opened(rendered("html", large(600), ReportView(lines=large_source)))
    order = "Array.from(document.querySelectorAll('.f'), f => f.id)"
    before = one.ask(order)
    one.tab.locator(".group-by label").nth(1).click()
    assert sorted(one.ask(order)) == sorted(before)
    assert one.ask("document.querySelectorAll('.group').length") == 200
    assert one.ask(
        "Array.from(document.querySelectorAll('.group')).every(g => Array.from(g.querySelectorAll('.f .at a'))"
        ".every(a => a.textContent.startsWith(g.querySelector('h3').textContent + ':')))"
    )
    about = one.tab.locator(".f:visible .about").first
    about.locator("summary").click()
    about.locator(".advice").wait_for()
    assert "The native operator runs on the host." in about.inner_text()
    one.tab.locator(".group-by label").nth(0).click()
    assert one.ask(order) == before
    assert not one.tab.locator(".about:visible").count()
    assert one.complaints == []


def test_links_lead_to_findings_even_where_these_are_hidden(opened: Open) -> None:
    one = opened(rendered("html", large(1500), ReportView(lines=large_source)))
    last = one.ask("Array.from(document.querySelectorAll('.rest .f')).pop().id")
    note = one.ask("document.querySelector('.f.note').id")
    for target, grouping in ((last, 0), (note, 0), (last, 1), (note, 1)):
        one.tab.locator(".group-by label").nth(grouping).click()
        one.search("nothing has these words")
        one.ask(f"location.hash = '#{target}'")
        one.tab.wait_for_timeout(400)
        top, bottom = one.ask(PLACE.format(target))
        assert HEAD < top < bottom < DESKTOP["height"]  # all of it, below the line that stays
        assert top < DESKTOP["height"] / 2 or one.ask(END)  # and in the upper half, unless the page ends before
    one.tab.locator(".steps a").first.click()
    one.tab.wait_for_timeout(300)
    top, _ = one.ask(PLACE.format(one.ask("location.hash.slice(1)")))
    assert HEAD < top < DESKTOP["height"] / 2  # its beginning: a group is higher than the window
    assert one.complaints == []


def test_the_keyboard_is_enough(opened: Open) -> None:
    one = opened(page(sample()))
    one.tab.keyboard.press("Tab")
    assert one.ask("document.activeElement.className") == "skip"
    one.tab.keyboard.press("/")
    one.tab.keyboard.type("native-dropout")
    one.tab.wait_for_timeout(150)
    assert one.shown() == 2
    one.tab.locator("input[value=note]").focus()
    one.tab.keyboard.press("Space")
    one.search("")
    assert one.shown() == 6


def test_without_scripts_everything_is_there(opened: Open) -> None:
    one = opened(page(sample()), java_script_enabled=False)
    body = one.tab.locator("body").inner_text()
    for found in sample().findings:
        assert squeezed(found.fix.text) in squeezed(body)
    assert not one.tab.locator("form").is_visible()
    assert one.tab.locator(".f").count() == 6
    assert one.complaints == []


@pytest.mark.nightly
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_paper_holds_every_finding_that_is_shown(opened: Open, reports: Any, lang: str) -> None:
    from pypdf import PdfReader

    if lang == "zh":
        chinese_font()
    text, findings = reports[lang]
    one = opened(text)
    printed = PdfReader(io.BytesIO(one.tab.pdf(format="A4")))
    told = squeezed("".join(sheet.extract_text() for sheet in printed.pages))
    places: dict[tuple[str, str], list[str]] = {}
    for found in findings:
        if found["severity"] != "note":
            assert squeezed(found["message"]) in told
            places.setdefault((found["message"], found["path"]), []).append(str(found["line"]))
    for (_, path), lines in places.items():  # a message and a file once, with all lines
        assert squeezed(f"{path}:{lines[0]}") in told and len(lines) <= 20
        assert squeezed(f"{path}:{', '.join(lines)}") in told
    one.tab.emulate_media(media="print")
    assert not one.tab.locator("form").is_visible()
    assert not one.tab.locator("nav").is_visible()
    cut = one.ask(
        "Array.from(document.querySelectorAll('.f, .steps li')).every(f => getComputedStyle(f).breakInside === 'avoid')"
    )
    assert cut


def test_paper_shows_what_was_folded_also_without_scripts(opened: Open) -> None:
    from pypdf import PdfReader

    many = [finding(fingerprint=f"{number}", message=f"operator {number} of many") for number in range(20)]
    one = opened(page(RunResult(many)), java_script_enabled=False)

    printed = PdfReader(io.BytesIO(one.tab.pdf(format="A4")))
    told = squeezed("".join(sheet.extract_text() for sheet in printed.pages))
    assert all(f"operator{number}of" in told for number in range(20))


@pytest.mark.nightly
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_navigation_lands_where_it_leads(opened: Open, motion: str) -> None:
    one = opened(rendered("html", large(600), ReportView(lines=large_source)), reduced_motion=motion)
    for target in ("run", "findings", "programs", "first", "run"):
        one.tab.locator(f"nav a[href='#{target}']").click()
        one.tab.wait_for_timeout(300)
        top, _ = one.ask(PLACE.format(target))
        assert abs(top - HEAD) < 15 or (target == "run" and one.ask(END) and 0 < top < DESKTOP["height"]), target
    assert one.complaints == []


def test_the_reader_may_scroll_away_while_the_page_lands(opened: Open) -> None:
    one = opened(rendered("html", large(600), ReportView(lines=large_source)))
    one.tab.locator("nav a[href='#run']").click()
    one.tab.mouse.move(600, 500)
    one.tab.mouse.wheel(0, -3000)
    one.tab.wait_for_timeout(300)
    assert not one.ask(END)


@pytest.mark.nightly
@pytest.mark.parametrize("number", [86, 620, 5000])
def test_paper_is_short(opened: Open, number: int, record_property: Callable[[str, object], None]) -> None:
    from pypdf import PdfReader

    text = rendered("html", large(number), ReportView(lines=large_source))
    one = opened(text)
    pages = len(PdfReader(io.BytesIO(one.tab.pdf(format="A4"))).pages)
    record_property(f"pages of {number}", pages)
    assert pages <= 12
    assert not one.ask("document.querySelectorAll('.paper').length"), "the page is as before"
    assert number > 620 or len(text.encode()) < 1_500_000


def test_paper_has_what_the_filter_shows(opened: Open) -> None:
    one = opened(page(sample()))
    one.search("native-dropout")
    one.ask("dispatchEvent(new Event('beforeprint'))")
    said = one.ask("Array.from(document.querySelectorAll('.paper li'), line => line.textContent)")
    messages = {one.ask(f"{CARDS}[{at}].querySelector('h4').textContent") for at in range(one.shown())}
    assert len(said) == len(messages) > 0 and all(line.startswith(tuple(messages)) for line in said)
    one.ask("dispatchEvent(new Event('afterprint'))")
    assert not one.ask("document.querySelectorAll('.paper').length")


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light"), (DESKTOP, "dark")])
def test_nothing_bars_the_way(opened: Open, reports: Any, scheme: str, size: dict[str, int]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for text in (reports["zh"][0], page(hostile())) if scheme == "light" or size == PHONE else (page(hostile()),):
        one = opened(text, viewport=size, color_scheme=scheme)
        assert one.ask(OVERFLOW) <= 0
        one.ask("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert one.ask(OVERFLOW) <= 0
        # browsers let the keyboard scroll what is too wide for a phone
        skipped = {"rules": {"scrollable-region-focusable": {"enabled": size != PHONE}}}
        violations = Axe().run(one.tab, options=skipped).response["violations"]
        assert [(broken["id"], [node["target"] for node in broken["nodes"]][:3]) for broken in violations] == []


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_what_a_project_brings_bars_no_way(opened: Open, scheme: str, size: dict[str, int]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    past = decoded(rendered("json", large(30), ReportView()).encode(), "an-earlier-report-with-a-long-name" * 3)
    text = rendered(
        "html",
        large(40),
        ReportView(
            lines=large_source,
            project=ProjectStamp("a-project-of-a-long-name" * 4, "1" * 40, "2026-01-02 03:04"),
            source_url="https://host/{path}#L{line}",
            history=(past, past),
        ),
    )
    one = opened(text, viewport=size, color_scheme=scheme)
    assert one.ask(OVERFLOW) <= 0
    one.ask("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert one.ask(OVERFLOW) <= 0
    skipped = {"rules": {"scrollable-region-focusable": {"enabled": size != PHONE}}}  # as above
    violations = Axe().run(one.tab, options=skipped).response["violations"]
    assert [(broken["id"], [node["target"] for node in broken["nodes"]][:3]) for broken in violations] == []
    assert one.complaints == []


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (PHONE, "light"), (DESKTOP, "light"), (DESKTOP, "dark")])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_picture_of_a_step_is_drawn_and_bars_no_way(
    opened: Open, scheme: str, size: dict[str, int], lang: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    one = opened(page(STEPPED, lang=lang), viewport=size, color_scheme=scheme)
    assert one.ask(OVERFLOW) <= 0
    strips = one.ask("Array.from(document.querySelectorAll('.strip'), one => one.getBoundingClientRect().width)")
    assert len(strips) == 3 and min(strips) > 150
    tall = one.ask("Array.from(document.querySelectorAll('#step caption'), one => one.getBoundingClientRect().height)")
    assert max(tall) < 150, "captions are not set letter by letter"
    skipped = {"rules": {"scrollable-region-focusable": {"enabled": size != PHONE}}}
    violations = Axe().run(one.tab, options=skipped).response["violations"]
    assert [(broken["id"], [node["target"] for node in broken["nodes"]][:3]) for broken in violations] == []
    assert one.complaints == []


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_pictures_of_a_run_are_drawn_and_bar_no_way(opened: Open, scheme: str, size: dict[str, int]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    one = opened(page(RESULT), viewport=size, color_scheme=scheme)
    assert one.ask(OVERFLOW) <= 0
    boxes, fields = (
        one.ask(f"Array.from(document.querySelectorAll('{name}'), one => one.getBoundingClientRect().width)")
        for name in (".curve", ".field")
    )
    assert len(boxes) == len(fields) == len(RUN.curves)
    assert all(width > field * 0.6 > 100 for width, field in zip(boxes, fields, strict=True))
    one.ask("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert one.ask(OVERFLOW) <= 0
    violations = Axe().run(one.tab).response["violations"]
    assert [(broken["id"], [node["target"] for node in broken["nodes"]][:3]) for broken in violations] == []
    assert one.complaints == []


def test_the_dark_page_is_dark_and_paper_is_white(opened: Open) -> None:
    light = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number).every(n => n > 200)"
    one = opened(page(sample()), color_scheme="dark")
    assert not one.ask(light)
    one.tab.emulate_media(media="print", color_scheme="dark")
    assert one.ask(light)
    assert opened(page(sample())).ask(light)


def test_hostile_texts_stay_texts(opened: Open) -> None:
    one = opened(page(hostile()))
    one.tab.locator(".group-by label").nth(1).click()
    for summary in one.tab.locator(".about summary:visible").all():
        summary.click()
    one.search("onerror")
    assert one.shown() == 1
    assert one.complaints == []
    assert len(one.requests) == 1
    assert one.ask("document.images.length") == 0


TIMED = """async () => {
  const begun = performance.now();
  ACT;
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return performance.now() - begun;
}"""


@pytest.mark.nightly
def test_ten_thousand_findings_stay_usable(opened: Open, record_property: Callable[[str, object], None]) -> None:
    begun = {}
    for number in (2_500, 10_000):
        one = opened(rendered("html", large(number), ReportView(lines=large_source)))
        begun[number] = _times(one)
        record_property(f"times of {number}", begun[number])
        assert one.ask("document.querySelectorAll('*').length") < 40 * number
        assert one.complaints == []
    for name, few in begun[2_500].items():
        assert begun[10_000][name] < 9 * max(few, 50), (name, begun)  # four times as many, and never their square


def _times(one: Opened) -> dict[str, float]:
    """Milliseconds that the page takes to open, and to answer each kind of filter."""
    typed = "filters.q.value = '{}'; filters.topic.dispatchEvent(new Event('input', {{ bubbles: true }}))"
    times = {"load": one.ask("performance.getEntriesByType('navigation')[0].duration")}
    for name, act in (
        ("severity", "document.querySelector('input[value=note]').click()"),
        ("category", "document.querySelector('input[value=performance]').click()"),
        ("first search", typed.format("operator_77")),
        ("search", typed.format("package_1 layer")),
        ("all", typed.format("")),
        ("by file", "document.querySelector('input[value=file]').click()"),
    ):
        times[name] = one.ask(TIMED.replace("ACT", act))
    return times


def test_an_empty_report_is_a_page_too(opened: Open) -> None:
    one = opened(page(RunResult()))
    assert one.tab.locator("h2").first.inner_text() == "Nothing was checked: no file was read"
    assert one.complaints == []

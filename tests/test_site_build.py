"""The documentation site as HTML, and in a browser. All pages are built at night (NPULINT_TEST_NIGHTLY), else some."""

from __future__ import annotations

import functools
import os
import posixpath
import re
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from msgspec.structs import replace

from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.postprocess.engine import ENGINE_RULES
from scripts.docsite.build import build
from scripts.docsite.checks import all_rules
from tests.tools import missing, needed

pytestmark = pytest.mark.slow

ADDRESS = "https://docs.example.com/npulint"
BELOW = "some/where"  # the path that the site is served below
SOME = ("loss_scale", "mixed_precision", "dropout", "env_vars")
_LINK = re.compile(r'<(?P<tag>a|link|script|img)\b[^>]*?\s(?:href|src)="?(?P<to>[^"\s>]*)')
_QUIET = "--disable-background-networking --disable-component-update --disable-sync --no-first-run".split()


def some(*topics: str) -> Catalogue:
    """The checks of some topics, and all readiness items."""
    catalogue = load_catalogue(())
    return replace(catalogue, checks=tuple(check for check in catalogue.checks if check.topic in topics))


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue(()) if os.environ.get("NPULINT_TEST_NIGHTLY") else some(*SOME)


@pytest.fixture(scope="module")
def site(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site, below the folder that is served."""
    for module in ("mkdocs", "pymdownx"):
        if find_spec(module) is None:
            missing(module)
    out = tmp_path_factory.mktemp("served") / BELOW
    build(out, catalogue, ADDRESS, {"NPU1999": "merged into another"}, {"an-old-name": "native-dropout"})
    return out


def resolved(page: str, target: str) -> str:
    """The file of the site that a link of a page names."""
    path = unquote(urlsplit(target).path)
    place = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    return posixpath.join(place, "index.html") if path.endswith("/") or path in (".", "..") else place


def test_every_link_leads_to_a_file_of_the_site_and_nothing_is_fetched_from_elsewhere(
    site: Path, catalogue: Catalogue
) -> None:
    files = {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
    left_out = {check.name for check in load_catalogue(()).checks} - {check.name for check in catalogue.checks}
    unbuilt = {f"../checks/{name}.md" for name in left_out}  # the table of precisions names all checks
    pages = [name for name in files if name.endswith(".html") and not name.endswith("404.html")]
    wrong: set[str] = set()
    for page in pages:
        for link in _LINK.finditer((site / page).read_text(encoding="utf-8")):
            target, outside = link["to"], "://" in link["to"]
            canonical = 'rel="canonical"' in link[0]
            if outside and link["tag"] != "a" and not canonical:
                wrong.add(f"{page} fetches {target}")
            elif not outside and not target.startswith(("#", "data:", "javascript:")) and not canonical:
                place = resolved(page, target)
                if place not in files and f"{place}/index.html" not in files and target not in unbuilt:
                    wrong.add(f"{page} leads to {target}")
    assert len(pages) > 200
    assert sorted(wrong)[:20] == []


def test_styles_fetch_nothing_from_elsewhere(site: Path) -> None:
    styles = list(site.rglob("*.css"))
    found = [
        url for path in styles for url in re.findall(r"url\((?!data:|\"data:)[^)]*//[^)]*\)", path.read_text("utf-8"))
    ]
    assert styles
    assert found == []


def test_codes_and_former_names_lead_to_the_page(site: Path, catalogue: Catalogue) -> None:
    for rule in all_rules(catalogue):
        for lang in ("en", "zh"):
            assert (site / lang / "checks" / rule.name / "index.html").exists()
            assert f"../{rule.name}/" in (site / lang / "checks" / rule.code / "index.html").read_text("utf-8")
    assert "../native-dropout/" in (site / "zh/checks/an-old-name/index.html").read_text("utf-8")
    assert "merged into another" in (site / "en/checks/NPU1999/index.html").read_text("utf-8")


def test_the_site_map_knows_both_languages_and_no_date(site: Path) -> None:
    text = (site / "en" / "sitemap.xml").read_text("utf-8")
    assert f"<loc>{ADDRESS}/en/checks/native-dropout/</loc>" in text
    assert f'hreflang="zh" href="{ADDRESS}/zh/checks/native-dropout/"' in text
    assert "lastmod" not in text


@pytest.mark.nightly
def test_two_builds_are_equal_to_the_byte(site: Path, tmp_path: Path) -> None:
    few = some("dropout")
    for name in ("one", "two"):
        build(tmp_path / name, few, ADDRESS, {}, {})
    first = {
        path.relative_to(tmp_path / "one"): path.read_bytes()
        for path in (tmp_path / "one").rglob("*")
        if path.is_file()
    }
    second = {
        path.relative_to(tmp_path / "two"): path.read_bytes()
        for path in (tmp_path / "two").rglob("*")
        if path.is_file()
    }
    assert len(first) > 100
    assert set(first) == set(second)
    assert [str(path) for path in first if first[path] != second[path]] == []
    assert not any(str(tmp_path).encode() in content for content in first.values())


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a test prints what matters."""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served: below a path, as some servers do."""
    root = site.parents[len(Path(BELOW).parts) - 1]
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Silent, directory=str(root)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/{BELOW}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = needed("chromium", "chromium-browser", "google-chrome")
    if find_spec("playwright") is None:
        missing("playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu", *_QUIET])
        yield running
        running.close()


class Visit:
    """One page in a browser that notes every complaint, and every request to elsewhere."""

    def __init__(self, browser: Any, home: str, **options: Any) -> None:
        self.complaints: list[str] = []
        self.page = browser.new_context(**options).new_page()
        self.page.set_default_timeout(20_000)
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self._complain(True, str(error)))
        self.page.on("response", lambda answer: self._complain(answer.status >= 400, answer.url))
        self.page.on(
            "request", lambda asked: self._complain(not asked.url.startswith((home, "data:", "blob:")), asked.url)
        )

    def _said(self, message: Any) -> None:
        self._complain(message.type in ("error", "warning"), message.text)

    def _complain(self, wrong: bool, text: str) -> None:
        if wrong:
            self.complaints.append(text)

    def search(self, words: str) -> list[str]:
        """The addresses of the results of a search, the best first."""
        found = self.page.locator(".np-results a")
        self.page.locator("input[name=query]").click()
        self.page.keyboard.insert_text(words)
        found.first.wait_for()
        return [urlsplit(one.get_attribute("href")).path for one in found.all()[:12]]


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("lang", "words", "wanted"),
    [
        ("en", "loss scale", "topics/loss-scale/"),
        ("en", "NPU1301", "checks/native-dropout/"),
        ("en", "native-dropout", "checks/native-dropout/"),
        ("zh", "混合精度", "topics/mixed-precision/"),
        ("zh", "环境变量", "topics/env-vars/"),
    ],
)
def test_search_finds_words(browser: Any, address: str, lang: str, words: str, wanted: str) -> None:
    visit = Visit(browser, address)
    visit.page.goto(f"{address}{lang}/guides/faq/")
    found = list(dict.fromkeys(visit.search(words)))
    assert f"/{BELOW}/{lang}/{wanted}" in found[:5], found
    assert visit.complaints == []


def test_a_check_is_shown_in_both_languages_at_the_same_address(browser: Any, address: str) -> None:
    visit = Visit(browser, address)
    visit.page.goto(f"{address}en/checks/native-dropout/")
    assert visit.page.locator(".highlight .hll").count() >= 2
    assert visit.page.locator(".np-pill").first.inner_text() == "warning"
    visit.page.locator('header a[hreflang="zh"]').click()
    visit.page.wait_for_url(f"{address}zh/checks/native-dropout/")
    assert visit.page.locator(".np-pill").first.inner_text() == "警告"
    assert visit.complaints == []


@pytest.mark.parametrize(("locale", "lang"), [("zh-CN", "zh"), ("en-GB", "en"), ("de-DE", "en")])
def test_the_root_leads_to_the_language_of_the_browser(browser: Any, address: str, locale: str, lang: str) -> None:
    visit = Visit(browser, address, locale=locale)
    visit.page.goto(address)
    visit.page.wait_for_url(f"{address}{lang}/")
    assert visit.complaints == []


def test_without_scripts_the_root_leads_on_and_the_list_is_whole(
    browser: Any, address: str, catalogue: Catalogue
) -> None:
    visit = Visit(browser, address, java_script_enabled=False)
    visit.page.goto(address)
    visit.page.wait_for_url(f"{address}en/")
    visit.page.goto(f"{address}en/checks/NPU1301/")
    visit.page.wait_for_url(f"{address}en/checks/native-dropout/")
    visit.page.goto(f"{address}en/checks/")
    assert visit.page.locator("table.np-checks tbody tr:visible").count() == len(catalogue.checks) + len(ENGINE_RULES)
    assert not visit.page.locator("form.np-filter").is_visible()
    assert visit.complaints == []


def test_the_list_is_filtered_and_the_filter_is_part_of_the_address(
    browser: Any, address: str, catalogue: Catalogue
) -> None:
    visit = Visit(browser, address)
    visit.page.goto(f"{address}en/checks/#severity=error&text=npu")
    rows = visit.page.locator("table.np-checks tbody tr:visible")
    assert rows.count() == sum(check.severity == "error" for check in catalogue.checks)
    visit.page.locator("select[name=family]").select_option("pytorch")
    both = sum(check.severity == "error" and check.family == "pytorch" for check in catalogue.checks)
    assert 0 < rows.count() == both
    assert visit.page.locator("form.np-filter output").inner_text() == f"{both} shown"
    assert "family=pytorch" in visit.page.url
    visit.page.locator("input[name=text]").fill("no such words at all")
    assert rows.count() == 0
    assert visit.complaints == []


def test_a_code_keeps_the_anchor(browser: Any, address: str) -> None:
    visit = Visit(browser, address)
    visit.page.goto(f"{address}zh/checks/NPU1301/#how")
    visit.page.wait_for_url(f"{address}zh/checks/native-dropout/#how")
    assert visit.page.locator("h2#how").count() == 1


@pytest.mark.nightly
@pytest.mark.parametrize("width", [360, 1440])
@pytest.mark.parametrize("page", ["", "checks/", "checks/native-dropout/", "guides/configuration/", "topics/"])
def test_no_page_is_wider_than_the_screen(browser: Any, address: str, page: str, width: int) -> None:
    visit = Visit(browser, address, viewport={"width": width, "height": 800}, color_scheme="dark")
    visit.page.goto(f"{address}zh/{page}")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
    assert visit.complaints == []


def test_a_copy_on_the_disk_works(browser: Any, site: Path) -> None:
    home = site.as_uri() + "/"
    visit = Visit(browser, home, locale="zh-CN")
    visit.page.goto(f"{home}index.html")
    visit.page.wait_for_url(f"{home}zh/index.html")
    found = visit.search("混合精度")
    assert any("/zh/topics/mixed-precision/" in path for path in found), found
    visit.page.locator(".np-results a").first.click()
    visit.page.wait_for_url(re.compile(r"/index\.html"))
    visit.page.locator(".np-checks a").first.click()
    visit.page.wait_for_url(re.compile(r"/zh/checks/[a-z0-9-]+/index\.html"))
    assert visit.page.locator("h2#why").count() == 1
    assert visit.complaints == []


def test_a_message_finds_the_page_that_has_all_of_it_first(browser: Any, address: str) -> None:
    visit = Visit(browser, address)
    visit.page.goto(f"{address}en/guides/faq/")
    phrase = "TensorFlow builds dropout from a random number"
    assert visit.search(phrase)[0] == f"/{BELOW}/en/checks/native-dropout/"
    assert visit.page.locator(".np-results mark").first.inner_text().lower() in phrase
    visit.page.locator("input[name=query]").fill("zzzz qqqq")
    visit.page.locator(".np-results p").wait_for()
    assert visit.page.locator(".np-results a").count() == 0
    visit.page.locator("input[name=query]").fill(phrase)
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url(f"{address}en/checks/native-dropout/")
    assert visit.complaints == []


def test_colours_are_kept_from_page_to_page(browser: Any, address: str) -> None:
    visit = Visit(browser, address, color_scheme="light")
    visit.page.goto(f"{address}en/guides/faq/")
    light = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    visit.page.locator(".np-dark").click()
    visit.page.goto(f"{address}en/topics/")
    dark = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert light != dark == "rgb(23, 29, 40)"


@pytest.mark.nightly
@pytest.mark.parametrize("page", ["", "checks/native-dropout/", "guides/configuration/", "topics/"])
def test_pages_are_accessible(browser: Any, address: str, page: str) -> None:
    if find_spec("axe_playwright_python") is None:
        missing("axe-playwright-python")
    from axe_playwright_python.sync_playwright import Axe

    visit = Visit(browser, address)
    visit.page.goto(f"{address}en/{page}")
    found = Axe().run(visit.page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:120]) for one in found] == []

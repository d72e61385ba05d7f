"""The pages of the documentation site, before any of them becomes HTML."""

from __future__ import annotations

import functools
import html
import posixpath
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.commands.examples import judge
from npulint.commands.settings.options import OPTIONS
from npulint.hosts.cli.commands import COMMANDS
from npulint.judge.catalogue.check import CATEGORIES, TOPICS, Catalogue, Check
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.postprocess.engine import ENGINE_RULES
from npulint.judge.postprocess.identity import pages as addresses
from npulint.judge.settings import DOCS_URL
from scripts.docsite import words
from scripts.docsite.checks import all_rules, silenced
from scripts.docsite.generate import pages, redirects, renamed_checks, retired, retired_codes
from scripts.docsite.guides import AUTHORS, DOCS, filled, readme_section, source
from scripts.docsite.markup import inline, link, url

pytestmark = pytest.mark.nightly

CATALOGUE = load_catalogue(())
RULES = all_rules(CATALOGUE)
GONE = {"NPU1999": "merged into `other` <b>"}
_FENCE = re.compile(r"^( *)(`{3,})[^`\n]*\n.*?^\1\2$", re.MULTILINE | re.DOTALL)
_MARKDOWN_LINK = re.compile(r"\]\(<?([^)>\s]+)>?\)")
_HTML_LINK = re.compile(r'(?:href|src)="([^"]+)"')
_HEADING = re.compile(r"^(#{1,6}) .+$", re.MULTILINE)


@functools.cache
def all_pages() -> dict[str, dict[str, str]]:
    """The pages of each language; only when a test asks, for every example is judged."""
    return {lang: pages(CATALOGUE, lang, {**GONE, **retired()}) for lang in words.LANGUAGES}


def prose(text: str) -> str:
    """A page without its code."""
    return _FENCE.sub("code", text)


@pytest.mark.nightly
@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_every_address_that_findings_print_has_its_page(lang: str) -> None:
    address = addresses(DOCS_URL, lang, ())
    wanted = [address(rule.code, rule.name).removeprefix(f"{DOCS_URL}/{lang}/").rstrip("/") for rule in RULES]
    assert len(wanted) > 500
    assert [one for one in wanted if f"{one}.md" not in all_pages()[lang]] == []


@pytest.mark.nightly
def test_both_languages_have_the_same_pages() -> None:
    assert set(all_pages()["en"]) == set(all_pages()["zh"])


def folder(path: str) -> str:
    """The folder of the site that a page becomes."""
    stem = path.removesuffix(".md")
    return stem.removesuffix("index").rstrip("/") if posixpath.basename(stem) == "index" else stem


def broken_links(site: dict[str, str], path: str) -> list[str]:
    """The relative links of a page that lead to no page: Markdown names files, HTML names folders."""
    text, folders = prose(site[path]), {folder(one) for one in site}
    written = [target.partition("#")[0] for target in _MARKDOWN_LINK.findall(text) if "://" not in target]
    named = {one: posixpath.normpath(posixpath.join(posixpath.dirname(path), one)) for one in written if one}
    files = [one for one, place in named.items() if place not in site and not (DOCS / place).is_file()]
    places = {
        one: posixpath.normpath(posixpath.join(folder(path), one)).removeprefix(".") for one in _HTML_LINK.findall(text)
    }
    return files + [one for one, place in places.items() if place not in folders]


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_links_lead_to_pages(lang: str) -> None:
    site = all_pages()[lang]
    assert {path: broken for path in site if (broken := broken_links(site, path))} == {}
    assert broken_links({"a/b.md": '[x](c.md) <a href="../c/">'}, "a/b.md") == ["c.md", "../c/"]


def test_no_section_is_empty() -> None:
    empty = []
    for lang, site in all_pages().items():
        for path, text in site.items():
            body = prose(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL))
            heads = list(_HEADING.finditer(body))
            assert heads, path
            for one, after in zip(heads, [*heads[1:], None], strict=True):
                between = body[one.end() : after.start() if after else len(body)].strip()
                deeper = after is not None and len(after[1]) > len(one[1])
                if not between and not deeper:
                    empty.append(f"{lang}/{path}: {one[0]}")
    assert empty == []


def test_every_bad_example_shows_what_is_said_of_it() -> None:
    for lang, site in all_pages().items():
        for check in CATALOGUE.checks:
            page = site[f"checks/{check.name}.md"]
            bad = sum(example.bad for example in check.examples)
            assert page.count('<ul class="np-says">\n<li class=') == bad, f"{lang} {check.name}"
            marked = sum(bool(example.expect) for example in check.examples)
            assert page.count("hl_lines=") >= marked > 0, f"{lang} {check.name}"


def test_every_example_with_a_fix_shows_what_it_makes_of_it() -> None:
    for lang, told in (("en", "After the fix:"), ("zh", "修复结果：")):
        for check in CATALOGUE.checks:
            page = all_pages()[lang][f"checks/{check.name}.md"]
            wanted = sum(any(one.files.get(n) != text for n, text in one.fixed.items()) for one in check.examples)
            assert page.count(f"{told}\n\n```diff\n") == wanted, f"{lang} {check.name}"
            kinds = {rule.applicability for rule in check.fixes} - {"manual"}  # rules that say why nothing is edited
            assert {one for one in ("safe", "unsafe") if f"np-fix-{one}" in page} == kinds


def test_the_texts_of_a_check_are_those_of_a_finding() -> None:
    check = next(one for one in CATALOGUE.checks if one.name == "launched-value-refused")
    assert "{name}" in check.text["en"].message and "${{name}}" in check.text["en"].fix
    page = prose(all_pages()["en"][f"checks/{check.name}.md"])
    assert "&#123;name&#125;" not in page and "<code>$&#123;batch&#95;size&#125;</code>" in page


def test_the_engine_examples_show_a_finding() -> None:
    for lang, site in all_pages().items():
        for rule in ENGINE_RULES:
            assert f'<li class="np-{rule.severity}">' in site[f"checks/{rule.name}.md"], f"{lang} {rule.name}"


def test_the_comment_that_a_page_recommends_silences_the_finding() -> None:
    wrong, shown = [], 0
    for check in CATALOGUE.checks:
        line = silenced(check, "a reason")
        if line is None:
            continue
        shown += 1
        name, text = line
        first = next(one for one in check.examples if one.bad and any(place == name for place, _ in one.expect))
        number = next(number for place, number in first.expect if place == name)
        lines = first.files[name].split("\n")
        indent = re.match(r"\s*", lines[number - 1])
        lines.insert(number - 1, (indent[0] if indent else "") + text.split("\n")[0])
        found = judge({**first.files, name: "\n".join(lines)}, first.target, Catalogue((check,)))
        if any(one.code == check.code and one.path == name and one.span.line == number + 1 for one in found):
            wrong.append(check.name)
    assert wrong == []
    assert shown > 400


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_the_table_of_options_is_complete(lang: str) -> None:
    page = all_pages()[lang]["guides/configuration.md"]
    for option in OPTIONS:
        rows = [line for line in page.split("\n") if re.match(rf"\| `{re.escape(option.flag)}[ `]", line)]
        assert len(rows) == 1, option.name
        assert (f"| `{option.key}` |" in rows[0]) == option.config
        assert all(f"`{choice}`" in rows[0] for choice in option.choices)


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_every_command_is_told_of(lang: str) -> None:
    page = all_pages()[lang]["guides/commands.md"]
    assert [
        command.name for command in COMMANDS if f"## npulint {command.name} {{ #{command.name} }}" not in page
    ] == []


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_every_readiness_item_has_a_page_with_its_texts(lang: str) -> None:
    assert len(CATALOGUE.items) == 17
    for item in CATALOGUE.items:
        page = all_pages()[lang][f"readiness/{item.name}.md"]
        assert inline(item.text[lang].look) in page
        answers = {example.answer for example in item.examples}
        assert all(f"#{answer} .np-{answer}" in page for answer in answers), item.name


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_every_item_of_the_pretuning_checklist_has_a_page_with_its_texts(lang: str) -> None:
    assert len(CATALOGUE.pretuning) == 9
    index = all_pages()[lang]["pretuning/index.md"]
    for item in CATALOGUE.pretuning:
        page = all_pages()[lang][f"pretuning/{item.name}.md"]
        assert inline(item.text[lang].look) in page
        assert f"({item.name}.md)" in index
        assert words.say(lang, "pretuning.passed") in page


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_two_programs_stand_in_two_columns(lang: str) -> None:
    check = next(check for check in CATALOGUE.checks if check.name == "learning-rate-differs")
    page = all_pages()[lang]["checks/learning-rate-differs.md"]
    assert page.count('<div class="np-sides" markdown>') == len(check.examples)
    for side in ("reference", "migrated"):
        title = f'title="{words.say(lang, f"side.{side}")}: train.py"'
        assert page.count(title) == len(check.examples)
    assert f'title="{words.say(lang, "side.migrated")}: train.py" hl_lines="8"' in page


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_lists_name_every_check_once(lang: str) -> None:
    names = re.findall(r'<tr [^>]*>.*?<a href="([^"]+)/">', all_pages()[lang]["checks/index.md"])
    assert sorted(names) == sorted(rule.name for rule in RULES)
    for kind, values in (("topics", {rule.topic for rule in RULES}), ("categories", set(CATEGORIES))):
        rows = [all_pages()[lang][f"{kind}/{value.replace('_', '-')}.md"].count("<tr><td") for value in values]
        assert sum(rows) == len(RULES)
        assert min(rows) > 0


def test_the_words_of_the_site_are_complete() -> None:
    assert set(words.TOPICS) == TOPICS
    assert set(words.CATEGORIES) == set(CATEGORIES)
    for table in (words.TEXTS, words.TOPICS, words.CATEGORIES):
        for key, (english, chinese) in table.items():
            assert english.strip() and chinese.strip(), key
            assert set(re.findall(r"\{(\w+)\}", english)) == set(re.findall(r"\{(\w+)\}", chinese)), key


def test_a_retired_code_says_so() -> None:
    assert retired_codes("# gone\n\nNPU1101 merged into x\nNPU1102\n") == {"NPU1101": "merged into x", "NPU1102": ""}
    for lang, site in all_pages().items():
        assert words.say(lang, "retired", code="NPU1999") in site["checks/NPU1999.md"]
        assert "&#60;b&#62;" in site["checks/NPU1999.md"]


def test_codes_and_former_names_lead_to_the_page_of_the_check() -> None:
    former = renamed_checks("# old new\nan-old-name native-dropout\n", CATALOGUE)
    assert former == {"an-old-name": "native-dropout"}
    leading = redirects(CATALOGUE, former)
    assert leading["an-old-name"] == leading["NPU1301"] == "native-dropout"
    assert {rule.code for rule in RULES} <= set(leading)


@pytest.mark.parametrize("line", ["one", "an-old-name no-such-check", "dropout-wrapper native-dropout", "A b"])
def test_a_wrong_line_among_renamed_checks_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"renamed\.txt:2"):
        renamed_checks(f"# names\n{line}\n", CATALOGUE)


def test_a_guide_that_is_there_in_english_only_says_so_to_chinese_readers() -> None:
    notice = words.say("zh", "only.english")
    told = {path for path, text in all_pages()["zh"].items() if notice in text}
    assert told == {f"guides/{name}.md" for name in AUTHORS if not source(name, "zh").name.endswith(".zh.md")}
    assert not any(notice in text for text in all_pages()["en"].values())


def test_guides_name_what_is_missing() -> None:
    with pytest.raises(KeyError):
        filled("<!-- table: nothing -->", "en")
    with pytest.raises(KeyError):
        readme_section("No such heading", "en")


@pytest.mark.parametrize(
    ("here", "there", "markdown", "address"),
    [
        ("checks/a.md", "checks/b.md", "b.md", "../b/"),
        ("checks/a.md", "topics/t.md", "../topics/t.md", "../../topics/t/"),
        ("checks/index.md", "checks/a.md", "a.md", "a/"),
        ("checks/a.md", "checks/index.md", "index.md", "../"),
        ("index.md", "guides/g.md", "guides/g.md", "guides/g/"),
    ],
)
def test_links_between_pages(here: str, there: str, markdown: str, address: str) -> None:
    assert link(here, there) == markdown
    assert url(here, there) == address


def test_texts_of_checks_are_taken_by_the_letter() -> None:
    shown = inline("`a<b>` <i> **x** {name} [t](u) and __init__")
    assert shown.startswith("<code>a&#60;b&#62;</code> &#60;i&#62; ")
    assert not re.search(r"[*_\[\]{}]", shown)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1))
def test_whatever_a_text_holds_it_reads_the_same_as_html(text: str) -> None:
    bare = re.sub(r"[`{}]", "", text)
    shown = inline(bare)
    assert html.unescape(shown) == bare
    assert not re.search(r"<(?!/?code>)", shown)


@given(st.text(st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_categories=["Cc", "Cs", "Z"]), min_size=1))
def test_whatever_a_text_holds_markdown_leaves_it_alone(text: str) -> None:
    markdown = pytest.importorskip("markdown")
    bare = re.sub(r"[`{}]", "", text)
    made = markdown.markdown(f"x{inline(bare)}x", extensions=["attr_list", "md_in_html", "tables", "footnotes"])
    assert html.unescape(re.sub(r"</?p>", "", made)) == f"x{bare}x"


def test_a_check_without_examples_has_a_page() -> None:
    check = msgspec.structs.replace(CATALOGUE.checks[0], examples=(), references=())
    assert isinstance(check, Check)
    page = pages(Catalogue((check,)), "en", {})[f"checks/{check.name}.md"]
    assert "## What to do" in page and "np-says" not in page

"""The pages use the terms of the glossary, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(path for path in (*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")) if path.name != "CHANGELOG.md")
GLOSSARY = {lang: ROOT / "docs" / lang / "glossary.md" for lang in ("en", "zh")}
_GENERATED = re.compile(r"<!-- output.*?<!-- /output -->|<!-- facts: .*?<!-- /facts -->", re.DOTALL)
AVOIDED = (
    "a page to hand on",
    "as many as pay",
    "be mended",
    "belongs into",
    "beside",
    "cannot be told",
    "cannot tell",
    "found fault with",
    "from source text",
    "grave",
    "imaginary npu",
    "is no matter of",
    "left to people",
    "mend",
    "mending",
    "more about one",
    "nothing of it",
    "speaks",
    "tells",
    "to be looked at",
    "told",
    "without a word",
)
_AVOIDED = re.compile(rf"(?<![\w-])(?:{'|'.join(AVOIDED)})(?![\w-])", re.IGNORECASE)


def terms(lang: str) -> list[tuple[str, str]]:
    """The first two columns of the glossary, rows in order."""
    rows = [line.strip("| ").split(" | ") for line in GLOSSARY[lang].read_text(encoding="utf-8").split("\n")]
    return [(cells[0], cells[1]) for cells in rows if len(cells) > 2 and not set(cells[0]) <= {"-", "|"}]


def test_both_glossaries_have_the_same_terms_in_the_same_order() -> None:
    english = [(term.removesuffix(" (verb)").lower(), chinese) for term, chinese in terms("en") if term != "Term"]
    chinese = [(term.lower(), chinese) for chinese, term in terms("zh") if term != "英文"]
    assert len(english) > 70
    assert english == chinese


def test_a_term_is_defined_once() -> None:
    for lang in GLOSSARY:
        names = [term for term, _ in terms(lang) if term not in ("Term", "术语")]
        assert sorted(names) == sorted(set(names)), lang


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_avoid_the_words_that_the_glossary_replaces(page: Path) -> None:
    if page.name == "glossary.md":
        return  # it lists them
    text = _GENERATED.sub("", page.read_text(encoding="utf-8"))
    assert [text[max(0, match.start() - 40) : match.end() + 20] for match in _AVOIDED.finditer(text)] == []

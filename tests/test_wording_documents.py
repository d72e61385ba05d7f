"""Documents and texts for logs use the terms of the glossary, which has the same terms in both languages."""

from __future__ import annotations

import pytest

from npulint.judge.catalogue.forms import PLURALS
from tests.test_wording import wrong
from tests.wording_support import CODE, ROOT, banned, check_texts, document_texts, log_message_texts

GLOSSARY = {lang: ROOT / "docs" / lang / "glossary.md" for lang in ("en", "zh")}


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


@pytest.mark.daily
def test_the_documents() -> None:
    texts = list(document_texts())
    assert len(texts) > 5000
    assert [f"{place}: {problem}" for place, text in texts for problem in banned(text, CODE)] == []


def test_the_checks_for_events_of_logs() -> None:
    texts = list(check_texts(events=True))
    assert len(texts) > 200
    assert wrong(texts) == []


def test_the_messages_of_logs() -> None:
    texts = list(log_message_texts())
    assert len(texts) > 280
    assert wrong(texts) == []


def test_the_nouns_of_placeholders_are_documented() -> None:
    page = (ROOT / "docs" / "writing-checks.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| `{count:places}`"))
    assert [noun for noun in PLURALS if f"`{noun}`" not in row] == []

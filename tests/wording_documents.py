"""Documents and the checks for events of logs use the terms of the field too; to be collected as test_*.py."""

from __future__ import annotations

from tests.test_wording import wrong
from tests.wording_support import check_texts, document_texts


def test_the_documents() -> None:
    assert wrong(document_texts()) == []


def test_the_checks_for_events_of_logs() -> None:
    assert wrong(check_texts(events=True)) == []

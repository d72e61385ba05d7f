"""No report contains characters that a terminal obeys, that reorder a line, or that nobody sees."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Problem
from npulint.hosts.server.diagnostics import Abilities, diagnostic
from npulint.hosts.server.positions import TextPositions
from npulint.hosts.server.requests import as_markdown
from npulint.judge.findings import Fix, Related, RunResult, SuppressedFinding
from npulint.judge.settings import FORMATS
from npulint.report.view import ReportView, render
from tests.surface_support import finding

UNSEEN = "\x1b\x7f\x85\x9b\xad\u061c\u200b\u200e\u200f\u2028\u202a\u202e\u2066\u2069\ufeff\U000e0041"
HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
JSON = ("json", "sarif", "gitlab")


def result() -> RunResult:
    """A result with such characters in every text that may come from a checked file."""
    one = finding(
        path=f"a{UNSEEN}.py", message=f"`x{UNSEEN}`", why=f"why {UNSEEN}", fix=Fix(f"fix {UNSEEN}"),
        related=(Related(f"b{UNSEEN}.py", finding().span, f"here {UNSEEN}"),), program=f"p{UNSEEN}.py",
    )  # fmt: skip
    silent = SuppressedFinding(one, "comment", f"because {UNSEEN}")
    unread = Problem(f"c{UNSEEN}.py", "encoding", f"detail {UNSEEN}")
    return RunResult([one], suppressed=[silent], unreadable=[unread], target={"soc": f"910{UNSEEN}"})


def shown(format_name: str, some: RunResult) -> str:
    return render(format_name, some, ReportView(verbose=True, lines=lambda path: [f"x = 1  # {UNSEEN}"] * 30))


@pytest.mark.parametrize("format_name", FORMATS)
def test_no_report_contains_them(format_name: str) -> None:
    report = shown(format_name, result())
    assert "a" in report and HOSTILE.findall(report) == []


@pytest.mark.parametrize("format_name", JSON)
def test_json_has_them_only_as_escapes_and_stays_valid(format_name: str) -> None:
    text = shown(format_name, result())
    assert "\\u202e" in text
    assert json.dumps(json.loads(text), ensure_ascii=False)


def test_the_content_of_json_stays_the_same() -> None:
    (one,) = json.loads(shown("json", result()))["findings"]
    assert one["path"] == f"a{UNSEEN}.py"


@pytest.mark.parametrize("format_name", ["junit", "checkstyle"])
def test_xml_shows_them_as_the_text_report_does(format_name: str) -> None:
    root = ElementTree.fromstring(shown(format_name, result()))
    texts = [text for element in root.iter() for text in (*element.attrib.values(), element.text or "")]
    assert all(HOSTILE.search(text) is None for text in texts)
    assert any("\\u202e" in text and "\\x9b" in text for text in texts)


@given(st.text())
def test_an_editor_is_not_shown_them(text: str) -> None:
    one = msgspec.structs.replace(result().findings[0], message=text, why=text, fix=Fix(text))
    told = diagnostic(
        one, lambda path: ("file:///a", TextPositions(["x"] * 30, "utf-16"), ["x"] * 30), Abilities(related=True)
    )
    related = [other.message for other in told.related_information or ()]
    assert HOSTILE.findall("".join([told.message, *related, as_markdown([one], "en", lambda code: None)])) == []

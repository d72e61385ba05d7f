"""What the tests of the HTML report share: the page as a tree, and results that are large."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any
from xml.etree.ElementTree import Element

import html5lib

from npulint.facts.model import Span
from npulint.judge.findings import Finding, Fix, Related, RunResult, Summary, SuppressedFinding
from npulint.report.view import ReportView, render
from tests.surface_support import finding, sample, source

EVIL = "\"'><img src=x onerror=alert(1)></script><!--</style>&lt;\x1b[31m\u202e`</pre></title>"


def page(result: RunResult, **view: Any) -> str:
    """The report on a result about the sample project."""
    return render("html", result, ReportView(**{"lines": source, **view}))


def tree(text: str) -> Element:
    """The page as a browser understands it; a mistake in it fails the test."""
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    root = parser.parse(text)
    assert [error for error in parser.errors if error[1] != "invalid-codepoint"] == []
    assert isinstance(root, Element)
    return root


def text_of(element: Element | None) -> str:
    """All text in an element."""
    assert element is not None
    return "".join(element.itertext())


def with_class(root: Element, name: str) -> list[Element]:
    """The elements of a class, in the order of the page."""
    return [one for one in root.iter() if name in (one.get("class") or "").split()]


def by_id(root: Element, name: str) -> Element:
    """The one element with an id."""
    (found,) = [one for one in root.iter() if one.get("id") == name]
    return found


_RADICALS = str.maketrans("⻅⻉⻋⻓⻔⻙⻚⻛⻜⻝⻢⻥⻦⻩⻬⻮⻰", "见贝车长门韦页风飞食马鱼鸟黄齐齿龙")
"""Characters that a PDF contains instead of others of the same look, and that NFKC does not replace."""


def squeezed(text: str) -> str:
    """Letters and digits only, for texts that were broken into lines or set with ligatures."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).translate(_RADICALS))


def hostile() -> RunResult:
    """A result whose every text tries to leave its place."""
    one = finding(
        code="NPU9999",
        name="evil" + EVIL,
        topic=EVIL,
        path="a/" + EVIL,
        message=EVIL + "x" * 600,
        why=EVIL,
        fix=Fix(EVIL, "safe"),
        related=(Related(EVIL, Span(1, 1, 1, 2), EVIL),),
        program=EVIL,
        fingerprint=EVIL,
        url="javascript:alert(1)//https://" + EVIL,
    )
    base = sample()
    suppressed = [SuppressedFinding(one, "comment", EVIL), SuppressedFinding(base.findings[0], "baseline")]
    return RunResult([*base.findings, one], base.programs, base.unreadable, {EVIL: EVIL}, base.summary, [], suppressed)


def large(number: int) -> RunResult:
    """A result with many findings, of a hundred checks in two hundred files."""
    findings = [_numbered(index) for index in range(number)]
    findings.sort(key=lambda one: (one.path, one.span))
    return RunResult(findings, sample().programs, [], {}, Summary(200, 200))


def _numbered(index: int) -> Finding:
    check = index % 100
    return finding(
        code=f"NPU{1000 + check}",
        name=f"check-number-{check}",
        topic=f"topic_{check % 17}",
        category=("functional", "precision", "performance", "hygiene")[check % 4],
        severity=("note", "warning", "error")[(check % 10 > 5) + (check % 10 > 8)],
        path=f"project/package_{index % 200:03}/train.py",
        span=Span(10 + index // 200, 9, 10 + index // 200, 30),
        message=f"`operator_{index}` of the network leaves the NPU in every step of the training loop",
        fingerprint=f"{index:020x}",
    )


def large_source(path: str) -> Sequence[str]:
    """The lines of any file of the large result."""
    return [f"    result_{number} = network.layer_{number}(inputs, training=True)" for number in range(200)]

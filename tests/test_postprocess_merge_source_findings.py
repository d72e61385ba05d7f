"""Findings of source checks on one line that are about one change are one finding."""

from __future__ import annotations

import msgspec

from npulint.facts.model import Span
from npulint.judge.catalogue.check import Catalogue, Check
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding, Fix
from npulint.judge.postprocess.merge_source_findings import merge_source_findings
from tests.surface_support import finding

HOST, GUEST = "NPU1101", "NPU1341"


def catalogue() -> Catalogue:
    check: Check = next(one for one in load_catalogue().checks if one.code == GUEST)
    return Catalogue((msgspec.structs.replace(check, joins=(HOST,)),))


def merged(*findings: Finding) -> list[Finding]:
    return merge_source_findings(findings, catalogue(), "en")


def test_what_remains_to_be_done_on_a_line_is_told_with_its_error() -> None:
    host = finding(code=HOST, severity="error", message="On the CPU.", fix=Fix("Move it.", "unsafe"))
    guest = finding(code=GUEST, message="In float32.", fix=Fix("Set a mode."))
    (one,) = merged(guest, host)
    assert (one.code, one.severity, one.message) == (HOST, "error", "On the CPU. In float32.")
    assert (one.fix.text, one.fix.applicability) == ("Move it. Set a mode.", "unsafe")


def test_findings_of_other_lines_and_checks_stay() -> None:
    guest = finding(code=GUEST)
    below = finding(code=HOST, span=Span(14, 1, 14, 9))
    other = finding(code="NPU1301")
    assert merged(guest, below, other) == [guest, below, other]

"""What has changed since earlier reports, and what the page says about the project."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from npulint.core.texts import known
from npulint.hosts.cli.main import main
from npulint.judge.catalogue.check import TOPICS
from npulint.judge.findings import Baseline, BaselineEntry, Fix, RunResult, SuppressedFinding
from npulint.report.history import PastReport, changes_since, decoded
from npulint.report.html.markup import topic_name
from npulint.report.view import ProjectStamp, ReportView, render
from tests.html_support import page, text_of, tree, with_class
from tests.port_samples import DDP
from tests.surface_support import finding, sample


def past(result: RunResult, label: str = "first") -> PastReport:
    """A result as an earlier report."""
    return decoded(render("json", result, ReportView()).encode(), label)


def test_findings_are_new_fixed_accepted_or_still_there() -> None:
    one, other, third, fourth = (finding(fingerprint=f"{number}", message=f"message {number}") for number in range(4))
    before = past(RunResult([one, other, third]))
    now = RunResult([one, fourth], suppressed=[SuppressedFinding(third, "comment")])
    found = changes_since(before, now, now.findings)
    assert [entry.message for entry in found.new] == ["message 3"]
    assert [entry.message for entry in found.fixed] == ["message 1"]
    assert [entry.message for entry in found.accepted] == ["message 2"]
    assert found.left == 1


def test_equal_findings_are_counted_one_by_one() -> None:
    one = finding(fingerprint="same")
    assert len(changes_since(past(RunResult([one])), RunResult([one, one]), [one, one]).new) == 1
    assert len(changes_since(past(RunResult([one, one])), RunResult([one]), [one]).fixed) == 1


def test_what_the_report_hides_is_not_fixed() -> None:
    one = finding(fingerprint="a", severity="note")
    assert changes_since(past(RunResult([one])), RunResult([one]), []).fixed == ()


def test_a_report_without_fingerprints_is_compared_by_its_messages() -> None:
    one = finding(fingerprint="")
    assert changes_since(past(RunResult([one])), RunResult([one]), [one]).left == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 2, "findings": []}', '{"version": 1}', "\xff", "[" * 9999]
)
def test_other_files_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        decoded(text.encode("latin-1"), "x")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_shows_what_has_changed_and_how_the_numbers_developed(lang: str) -> None:
    base = sample()
    gone = finding(fingerprint="gone", message="this was fixed")
    history = (past(replace(base, findings=[*base.findings, gone]), "run-1"), past(base, "run-2"))
    root = tree(page(base, lang=lang, history=history))
    (trend,) = with_class(root, "trend")
    assert [text_of(row[0]) for row in trend[2]][:2] == ["run-1", "run-2"] and len(trend[2]) == 3
    assert "run-2" in text_of(root.find(".//*[@id='changes']"))
    (tile,) = with_class(root, "progress")
    assert f"1 of {len(base.findings) + 1}" in text_of(tile) or lang == "zh"


def test_a_baseline_alone_tells_what_is_new_and_fixed() -> None:
    entry = BaselineEntry(path="old.py", check="native-dropout", code="NPU1101", line="x = 1", count=2)
    text = page(replace(sample(), baseline=Baseline("b.json", fixed=[entry])))
    assert "2 fixed" in text and "old.py" in text


def test_without_earlier_reports_there_is_no_such_section() -> None:
    assert 'id="changes"' not in page(sample())


def test_the_project_its_commit_and_the_date_are_named() -> None:
    text = page(sample(), project=ProjectStamp("<net>", "1" * 40, "2026-01-02 03:04"))
    assert "&lt;net&gt;" in text and f"<code>{'1' * 12}</code>" in text and "2026-01-02 03:04" in text
    tree(text)


def test_every_finding_links_to_its_source() -> None:
    one = finding(path="a dir/x#y.py", fingerprint="1")
    away = finding(path="../up.py", fingerprint="2")
    text = page(RunResult([one, away]), source_url="https://host/o/r/blob/c/{path}#L{line}")
    assert text.count('href="https://host/o/r/blob/c/a%20dir/x%23y.py#L') == 1
    assert text.count(">Open the source</a>") == 1
    assert text.count("https://host/") == 1, "what is outside of the repository has no link"


def test_the_fix_is_shown_as_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.py").write_text(DDP["main.py"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    main(["check", ".", "--exit-zero", "--output", "html=page.html"])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<ins>+ " in text and "<del>- " in text and "<b>import</b>" in text


def test_earlier_reports_are_read_from_files_and_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "main.py").write_text(DDP["main.py"], encoding="utf-8")
    (tmp_path / "old").mkdir()
    monkeypatch.chdir(tmp_path)
    words = ["check", "main.py", "--exit-zero", "--lang", "en"]
    main([*words, "--output", "json=old/01.json"])
    first = json.loads((tmp_path / "old" / "01.json").read_text(encoding="utf-8"))
    main([*words, "--output", "json=02.json"])
    main([*words, "--output", "html=page.html", "--history", "old", "--history", "02.json"])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"Since 02: 0 new, 0 fixed, 0 accepted, {len(first['findings'])} unchanged." in text and ">01<" in text
    (tmp_path / "02.json").write_text("{}", encoding="utf-8")
    capsys.readouterr()
    assert main([*words, "--output", "html=page.html", "--history", "02.json"]) == 2
    assert "02.json is not a JSON report" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("https://host/{path}?l={line}", "https://host/main.py?l="),
        ("vscode", "vscode://file/"),
        ("none", ""),
    ],
)
def test_the_source_may_be_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, expected: str) -> None:
    (tmp_path / "main.py").write_text(DDP["main.py"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    main(["check", "main.py", "--exit-zero", "--lang", "en", "--output", "html=page.html", "--source-url", given])
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (expected in text) if expected else ("Open the source" not in text)


@pytest.mark.parametrize("given", ["javascript:alert(1)//{path}", "https://host/", "data:{path}"])
def test_an_address_that_is_none_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", ".", "--lang", "en", "--output", "html=page.html", "--source-url", given]) == 2
    assert "--source-url" in capsys.readouterr().err


def test_every_topic_has_a_name() -> None:
    assert [topic for topic in TOPICS if not known(f"topic.{topic}")] == []
    assert topic_name("affinity_op", "en") == "NPU-affinity operators" and topic_name("own", "zh") == "own"
    text = page(RunResult([finding(topic="dataloader_perf", fix=Fix("x"))]))
    assert "Data loading" in text and ">dataloader_perf" not in text

"""The pieces of the language server, each alone."""

from __future__ import annotations

import codecs
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from npulint.core.errors import ConfigError
from npulint.facts.model import Span
from npulint.hosts.server.actions import FIX_ALL, EditableFile, Proposer
from npulint.hosts.server.configuration import ClientSettings, problems_of, settings_for, understood
from npulint.hosts.server.diagnostics import Abilities, diagnostic
from npulint.hosts.server.documents import unsaved
from npulint.hosts.server.positions import TextPositions
from npulint.hosts.server.publishing import PATIENT, QUICK, DiagnosticsPublisher, pause, shown_elsewhere
from npulint.hosts.server.requests import as_markdown, named_at, plain
from npulint.hosts.server.uris import path_of, uri_of
from npulint.judge.findings import Edit, Finding, Fix, Related
from npulint.read.source import DecodedSource, decode
from npulint.report.view import RulePage
from tests.surface_support import call, finding

ALL = Abilities((lsp.DiagnosticTag.Unnecessary, lsp.DiagnosticTag.Deprecated), related=True, links=True)
TEXTS = {
    "/w/a.py": ["名 = 'x'", "y()"],
    "/w/b.py": ["😀 = 1", ""],
    "/w/n.ipynb": ['{"source": [', '  "a = \\"\\u4e2d\\ud83d\\ude00\\" + f()\\n",', '  "b"', "]}"],
}


def sight(path: str) -> tuple[str, TextPositions, Sequence[str]]:
    return f"file://{path}", TextPositions(TEXTS[path]), TEXTS[path]


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///w/a.py", "/w/a.py"),
        ("file:///w/%E4%B8%AD%20%23%25.py", "/w/中 #%.py"),
        ("file:///w/中 #?.py", "/w/中 #?.py"),
        ("file://localhost/w/a.py", "/w/a.py"),
        ("FILE:///w/../w/a.py", "/w/a.py"),
        ("file:/w/a.py", "/w/a.py"),
        ("file:///c%3A/w/a.py", "/c:/w/a.py"),
        ("file://server/share/a.py", None),
        ("untitled:Untitled-1", None),
        ("vscode-notebook-cell:/w/a.ipynb#W0", None),
        ("git:/w/a.py?x", None),
        ("file:///w/%00.py", None),
        ("", None),
        ("http://[", None),
    ],
)
@pytest.mark.skipif(os.name == "nt", reason="paths are others there")
def test_addresses(uri: str, path: str | None) -> None:
    assert path_of(uri) == path


@pytest.mark.parametrize("path", ["/w/a.py", "/w/中 #%?😀.py", "/w/a b.py"])
@pytest.mark.skipif(os.name == "nt", reason="paths are others there")
def test_an_address_leads_back(path: str) -> None:
    assert path_of(uri_of(path)) == path


def test_settings_in_any_spelling() -> None:
    given = {
        "npulint": {"minSeverity": "warning", "extend-select": ["NPU1"], "run": "onSave", "scope": "open"},
    }
    wanted = ClientSettings("onSave", "open", {"min_severity": ["warning"], "extend_select": ["NPU1"]})
    assert understood(given, "en") == understood({"settings": given}, "en") == wanted
    assert understood(given["npulint"], "en") == wanted


def test_null_stands_for_the_default() -> None:
    assert understood({"minSeverity": None, "select": [], "target": {}, "docsUrl": ""}, "en") == ClientSettings()
    assert understood(None, "en") == understood([1], "en") == understood("x", "en") == ClientSettings()


def test_a_target_is_a_table_or_pairs() -> None:
    table = understood({"target": {"torch": "2.7", "soc": None}}, "en")
    assert table.words == {"target": ["torch=2.7"]} == understood({"target": ["torch=2.7"]}, "en").words


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"minSeverty": "x"}, "unknown key `minSeverty`; did you mean `min_severity`?"),
        ({"minSeverity": "grave"}, "minSeverity: `grave` is not one of note, warning, error"),
        ({"select": 1}, "select: expected a list of strings, got `1`"),
        ({"respectGitignore": "no"}, "respectGitignore: expected true or false, got `'no'`"),
        ({"run": "onOpen"}, "run: `onOpen` is not one of onType, onSave"),
        ({"target": {"torch": 2.7}}, ""),
        ({"target": {"torche": "2"}}, "target: `torche` is not one of"),
        ({"format": "json"}, "unknown key `format`"),
    ],
)
def test_a_setting_that_is_wrong_is_told_and_left_out(given: dict[str, object], problem: str) -> None:
    found = understood(given, "en")
    if problem:
        assert [text.startswith(problem) for text in found.problems] == [True]
        assert found.words == {}
    else:
        assert found.problems == ()


def test_the_folder_of_the_nearest_configuration_is_checked_as_one(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "a" / "npulint.toml").write_text('ignore = ["hygiene"]\nlang = "zh"\n')
    (tmp_path / "c").mkdir()
    client = ClientSettings(words={"select": ["NPU1"], "checks": ["mine"]})
    root, settings = settings_for(str(inner), str(tmp_path), client, {}, "en")
    assert (root, settings.ignore, settings.select, settings.lang) == (
        str(tmp_path / "a"), ("hygiene",), ("NPU1",), "zh",
    )  # fmt: skip
    assert settings.checks == (str(tmp_path / "mine"),)
    root, settings = settings_for(str(tmp_path / "c"), str(tmp_path), ClientSettings(), {}, "zh")
    assert (root, settings.paths, settings.lang) == (str(tmp_path), (str(tmp_path),), "zh")


def test_the_usual_baseline_of_a_folder_counts(tmp_path: Path) -> None:
    baseline = tmp_path / "npulint-baseline.json"
    baseline.write_text("{}")
    assert settings_for(str(tmp_path), str(tmp_path), ClientSettings(), {}, "")[1].baseline == str(baseline)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('select = ["a"]\nlanguage = "zh"\n', 2, "unknown key `language`"),
        ("select = [\n", 2, "invalid TOML"),
        ("min-severity = 3\n", 1, "min-severity: expected a string"),
    ],
)
def test_a_broken_configuration_has_a_place(tmp_path: Path, text: str, line: int, message: str) -> None:
    config = tmp_path / "npulint.toml"
    config.write_text(text)
    with pytest.raises(ConfigError) as caught:
        settings_for(str(tmp_path), str(tmp_path), ClientSettings(), {}, "en")
    problem = problems_of(caught.value, [])[0]
    assert (problem.path, problem.line) == (str(config), line)
    assert problem.message.startswith(message)


def test_what_names_no_file_belongs_to_the_configuration_that_is_there(tmp_path: Path) -> None:
    config = tmp_path / "npulint.toml"
    config.write_text('lang = "en"\nselect = ["no"]\n')
    candidates = [str(tmp_path / "missing.toml"), str(config)]
    problem = problems_of(ConfigError(["select: no"]), candidates)[0]
    assert (problem.path, problem.line) == (str(config), 2)
    assert problems_of(ConfigError(["no"]), candidates)[0].line == 1
    assert problems_of(ConfigError(["select: no"]), [])[0].path == ""


@pytest.mark.parametrize(
    ("stored", "typed", "read"),
    [
        (b"x\n", "x\n", None),
        (b"x\r\n", "x\r\n", None),
        ("模型\n".encode("gb18030"), "模型\n", None),
        (b"x\n", "模型\n", "模型\n".encode()),
        ("# coding: gbk\n模型\n".encode("gbk"), "# coding: gbk\n型\n", "# coding: gbk\n型\n".encode("gbk")),
        (codecs.BOM_UTF8 + b"x", "y", codecs.BOM_UTF8 + b"y"),
        (b"# coding: latin-1\n", "# coding: latin-1\n模", codecs.BOM_UTF8 + "# coding: latin-1\n模".encode()),
        (None, "模", "模".encode()),
        (None, "\ud83d", codecs.BOM_UTF8 + b"?"),
    ],
)
def test_what_is_not_saved_is_read_as_the_file_would_be(
    tmp_path: Path, stored: bytes | None, typed: str, read: bytes | None
) -> None:
    path = tmp_path / "a.py"
    if stored is not None:
        path.write_bytes(stored)
    data = unsaved(str(path), typed)
    assert data == read
    if data is not None and "\ud83d" not in typed:
        back = decode(data, "a.py")
        assert isinstance(back, DecodedSource) and back.text == typed


def test_a_diagnostic_tells_all_that_the_editor_can_show() -> None:
    one = finding(
        path="/w/a.py", span=Span(1, 1, 1, 2), severity="error", url="https://example.org/x", topic="deprecated_api",
        fingerprint="f", related=(Related("/w/b.py", Span(1, 1, 1, 2), "here"),),
    )  # fmt: skip
    shown = diagnostic(one, sight, ALL)
    assert (shown.severity, shown.code, shown.source, shown.message) == (
        lsp.DiagnosticSeverity.Error, "native-dropout", "npulint", one.message,
    )  # fmt: skip
    assert shown.code_description is not None and shown.code_description.href == one.url
    assert shown.tags == [lsp.DiagnosticTag.Deprecated]
    assert shown.related_information is not None
    related = shown.related_information[0]
    assert (related.location.uri, related.message) == ("file:///w/b.py", "here")
    assert related.location.range.end.character == 2  # of an emoji
    assert isinstance(shown.data, dict) and shown.data["fingerprint"] == "f"
    less = diagnostic(one, sight, Abilities())
    assert (less.tags, less.code_description, less.related_information) == (None, None, None)


@pytest.mark.parametrize(
    ("name", "severity", "shown"),
    [
        ("x", "error", lsp.DiagnosticSeverity.Error),
        ("x", "warning", lsp.DiagnosticSeverity.Warning),
        ("x", "note", lsp.DiagnosticSeverity.Information),
        ("unused-suppression", "note", lsp.DiagnosticSeverity.Hint),
    ],
)
def test_severities(name: str, severity: str, shown: lsp.DiagnosticSeverity) -> None:
    found = diagnostic(finding(path="/w/a.py", span=Span(), name=name, severity=severity), sight, ALL)
    assert found.severity == shown
    assert (found.tags == [lsp.DiagnosticTag.Unnecessary]) == (name == "unused-suppression")


@pytest.mark.parametrize(
    ("column", "text"), [(1, "a"), (5, '\\"'), (6, "\\u4e2d"), (7, "\\ud83d\\ude00"), (8, '\\"'), (12, "f")]
)
def test_columns_in_a_notebook_lead_into_its_json(column: int, text: str) -> None:
    shown = diagnostic(finding(path="/w/n.ipynb", span=Span(2, column, 2, column + 1)), sight, ALL)
    line = TEXTS["/w/n.ipynb"][1]
    assert line[shown.range.start.character : shown.range.end.character] == text


def test_what_the_reader_of_json_says_is_where_it_says() -> None:
    shown = diagnostic(finding(path="/w/n.ipynb", name="file-not-read", span=Span(2, 3, 2, 4)), sight, ALL)
    assert (shown.range.start.character, shown.range.end.character) == (2, 3)


def proposer(versioned: bool = True, text: str = "名 = 'x'\r\ny()\r\n", lang: str = "en") -> Proposer:
    files = {
        "/w/a.py": EditableFile("file:///w/a.py", 7, text, text.split("\r\n")),
        "/w/b.py": EditableFile("file:///w/b.py", None, "", [""]),
    }
    return Proposer(lambda path: files[path], "utf-16", versioned, lang)


def fixed(applicability: str, *edits: Edit, **changes: object) -> Finding:
    return finding(path="/w/a.py", span=Span(2, 1, 2, 4), fix=Fix("Do it.", applicability, edits), **changes)


def offered(one: Finding, given: Proposer | None = None) -> dict[str, lsp.CodeAction]:
    given = given or proposer()
    return {action.title: action for action in given.for_finding(one, diagnostic(one, sight, ALL))}


def test_a_fix_is_offered_with_exact_edits_and_the_version() -> None:
    edits = (Edit("/w/a.py", Span(2, 1, 2, 2), "z\nw"), Edit("/w/b.py", Span(1, 1, 1, 1), "import z\n"))
    action = offered(fixed("safe", *edits))["Fix: Do it."]
    assert action.is_preferred and action.kind == lsp.CodeActionKind.QuickFix
    assert action.edit is not None and action.edit.document_changes is not None
    first, second = action.edit.document_changes
    assert isinstance(first, lsp.TextDocumentEdit) and isinstance(second, lsp.TextDocumentEdit)
    assert (first.text_document.version, second.text_document.version) == (7, None)
    assert [edit.new_text for edit in first.edits if isinstance(edit, lsp.TextEdit)] == [
        "z\r\nw"
    ]  # as the file ends lines
    assert [edit.range for edit in first.edits] == [lsp.Range(lsp.Position(1, 0), lsp.Position(1, 1))]


def test_an_unsafe_fix_says_so_and_is_not_preferred() -> None:
    action = offered(fixed("unsafe", Edit("/w/a.py", Span(2, 1, 2, 2), "z")))["Fix (unsafe): Do it."]
    assert action.is_preferred is None


def test_an_editor_without_versions_gets_plain_changes() -> None:
    one = fixed("safe", Edit("/w/a.py", Span(2, 1, 2, 2), "z"))
    edit = offered(one, proposer(versioned=False))["Fix: Do it."].edit
    assert edit is not None and edit.document_changes is None
    assert edit.changes is not None and list(edit.changes) == ["file:///w/a.py"]


def test_every_finding_can_be_ignored_and_read_about() -> None:
    assert list(offered(fixed("manual"))) == [
        "Ignore `native-dropout` here",
        "Ignore `native-dropout` in file",
        "Explain `native-dropout`",
    ]
    assert list(offered(fixed("manual"), proposer(lang="zh"))) == [
        "在此处忽略 `native-dropout`",
        "在此文件中忽略 `native-dropout`",
        "查看 `native-dropout` 的说明",
    ]


def test_all_safe_fixes_at_once_never_overlap() -> None:
    one = fixed("safe", Edit("/w/a.py", Span(1, 1, 1, 3), "a"), Edit("/w/a.py", Span(2, 1, 2, 2), "b"))
    clash = fixed("safe", Edit("/w/a.py", Span(1, 2, 1, 4), "c"))
    unsafe = fixed("unsafe", Edit("/w/a.py", Span(2, 3, 2, 4), "d"))
    action = proposer().fix_all([one, clash, unsafe])
    assert action is not None and action.kind == FIX_ALL
    assert action.edit is not None and action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, lsp.TextDocumentEdit)
    assert [edit.new_text for edit in change.edits if isinstance(edit, lsp.TextEdit)] == ["a", "b"]
    assert proposer().fix_all([unsafe, fixed("safe")]) is None


@pytest.mark.parametrize(
    ("column", "name"),
    [(5, None), (20, None), (26, "a-b"), (29, "a-b"), (31, "NPU1101"), (37, "NPU1101"), (38, None)],
)
def test_the_name_in_a_comment(column: int, name: str | None) -> None:
    found = named_at("x()  # npulint: ignore[  a-b,NPU1101] reason", column)
    assert (found[0] if found else None) == name


def test_the_name_in_a_noqa_comment() -> None:
    assert named_at("x()  # noqa: NPU1101", 16) == ("NPU1101", 14, 21)


def test_hover_tells_the_whole_story_of_each_finding() -> None:
    page = RulePage("The title", "why", "fix", "# page")
    text = as_markdown(
        [finding(url="https://example.org"), finding(name="other", fix=Fix(""))], "en", lambda code: page
    )
    assert text.count("The title") == 2 and "\n\n---\n\n" in text
    for part in ("**native-dropout** (NPU1301, warning, performance)", "Use npu_ops.dropout.", "<https://example.org>"):
        assert part in text
    assert "**原因：** The native" in as_markdown([finding()], "zh", lambda code: None)


def test_plain_text_has_no_signs() -> None:
    markdown = (
        "# Title\n\n**bold** `x`\n\n| a | b |\n| --- | --- |\n\n```python\ny = 1\n```\n\n[page](<https://e.org>)\n"
    )
    assert plain(markdown) == "Title\n\nbold x\n\n| a | b |\n\ny = 1\n\npage (https://e.org)\n"


def test_the_pause_follows_the_work() -> None:
    assert (pause(0.0), pause(0.2), pause(0.6), pause(60)) == (QUICK, QUICK, PATIENT, PATIENT)


FOUND = {
    "/w/a.py": [finding(severity="error"), finding(severity="note")],
    "/w/b.py": [finding(severity="error"), finding()],
    "/w/c.py": [finding()],
    "/v/d.py": [finding(severity="error")],
}


@pytest.mark.parametrize(
    ("scope", "shown"),
    [
        ("open", {}),
        ("errors", {"/w/b.py": 1}),
        ("workspace", {"/w/b.py": 2, "/w/c.py": 1, "/v/d.py": 1}),
    ],
)
def test_which_files_that_are_not_open_show_something(scope: str, shown: dict[str, int]) -> None:
    near = {"/w/a.py", "/w/b.py", "/w/c.py"}
    found = shown_elsewhere(FOUND, {"/w/a.py"}, near, scope)
    assert {path: len(some) for path, some in found.items()} == shown


def test_the_board_tells_only_news_and_never_goes_back() -> None:
    told: list[tuple[str, int | None, list[object]]] = []
    publisher = DiagnosticsPublisher(lambda uri, version, some: told.append((uri, version, some)))
    publisher.show("a", 2, ["x"])
    publisher.show("a", 1, ["old"])
    publisher.show("a", 2, ["x"])
    publisher.show("b", None, [])
    publisher.show("b", None, ["y"])
    assert told == [("a", 2, ["x"]), ("b", None, ["y"])]
    publisher.only({"a"})
    publisher.forget("a")
    publisher.forget("a")
    assert told[2:] == [("b", None, []), ("a", None, [])]
    publisher.show("a", 1, ["again"])
    assert told[4:] == [("a", 1, ["again"])]


def test_without_its_library_the_server_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pygls" else found(name))
    answer = call("server", environ={"LC_ALL": "C"})
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("error: the language server requires pygls: install npulint with the lsp extra")


def test_nothing_else_imports_that_library() -> None:
    code = "import sys; from npulint.hosts.cli.main import main; main(['check', '--show-files']); print([*sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=Path(__file__).parent)
    assert b"npulint.hosts.cli.check" in done.stdout
    for name in (b"pygls", b"lsprotocol", b"npulint.hosts.server", b"asyncio"):
        assert b"'" + name not in done.stdout

"""Completion of check names in suppression comments, and the titles of code actions."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from npulint.core.texts import say
from npulint.facts.model import Span
from npulint.hosts.server.actions import edit_in_words
from npulint.hosts.server.features import completions, known_checks, listed_names
from npulint.judge.findings import Edit
from tests.server_support import editing
from tests.surface_support import finding

HERE = lsp.Range(lsp.Position(3, 0), lsp.Position(3, 0))


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("x = 1  # npulint: ignore[", ("", [])),
        ("x = 1  # npulint: ignore[nat", ("nat", [])),
        ("# npulint: ignore-file[a-b, NPU1101,no", ("no", ["a-b", "NPU1101"])),
        ("// npulint: ignore[", ("", [])),
        ("x = 1  # npulint: ignore[a] because", None),
        ("x = npulint: ignore[", None),
        ("# npulint: ignored[", None),
        ("", None),
    ],
)
def test_where_names_complete(before: str, found: tuple[str, list[str]] | None) -> None:
    assert listed_names(before) == found


def test_names_with_findings_here_come_first() -> None:
    checks = known_checks((), "en")
    here = [
        finding(name="native-dropout", span=Span(4, 1, 4, 9)),
        finding(name="layer-dropout", span=Span(40, 1, 40, 9)),
    ]
    items = completions(checks, here, 4, "", [], HERE)
    ordered = [item.label for item in sorted(items, key=lambda item: item.sort_text or "")]
    assert ordered[:2] == ["native-dropout", "layer-dropout"]
    assert len(items) == len(checks)
    assert [item.label for item in items if item.preselect] == ["native-dropout"]


def test_what_was_begun_and_what_is_listed_narrows() -> None:
    checks = known_checks((), "en")
    labels = [item.label for item in completions(checks, [], 1, "task", ["task-queue-off"], HERE)]
    assert labels and "task-queue-off" not in labels
    (code,) = completions(checks, [], 1, "NPU3320", [], HERE)
    assert (code.label, code.detail) == ("task-queue-off", "NPU3320")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_titles_about_any_check_are_short(lang: str) -> None:
    keys = ("server.fix", "server.fix.unsafe", "server.ignore.line", "server.ignore.file", "server.show")
    long = [
        title
        for check in known_checks((), lang)
        for title in (say(lang, key, name=check.name, text=check.name) for key in keys)
        if len(title) > 60
    ]
    assert long == []


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (Edit("a.py", Span(1, 3, 1, 7), "npu"), ["replace `cuda` with `npu`"]),
        (Edit("a.py", Span(1, 2, 1, 9), ""), ["delete `.cuda()`"]),
        (Edit("a.py", Span(1, 1, 1, 1), "y = "), ["insert `y =`"]),
        (Edit("a.py", Span(1, 1, 2, 1), ""), []),
        (Edit("a.py", Span(1, 1, 1, 1), "import torch\n"), []),
    ],
)
def test_an_edit_in_words(edit: Edit, words: list[str]) -> None:
    assert edit_in_words([edit], {"a.py": ["x.cuda()"]}, "en") == words


@pytest.mark.slow
def test_an_editor_is_offered_names_with_the_findings_of_the_line_first(tmp_path: Path) -> None:
    text = "import torch\nimport torch_npu\nx = torch.ones(2).npu()\nx.cuda()  # npulint: ignore[cud] 说明\n"

    async def story() -> None:
        async with editing(tmp_path) as editor:
            (tmp_path / "train.py").write_text(text, encoding="utf-8")
            uri = editor.open(tmp_path / "train.py", text)
            await editor.at(tmp_path / "train.py", 1)

            async def offered(line: int, character: int) -> list[lsp.CompletionItem]:
                place = lsp.TextDocumentIdentifier(uri), lsp.Position(line, character)
                answer = await editor.text_document_completion_async(lsp.CompletionParams(*place))
                assert isinstance(answer, list)
                return list(answer)

            begun = text.splitlines()[3].index("cud]") + 3
            items = await offered(3, begun)
            assert items and all("c" in item.label for item in items)
            edit = items[0].text_edit
            assert isinstance(edit, lsp.TextEdit)
            assert (edit.range.start.character, edit.range.end.character) == (begun - 3, begun)
            assert await offered(3, 4) == [] and await offered(0, 3) == []

    asyncio.run(asyncio.wait_for(story(), 60))

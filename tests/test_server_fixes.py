"""Fixes in the editor: quick fixes, all safe ones at once, and texts that are in the middle of being typed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from npulint.facts.model import Span
from npulint.hosts.server.actions import FIX_ALL, EditableFile, Proposer
from npulint.hosts.server.diagnostics import Abilities, diagnostic
from npulint.hosts.server.positions import TextPositions, replaced
from npulint.judge.findings import Fix, FixEdit, FixStep
from tests.fix_checks import CHECKS, CODES, MODEL, SAFE, WHOLE
from tests.server_support import editing
from tests.surface_support import finding

pytestmark = pytest.mark.slow

ALL = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))


@pytest.fixture
def folder(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with checks of its own."""
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(cache_folder))
    for name, text in CHECKS.items():
        path = tmp_path / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    select = ", ".join(f'"{code}"' for code in CODES)
    (tmp_path / "npulint.toml").write_text(f'checks = ["mine"]\nselect = [{select}]\n')
    (tmp_path / "model.py").write_bytes(MODEL.encode())
    return tmp_path


def go(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def changed(text: str, action: lsp.CodeAction | lsp.Command) -> str:
    """The text after an action on the only document."""
    assert isinstance(action, lsp.CodeAction) and action.edit is not None and action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, lsp.TextDocumentEdit)
    for edit in reversed(change.edits):
        assert isinstance(edit, lsp.TextEdit)
        text = replaced(text, edit.range, edit.new_text, "utf-16")
    return text


def fixes(found: dict[str, lsp.CodeAction | lsp.Command]) -> dict[str, lsp.CodeAction]:
    """The actions that mend."""
    return {title: one for title, one in found.items() if title.startswith("Fix") and isinstance(one, lsp.CodeAction)}


def test_each_finding_offers_its_fix(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            path = folder / "model.py"
            uri = editor.open(path)
            safe, unsafe = sorted(await editor.at(path, 1), key=lambda one: one.range.start.line)
            (one,) = fixes(await editor.actions(uri, safe.range)).values()
            assert (one.title, one.is_preferred, one.kind) == (
                "Fix: Create it outside.",
                True,
                lsp.CodeActionKind.QuickFix,
            )
            assert changed(MODEL, one) == SAFE
            (other,) = fixes(await editor.actions(uri, unsafe.range)).values()
            assert (other.title, other.is_preferred) == ("Fix (unsafe): Create it outside.", None)
            assert changed(SAFE, other) == WHOLE  # behind, the columns are the same

    go(story())


def test_all_safe_fixes_at_once(folder: Path) -> None:
    text = "import torch\n\n😀 = (torch.old_safe(torch.old_safe(1)), torch.stuck(1), torch.old_unsafe(2))\n".replace(
        "😀", "权"
    )

    async def story() -> None:
        async with editing(folder) as editor:
            path = folder / "model.py"
            uri = editor.open(path, text)
            await editor.at(path, 1)
            found = await editor.actions(uri, ALL, only=[FIX_ALL])
            assert list(found) == ["Apply all safe npulint fixes in this file"]
            assert changed(text, next(iter(found.values()))) == text.replace("old_safe", "safe")
            version = editor.rewrite(uri, "import torch\ntorch.old_unsafe(1)\n")
            await editor.at(path, version)
            assert await editor.actions(uri, ALL, only=[FIX_ALL]) == {}

    go(story())


def test_edits_are_those_of_the_text_as_it_is_typed(folder: Path) -> None:
    typed = "# 权重😀\r\nimport torch\r\n\r\nif True:\r\n\ty = '😀', torch.old_unsafe(1)\r\n"

    async def story() -> None:
        async with editing(folder) as editor:
            path = folder / "model.py"
            uri = editor.open(path)
            await editor.at(path, 1)
            version = editor.rewrite(uri, typed)
            await editor.at(path, version)
            (one,) = fixes(await editor.actions(uri, ALL)).values()
            assert changed(typed, one) == typed.replace("old_unsafe", "new").replace(
                "import torch\r\n", "import torch\r\nimport torch_npu\r\n"
            )

    go(story())


def test_a_text_that_does_not_parse_offers_nothing(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            path = folder / "model.py"
            uri = editor.open(path)
            await editor.at(path, 1)
            version = editor.rewrite(uri, f"{MODEL}def half(:\n")
            await editor.at(path, version)
            found = await editor.actions(uri, ALL)
            assert fixes(found) == {}
            assert await editor.actions(uri, ALL, only=["source.fixAll"]) == {}

    go(story())


def test_checks_that_are_never_fixed_offer_nothing(folder: Path) -> None:
    with (folder / "npulint.toml").open("a") as config:
        config.write('unfixable = ["safe-call"]\nfix = true\n')

    async def story() -> None:
        async with editing(folder) as editor:
            path = folder / "model.py"
            uri = editor.open(path)
            await editor.at(path, 1)
            found = fixes(await editor.actions(uri, ALL))
            assert list(found) == ["Fix (unsafe): Create it outside."]
            assert path.read_bytes() == MODEL.encode()  # the configuration of the command line writes nothing here

    go(story())


def proposer(texts: dict[str, str]) -> Proposer:
    def file(path: str) -> EditableFile:
        text = texts.get(path)
        return EditableFile(f"file://{path}", None if text is None else 1, text or "", (text or "").split("\n"))

    return Proposer(file, "utf-16", True, "en")


def renaming(path: str, line: int, to: str, applicability: str) -> FixEdit:
    return FixEdit(applicability, (FixStep("rename", path, Span(line, 1, line, 6), {"to": to}),))


def offered(fix: Fix, texts: dict[str, str]) -> dict[str, lsp.CodeAction]:
    one = finding(path="/w/a.py", span=Span(2, 1, 2, 6), fix=fix)

    def sight(path: str) -> tuple[str, TextPositions, list[str]]:
        lines = texts[path].split("\n")
        return f"file://{path}", TextPositions(lines), lines

    actions = proposer(texts).for_finding(one, diagnostic(one, sight, Abilities()))
    return fixes({action.title: action for action in actions})


def test_what_can_be_mended_safely_in_part_is_offered_so_and_wholly() -> None:
    texts = {"/w/a.py": "import t\nt.a()\nt.b()\n"}
    changes = (renaming("/w/a.py", 2, "t.x", "safe"), renaming("/w/a.py", 3, "t.y", "unsafe"))
    found = offered(Fix("Do it.", "unsafe", changes=changes), texts)
    assert list(found) == ["Fix: Do it.", "Fix (unsafe): Do it."]
    after = [changed(texts["/w/a.py"], one) for one in found.values()]
    assert after == ["import t\nt.x()\nt.b()\n", "import t\nt.x()\nt.y()\n"]


def test_a_fix_may_reach_into_another_file_but_all_at_once_stay_in_theirs() -> None:
    texts = {"/w/a.py": "import t\nt.a()\n", "/w/b.py": "import t\nt.a()\n"}
    steps = tuple(renaming(path, 2, "t.x", "safe").steps[0] for path in texts)
    fix = Fix("Do it.", "safe", changes=(FixEdit("safe", steps),))
    (action,) = offered(fix, texts).values()
    assert action.edit is not None and action.edit.document_changes is not None
    assert len(action.edit.document_changes) == 2
    assert proposer(texts).fix_all([finding(path="/w/a.py", span=Span(2, 1, 2, 6), fix=fix)]) is None


def test_a_file_that_is_not_there_is_not_made() -> None:
    fix = Fix("Do it.", "safe", changes=(renaming("/w/gone.py", 2, "t.x", "safe"),))
    texts = {"/w/a.py": "import t\nt.a()\n"}
    one = finding(path="/w/a.py", span=Span(2, 1, 2, 6), fix=fix)

    def file(path: str) -> EditableFile:
        return EditableFile(
            f"file://{path}",
            1 if path in texts else None,
            texts.get(path, ""),
            texts.get(path, "").split("\n") if path in texts else [],
        )

    assert Proposer(file, "utf-16", True, "en").fix_all([one]) is None
    assert offered(fix, {**texts, "/w/gone.py": ""}) == {}

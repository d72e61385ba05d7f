"""The language server as an editor meets it: opening, typing, saving, closing; ranges, actions, hover."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from lsprotocol import types as lsp

from npulint.hosts.server.positions import replaced
from npulint.hosts.server.uris import uri_of
from tests.server_support import QUIET, ROOT, editing, pushed, short

pytestmark = pytest.mark.slow

TRAIN = dedent(
    """\
    import torch
    import torch_npu
    import torch.distributed as dist

    from model import build


    def main():
        torch.npu.set_device(0)
        名称 = "模型😀"; dist.init_process_group("nccl", init_method="文件😀")
        model = build()
        for step in range(10):
            loss = model(torch.ones(4, device="npu")).sum()
            loss.backward()


    main()
    """
)
MODEL = dedent(
    """\
    import torch


    def build():
        return torch.nn.Linear(4, 4).npu()
    """
)
RUN = "#!/bin/bash\nexport ASCEND_LAUNCH_BLOCKING=1\npython train.py\n"
LINE = 9
START, END = 17, 68  # in UTF-16: an emoji before, another one inside
NCCL = f"{LINE}:{START}-{LINE}:{END} nccl-backend"
LAST = TRAIN.count("\n")


@pytest.fixture
def folder(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of three files."""
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(cache_folder))
    place = tmp_path / "项目 1"
    place.mkdir()
    for name, text in (("train.py", TRAIN), ("model.py", MODEL), ("run.sh", RUN)):
        (place / name).write_bytes(text.encode())
    return place


def go(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def errors(some: list[lsp.Diagnostic]) -> list[str]:
    return [short(one) for one in some if one.severity == lsp.DiagnosticSeverity.Error]


def insert(line: int, character: int, text: str) -> lsp.TextDocumentContentChangePartial:
    place = lsp.Position(line, character)
    return lsp.TextDocumentContentChangePartial(range=lsp.Range(place, place), text=text)


def delete(line: int, start: int, end: int) -> lsp.TextDocumentContentChangePartial:
    return lsp.TextDocumentContentChangePartial(
        range=lsp.Range(lsp.Position(line, start), lsp.Position(line, end)), text=""
    )


def test_from_opening_to_closing(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            train = folder / "train.py"
            uri = editor.open(train)
            assert errors(await editor.at(train, 1)) == [NCCL]
            version = editor.type(uri, insert(LINE, 10, "😀"), insert(0, 0, "# 说明\n"))
            wanted = f"{LINE + 1}:{START + 2}-{LINE + 1}:{END + 2} nccl-backend"
            assert errors(await editor.at(train, version)) == [wanted]
            version = editor.rewrite(uri, TRAIN.replace("nccl", "hccl"))
            assert errors(await editor.at(train, version)) == []
            editor.save(uri)
            editor.close(uri)
            await editor.until(lambda: editor.shown(train) == [])

    go(story())


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_ranges_in_the_units_of_the_editor(folder: Path, encoding: str) -> None:
    text = TRAIN.split("\n")[LINE]
    start = text.index("dist")
    sizes = {"utf-8": lambda t: len(t.encode()), "utf-16": lambda t: len(t.encode("utf-16-le")) // 2, "utf-32": len}
    counted = f"{LINE}:{sizes[encoding](text[:start])}-{LINE}:{sizes[encoding](text)}"

    async def story() -> None:
        general = lsp.GeneralClientCapabilities(position_encodings=[lsp.PositionEncodingKind(encoding)])
        async with editing(folder, capabilities=pushed(general=general)) as editor:
            assert editor.result is not None and editor.result.capabilities.position_encoding == encoding
            train = folder / "train.py"
            uri = editor.open(train)
            assert errors(await editor.at(train, 1)) == [f"{counted} nccl-backend"]
            width = sizes[encoding]("😀")
            version = editor.type(uri, insert(LINE, sizes[encoding](text[:start]), "_='😀';"))
            begin, end = sizes[encoding](text[:start]) + width + 5, sizes[encoding](text) + width + 5
            shifted = f"{LINE}:{begin}-{LINE}:{end} nccl-backend"
            assert errors(await editor.at(train, version)) == [shifted]

    go(story())


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_other_line_ends_and_no_last_one(folder: Path, end: str) -> None:
    text = TRAIN.rstrip("\n").replace("\n", end)

    async def story() -> None:
        async with editing(folder) as editor:
            train = folder / "train.py"
            uri = editor.open(train, text)
            assert errors(await editor.at(train, 1)) == [NCCL]
            version = editor.type(uri, insert(LAST - 1, 6, f"{end}dist.init_process_group('nccl')"))
            assert errors(await editor.at(train, version)) == [NCCL, f"{LAST}:0-{LAST}:31 nccl-backend"]

    go(story())


def test_a_burst_of_edits_ends_with_the_last_text_and_never_goes_back(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            train = folder / "train.py"
            uri = editor.open(train)
            await editor.at(train, 1)
            for number in range(50):
                if number % 2:
                    editor.type(uri, insert(0, 0, "# 一行😀\n"))
                else:
                    editor.type(uri, insert(0, 0, "x"), delete(0, 0, 1))
                if number % 7 == 0:
                    await asyncio.sleep(0.02)
            wanted = f"{LINE + 25}:{START}-{LINE + 25}:{END} nccl-backend"
            assert errors(await editor.at(train, 51)) == [wanted]
            await asyncio.sleep(QUIET)
            told = [one for one in editor.published if one.uri == uri]
            versions = [one.version for one in told]
            assert versions == sorted(versions, key=lambda v: v or 0)
            for one in told:  # each is about the text of its own version
                lines = ((one.version or 1) - 1) // 2
                assert errors(list(one.diagnostics)) == [f"{LINE + lines}:{START}-{LINE + lines}:{END} nccl-backend"]

    go(story())


def test_syntax_errors_while_typing_come_and_go(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            train = folder / "train.py"
            uri = editor.open(train)
            await editor.at(train, 1)
            version = editor.type(uri, insert(LINE + 1, 0, "    x = ("))
            shown = [one.code for one in await editor.at(train, version)]
            assert shown == ["syntax-error"]
            version = editor.type(uri, delete(LINE + 1, 0, 9))
            assert errors(await editor.at(train, version)) == [NCCL]

    go(story())


def test_what_is_typed_in_one_file_reaches_the_others(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            train, model = folder / "train.py", folder / "model.py"
            editor.open(train)
            uri = editor.open(model)
            await editor.at(train, 1)
            await editor.at(model, 1)
            cuda = "def build():\n    torch.distributed.init_process_group('nccl')"
            version = editor.rewrite(uri, MODEL.replace("def build():", cuda))
            assert errors(await editor.at(model, version)) == ["4:4-4:48 nccl-backend"]
            editor.close(uri)  # what was not saved is gone
            await editor.until(lambda: editor.shown(model) == [])

    go(story())


def test_errors_of_the_project_are_shown_in_files_that_are_not_open(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            train, model = folder / "train.py", folder / "model.py"
            uri = editor.open(model)
            await editor.until(lambda: editor.shown(train) == [NCCL])
            assert editor.shown(folder / "run.sh") == []  # a warning
            editor.close(uri)
            await editor.until(lambda: editor.shown(train) == [])

    go(story())


@pytest.mark.parametrize(("scope", "wanted"), [("open", []), ("workspace", ["1:7-1:31 launch-blocking-left-on"])])
def test_the_scope_is_a_setting(folder: Path, scope: str, wanted: list[str]) -> None:
    async def story() -> None:
        options = {"scope": scope, "minSeverity": "warning"}
        async with editing(folder, options=options) as editor:
            if wanted:
                await editor.until(lambda: editor.shown(folder / "run.sh") == wanted)
                await editor.until(lambda: editor.shown(folder / "train.py") == [NCCL])
                await editor.until(lambda: any(isinstance(one, dict) and one["kind"] == "end" for one in editor.bars))
                assert next(one["kind"] for one in editor.bars if isinstance(one, dict)) == "begin"
            else:
                editor.open(folder / "model.py")
                await editor.at(folder / "model.py", 1)
                assert editor.shown(folder / "train.py") == []

    go(story())


def test_only_on_save(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder, options={"run": "onSave"}) as editor:
            train = folder / "train.py"
            uri = editor.open(train)
            assert errors(await editor.at(train, 1)) == [NCCL]
            version = editor.rewrite(uri, TRAIN.replace("nccl", "hccl"))
            await asyncio.sleep(QUIET)
            assert errors(await editor.at(train, 1)) == [NCCL]
            editor.save(uri)
            assert errors(await editor.at(train, version)) == []

    go(story())


def test_ignoring_a_finding_in_the_editor_makes_it_go(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            train = folder / "train.py"
            uri = editor.open(train)
            shown = next(one for one in await editor.at(train, 1) if one.code == "nccl-backend")
            found = await editor.actions(uri, shown.range)
            text = changed(TRAIN, found["Ignore `nccl-backend` here"])
            assert '文件😀")  # npulint: ignore[nccl-backend]\n' in text
            version = editor.rewrite(uri, text)
            assert errors(await editor.at(train, version)) == []
            text = changed(TRAIN, found["Ignore `nccl-backend` in file"])
            assert text.startswith("# npulint: ignore-file[nccl-backend]\n")
            version = editor.rewrite(uri, text)
            assert errors(await editor.at(train, version)) == []

    go(story())


def test_a_useless_comment_is_faded_and_can_be_taken_away(folder: Path) -> None:
    text = TRAIN.rstrip("\n") + "  # npulint: ignore[nccl-backend]\n"

    async def story() -> None:
        async with editing(folder) as editor:
            train = folder / "train.py"
            uri = editor.open(train, text)
            faded = next(one for one in await editor.at(train, 1) if one.code == "unused-suppression")
            assert faded.tags == (lsp.DiagnosticTag.Unnecessary,)
            assert faded.severity == lsp.DiagnosticSeverity.Hint
            found = await editor.actions(uri, faded.range, only=["quickfix"])
            removal = next(action for title, action in found.items() if title.startswith("Fix: "))
            everything = await editor.actions(uri, faded.range, only=["source.fixAll"])
            assert list(everything) == ["Apply all safe npulint fixes in this file"]
            assert changed(text, removal) == TRAIN
            assert changed(text, next(iter(everything.values()))) == TRAIN.replace("nccl", "hccl")  # safe as well

    go(story())


def changed(text: str, action: lsp.CodeAction | lsp.Command) -> str:
    """The text after an action."""
    assert isinstance(action, lsp.CodeAction) and action.edit is not None and action.edit.document_changes is not None
    (change,) = action.edit.document_changes
    assert isinstance(change, lsp.TextDocumentEdit) and change.text_document.version == 1
    for edit in reversed(change.edits):
        assert isinstance(edit, lsp.TextEdit)
        text = replaced(text, edit.range, edit.new_text, "utf-16")
    return text


def test_nothing_is_offered_for_another_kind_of_action(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            uri = editor.open(folder / "train.py")
            place = (await editor.at(folder / "train.py", 1))[0].range
            assert await editor.actions(uri, place, only=["refactor"]) == {}
            assert await editor.actions(uri, place, only=["source.organizeImports"]) == {}
            assert len(await editor.actions(uri, place, only=["quickfix"])) >= 3

    go(story())


@pytest.mark.parametrize(
    ("locale", "words", "title", "page"),
    [
        ("zh-CN", (), "**原因：**", "## 为什么有问题"),
        ("en-US", (), "**Why it matters:**", "## Why is this bad?"),
        (None, ("--lang", "zh"), "**原因：**", "## 为什么有问题"),
    ],
)
def test_hover_speaks_the_language_of_the_editor(
    folder: Path, locale: str | None, words: tuple[str, ...], title: str, page: str
) -> None:
    async def story() -> None:
        async with editing(folder, locale=locale, words=words) as editor:
            text = TRAIN + "x = 1  # npulint: ignore[nccl-backend] why\n"
            uri = editor.open(folder / "train.py", text)
            await editor.at(folder / "train.py", 1)
            about = await editor.hovered(uri, LINE, 20)
            assert title in about and "nccl-backend" in about
            whole = await editor.hovered(uri, LAST, 28)
            assert whole.startswith("# NPU2180 nccl-backend\n") and page in whole
            assert await editor.hovered(uri, 0, 2) == ""

    go(story())


def test_an_editor_that_cannot_do_markdown_gets_text(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder, capabilities=lsp.ClientCapabilities()) as editor:
            uri = editor.open(folder / "train.py")
            await editor.at(folder / "train.py", 1)
            about = await editor.hovered(uri, LINE, 20)
            assert "Why it matters:" in about and "**" not in about

    go(story())


def test_the_page_of_a_check_opens_in_the_editor(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            params = lsp.ExecuteCommandParams("npulint.showPage", ["NPU2180"])
            answer = await editor.workspace_execute_command_async(params)
            assert isinstance(answer, str) and answer.startswith("# NPU2180 nccl-backend")
            assert editor.documents[0].uri.endswith("/NPU2180.md")
            params = lsp.ExecuteCommandParams("npulint.showPage", ["NPU9999"])
            assert await editor.workspace_execute_command_async(params) is None
        async with editing(folder, capabilities=lsp.ClientCapabilities()) as editor:
            await editor.workspace_execute_command_async(lsp.ExecuteCommandParams("npulint.showPage", ["NPU2180"]))
            await editor.until(lambda: editor.messages)
            assert editor.messages[0].startswith("NPU2180: ")

    go(story())


@pytest.mark.parametrize("name", ["classifier", "denoiser"])
def test_the_editor_shows_what_the_command_line_reports(name: str, cache_folder: Path) -> None:
    example = ROOT / "examples" / name
    done = subprocess.run(
        [sys.executable, "-m", "npulint", "check", "--format=json", "--min-severity=note", str(example)],
        capture_output=True, check=False, cwd=ROOT, env={**os.environ, "NPULINT_CACHE_DIR": str(cache_folder)},
    )  # fmt: skip
    reported: dict[str, list[str]] = {}
    further: dict[str, set[tuple[str, str]]] = {}  # places of advice that the editor shows at each of its lines
    for one in json.loads(done.stdout)["findings"]:
        place = f"{one['line'] - 1}:{one['column'] - 1}-{one['end_line'] - 1}:{one['end_column'] - 1}"
        reported.setdefault(one["path"], []).append(f"{place} {one['name']}")
        for other in one["related"]:
            further.setdefault(other["path"], set()).add((str(other["line"] - 1), one["name"]))
    assert reported

    async def story() -> None:
        async with editing(example, environ={"NPULINT_CACHE_DIR": str(cache_folder)}) as editor:
            for path in reported:
                editor.open(ROOT / path)
            for path, wanted in reported.items():
                shown = [short(one) for one in await editor.at(ROOT / path, 1)]
                more = [one for one in shown if one not in wanted]
                assert [one for one in shown if one not in more] == wanted
                assert {(one.partition(":")[0], one.rpartition(" ")[2]) for one in more} <= further.get(path, set())

    go(story())


def test_after_any_edits_both_sides_have_the_same_text(folder: Path) -> None:
    chance = random.Random(7)
    pieces = ["x", "中", "😀", "\n", "\r\n", "# 注释😀\n", "\t", "\x0c", "𝒳", "", "dist.init_process_group('nccl')\n"]

    async def story() -> None:
        async with editing(folder) as editor:
            train = folder / "train.py"
            uri = editor.open(train)
            text = TRAIN
            for _ in range(200):
                start = chance.randrange(len(text) + 1)
                end = min(len(text), start + chance.choice([0, 0, 0, 1, 3]))
                if "\r" in text[max(0, start - 1) : end + 1]:
                    continue  # an editor never stands inside of a line end
                new = chance.choice(pieces)
                place = lsp.Range(position(text, start), position(text, end))
                version = editor.type(uri, lsp.TextDocumentContentChangePartial(range=place, text=new))
                text = text[:start] + new + text[end:]
            version = editor.type(uri, lsp.TextDocumentContentChangePartial(range=whole(text), text=""))
            assert await editor.at(train, version) == []  # the range of all that the editor has is all there is
            version = editor.type(uri, insert(0, 0, TRAIN))
            assert errors(await editor.at(train, version)) == [NCCL]

    go(story())


def position(text: str, offset: int) -> lsp.Position:
    """Counted apart from the server, in UTF-16."""
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lsp.Position(len(before) - 1, len(before[-1].encode("utf-16-le")) // 2)


def whole(text: str) -> lsp.Range:
    return lsp.Range(lsp.Position(0, 0), position(text, len(text)))


def test_documents_that_are_no_files_are_left_alone(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            for uri in ("untitled:Untitled-1", "git:/a.py", "vscode-notebook-cell:/a.ipynb#W0", "file://host/x.py"):
                editor.open(folder / "x.py", TRAIN, uri=uri)
                editor.rewrite(uri, TRAIN + "\n")
                await editor.actions(uri, lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)))
                assert await editor.hovered(uri, 0, 0) == ""
                editor.save(uri)
                editor.close(uri)
            editor.open(folder / "train.py")
            assert errors(await editor.at(folder / "train.py", 1)) == [NCCL]
            assert {one.uri for one in editor.published if one.diagnostics} == {uri_of(str(folder / "train.py"))}

    go(story())


def test_a_file_outside_of_every_folder(folder: Path, tmp_path: Path) -> None:
    async def story() -> None:
        alone = tmp_path / "alone.py"
        async with editing(folder) as editor:
            editor.open(alone, TRAIN.replace("from model import build", "build = torch.nn.Linear"))
            assert errors(await editor.at(alone, 1)) == [NCCL]

    go(story())


def test_addresses_as_editors_spell_them(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            path = folder / "train.py"
            uri = "file://" + str(path).replace(" ", "%20").replace("/train", "/%74rain")
            editor.open(path, uri=uri)
            await editor.until(lambda: any(one.uri == uri and one.diagnostics for one in editor.published))
            assert {one.uri for one in editor.published if one.diagnostics} == {uri}

    go(story())


def test_a_link_to_the_project(folder: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(folder)

    async def story() -> None:
        async with editing(folder) as editor:
            editor.open(link / "train.py")
            assert errors(await editor.at(link / "train.py", 1)) == [NCCL]
            assert editor.shown(folder / "train.py") == []
        async with editing(link) as editor:
            editor.open(link / "train.py")
            assert errors(await editor.at(link / "train.py", 1)) == [NCCL]

    go(story())


def test_a_large_file_and_an_empty_one(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            uri = editor.open(folder / "big.py", "x = '中文'\n" * 400_000)
            shown = await editor.at(folder / "big.py", 1)
            assert [one.code for one in shown] in ([], ["file-not-read"])
            version = editor.rewrite(uri, "")
            assert await editor.at(folder / "big.py", version) == []

    go(story())


def test_a_notebook_that_is_open_as_text(folder: Path) -> None:
    async def story() -> None:
        cell = '   "名 = \\"😀\\"; dist.init_process_group(\\"nccl\\")\\n",'
        lines = [
            '{"cells": [{"cell_type": "code", "source": [',
            '   "import torch, torch_npu\\n", "import torch.distributed as dist\\n",',
            cell,
            '   "torch.ones(1).npu()"',
            ']}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
        ]
        async with editing(folder) as editor:
            path = folder / "a.ipynb"
            editor.open(path, "\n".join(lines), language="json")
            shown = [one for one in await editor.at(path, 1) if one.code == "nccl-backend"]
            start = len(cell[: cell.index("dist")].encode("utf-16-le")) // 2
            assert [short(one) for one in shown] == [f"2:{start}-2:{start + 33} nccl-backend"]
            found = await editor.actions(uri_of(str(path)), shown[0].range)
            assert [title for title in found if title.startswith("Ignore")] == []

    go(story())


def test_the_end_of_standard_input_is_the_end(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "npulint", "server"],
        input=b"", capture_output=True, timeout=20, check=False, cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, b"")


def test_two_servers_one_after_the_other(folder: Path) -> None:
    async def story() -> None:
        for _ in range(2):
            async with editing(folder) as editor:
                editor.open(folder / "train.py")
                assert errors(await editor.at(folder / "train.py", 1)) == [NCCL]

    go(story())


def test_nonsense_does_not_end_the_server(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            uri = uri_of(str(folder / "train.py"))
            never = lsp.VersionedTextDocumentIdentifier(version=9, uri=uri)
            editor.text_document_did_change(lsp.DidChangeTextDocumentParams(never, [insert(5, 5, "x")]))
            editor.close(uri)
            editor.save(uri)
            editor.protocol.notify("npulint/unknown", {"a": 1})
            editor.open(folder / "train.py")
            version = editor.type(uri, insert(999, 999, "\n"), delete(3, 50, 2))
            assert errors(await editor.at(folder / "train.py", version)) == [NCCL]

    go(story())

"""The language server around the text: settings, configuration files, folders, other files, asking for diagnostics,
notebooks by cell."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types as lsp

from npulint.hosts.server.uris import uri_of
from tests.server_support import QUIET, Editor, editing, pushed, short

pytestmark = pytest.mark.slow

TRAIN = """\
import torch
import torch_npu
import torch.distributed as dist


def main():
    torch.npu.set_device(0)
    dist.init_process_group("nccl")


main()
"""
NCCL = "7:4-7:35 nccl-backend"


@pytest.fixture
def folder(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one file."""
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(cache_folder))
    return made(tmp_path / "one")


def made(place: Path) -> Path:
    place.mkdir()
    (place / "train.py").write_text(TRAIN)
    return place


def go(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


async def shows(editor: Editor, path: Path, wanted: list[str]) -> None:
    """Wait until the errors of a file are these."""

    def errors() -> list[str] | None:
        last = editor.last(path)
        some = None if last is None else last.diagnostics
        return None if some is None else [short(one) for one in some if one.severity == lsp.DiagnosticSeverity.Error]

    await editor.until(lambda: errors() == wanted)


def test_the_settings_of_the_editor(folder: Path) -> None:
    async def story() -> None:
        settings = {"ignore": ["nccl-backend"], "lang": "zh", "docsUrl": "https://docs.example.org", "typo": 1}
        async with editing(folder, settings=settings) as editor:
            train = folder / "train.py"
            editor.open(train)
            await shows(editor, train, [])
            await editor.until(lambda: any("typo" in text for text in editor.messages))
            editor.settings = {"lang": "zh", "docsUrl": "https://docs.example.org"}
            editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings=None))
            await shows(editor, train, [NCCL])
            last = editor.last(train)
            assert last is not None
            one = next(one for one in last.diagnostics if one.code == "nccl-backend")
            assert "进程组" in one.message or "NPU" in one.message
            assert one.code_description is not None
            assert one.code_description.href == "https://docs.example.org/zh/checks/nccl-backend/"
            pushed_settings = {"npulint": {"select": ["precision"]}}
            editor.workspace_did_change_configuration(lsp.DidChangeConfigurationParams(settings=pushed_settings))
            await shows(editor, train, [])

    go(story())


def test_it_asks_to_be_told_of_changed_files_and_settings(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder) as editor:
            editor.open(folder / "train.py")
            await editor.at(folder / "train.py", 1)
            assert {one.method for one in editor.registered} == {
                "workspace/didChangeWatchedFiles",
                "workspace/didChangeConfiguration",
            }
        async with editing(folder, capabilities=lsp.ClientCapabilities()) as editor:
            editor.open(folder / "train.py")
            await editor.at(folder / "train.py", 1)
            assert editor.registered == []

    go(story())


def test_a_configuration_file_is_read_again_when_it_changes(folder: Path) -> None:
    async def story() -> None:
        config, train = folder / "npulint.toml", folder / "train.py"
        async with editing(folder) as editor:
            editor.open(train)
            await shows(editor, train, [NCCL])
            config.write_text('ignore = ["nccl-backend"]\n')
            editor.wrote(config, kind=lsp.FileChangeType.Created)
            await shows(editor, train, [])
            config.unlink()
            editor.wrote(config, kind=lsp.FileChangeType.Deleted)
            await shows(editor, train, [NCCL])

    go(story())


def test_a_broken_configuration_is_shown_and_the_last_good_one_stays(folder: Path) -> None:
    async def story() -> None:
        config, train = folder / "npulint.toml", folder / "train.py"
        config.write_text('min-confidence = "low"\nignore = ["nccl-backend"]\n')
        async with editing(folder) as editor:
            uri = editor.open(train)
            await shows(editor, train, [])
            config.write_text('min-confidence = "low"\nignor = ["nccl-backend"]\n')
            editor.wrote(config)
            await editor.until(lambda: editor.shown(config) == ["1:0-1:24 configuration"])
            await editor.until(lambda: any("did you mean `ignore`" in text for text in editor.messages))
            version = editor.rewrite(uri, TRAIN + "\n")
            assert [one.code for one in await editor.at(train, version) if one.code == "nccl-backend"] == []
            config.write_text('min-confidence = "low"\n')
            editor.wrote(config)
            await editor.until(lambda: editor.shown(config) == [])
            await shows(editor, train, [NCCL])

    go(story())


def test_a_configuration_that_is_broken_from_the_start(folder: Path) -> None:
    async def story() -> None:
        config, train = folder / "pyproject.toml", folder / "train.py"
        config.write_text('[tool.npulint]\nselect = ["no-such-check"]\n')
        async with editing(folder) as editor:
            editor.open(train)
            await editor.until(lambda: [one.split()[-1] for one in editor.shown(config)] == ["configuration"])
            config.write_text("[tool.npulint]\n")
            editor.wrote(config)
            await shows(editor, train, [NCCL])
            assert editor.shown(config) == []

    go(story())


def test_files_that_others_change(folder: Path) -> None:
    async def story() -> None:
        train, other = folder / "train.py", folder / "setup_group.py"
        async with editing(folder) as editor:
            train.write_text(TRAIN.replace("    dist.", "    from setup_group import go\n    go()\n    # dist."))
            other.write_text("import torch.distributed as dist\n\ndef go():\n    dist.init_process_group('nccl')\n")
            editor.open(train)
            await shows(editor, other, ["3:4-3:35 nccl-backend"])
            other.write_text("def go():\n    pass\n")
            editor.wrote(other)
            await shows(editor, other, [])
            other.write_text("import torch.distributed as dist\ndef go():\n    dist.init_process_group('nccl')\n")
            editor.wrote(other)
            await shows(editor, other, ["2:4-2:35 nccl-backend"])
            other.unlink()
            editor.wrote(other, kind=lsp.FileChangeType.Deleted)
            await shows(editor, other, [])
            (folder / "notes.txt").write_text("x")
            said_before = len(editor.published)
            editor.wrote(folder / "notes.txt", folder / "data.json")
            await asyncio.sleep(QUIET)
            assert len(editor.published) == said_before

    go(story())


def test_two_folders_each_with_its_own_configuration(folder: Path, tmp_path: Path) -> None:
    async def story() -> None:
        second, third = made(tmp_path / "two"), made(tmp_path / "three")
        (second / "npulint.toml").write_text('ignore = ["nccl-backend"]\n')
        async with editing(folder, second) as editor:
            for place in (folder, second):
                editor.open(place / "train.py")
            await shows(editor, folder / "train.py", [NCCL])
            await shows(editor, second / "train.py", [])
            editor.open(third / "train.py")
            await shows(editor, third / "train.py", [NCCL])
            (third / "npulint.toml").write_text('ignore = ["nccl-backend"]\n')
            event = lsp.WorkspaceFoldersChangeEvent(
                added=[lsp.WorkspaceFolder(uri_of(str(third)), "three")],
                removed=[lsp.WorkspaceFolder(uri_of(str(folder)), "one")],
            )
            editor.workspace_did_change_workspace_folders(lsp.DidChangeWorkspaceFoldersParams(event))
            await shows(editor, third / "train.py", [])
            assert editor.shown(folder / "train.py")  # open, wherever it lies

    go(story())


def test_a_nested_configuration_counts_for_its_part(folder: Path) -> None:
    async def story() -> None:
        inner = made(folder / "inner")
        (inner / "npulint.toml").write_text('ignore = ["nccl-backend"]\n')
        async with editing(folder, options={"scope": "workspace"}) as editor:
            await shows(editor, folder / "train.py", [NCCL])
            await asyncio.sleep(QUIET)
            assert "nccl-backend" not in " ".join(editor.shown(inner / "train.py"))

    go(story())


def test_a_nested_configuration_that_is_broken_is_found(folder: Path) -> None:
    async def story() -> None:
        inner = made(folder / "inner")
        (inner / "npulint.toml").write_text("x = 1\n")
        async with editing(folder, options={"scope": "workspace"}) as editor:
            await shows(editor, folder / "train.py", [NCCL])
            await editor.until(lambda: editor.shown(inner / "npulint.toml") == ["0:0-0:5 configuration"])

    go(story())


def test_what_is_excluded_stays_silent_though_it_is_open(folder: Path, tmp_path: Path) -> None:
    async def story() -> None:
        outside = tmp_path / "lib" / "site-packages" / "dist.py"
        places = [folder / ".venv" / "a.py", folder / "third" / "party" / "b.py", outside]
        (folder / "npulint.toml").write_text('extend-exclude = ["third/party/"]\n')
        async with editing(folder) as editor:
            for path in places:
                path.parent.mkdir(parents=True)
                path.write_text(TRAIN)
                editor.open(path)
            editor.open(folder / "train.py")
            await shows(editor, folder / "train.py", [NCCL])
            for path in places:
                assert await editor.at(path, 1) == []
        inside = made(tmp_path / "venv")  # a workspace may be called so
        async with editing(inside) as editor:
            editor.open(inside / "train.py")
            await shows(editor, inside / "train.py", [NCCL])

    go(story())


def pulling() -> lsp.ClientCapabilities:
    capabilities = pushed()
    assert capabilities.text_document is not None
    capabilities.text_document.diagnostic = lsp.DiagnosticClientCapabilities(related_document_support=True)
    return capabilities


async def pulled(editor: Editor, uri: str, before: str | None = None) -> lsp.DocumentDiagnosticReport:
    params = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri), previous_result_id=before)
    return await editor.text_document_diagnostic_async(params)


def test_an_editor_that_asks_is_answered_and_not_told_twice(folder: Path) -> None:
    async def story() -> None:
        train, model = folder / "train.py", folder / "model.py"
        model.write_text("import torch.distributed as dist\n")
        async with editing(folder, capabilities=pulling()) as editor:
            assert editor.result is not None
            provider = editor.result.capabilities.diagnostic_provider
            assert provider is not None and provider.inter_file_dependencies and provider.workspace_diagnostics
            uri = editor.open(train)
            first = await pulled(editor, uri)
            assert isinstance(first, lsp.RelatedFullDocumentDiagnosticReport)
            assert NCCL in [short(one) for one in first.items]
            again = await pulled(editor, uri, first.result_id)
            assert isinstance(again, lsp.RelatedUnchangedDocumentDiagnosticReport)
            editor.rewrite(uri, TRAIN.replace("nccl", "hccl"))
            after = await pulled(editor, uri, first.result_id)
            assert isinstance(after, lsp.RelatedFullDocumentDiagnosticReport)
            assert NCCL not in [short(one) for one in after.items]
            assert [one for one in editor.published if one.uri == uri] == []
            editor.close(uri)
            gone = await pulled(editor, uri)
            assert isinstance(gone, lsp.RelatedFullDocumentDiagnosticReport) and gone.items == ()

    go(story())


def test_pulling_while_typing_answers_with_the_last_text(folder: Path) -> None:
    async def story() -> None:
        async with editing(folder, capabilities=pulling()) as editor:
            uri = editor.open(folder / "train.py")
            asked = []
            for number in range(20):
                editor.rewrite(uri, "\n" * number + TRAIN)
                asked.append(asyncio.ensure_future(pulled(editor, uri)))
            for answer in await asyncio.gather(*asked):
                assert isinstance(answer, lsp.RelatedFullDocumentDiagnosticReport)
            last = await pulled(editor, uri)
            assert isinstance(last, lsp.RelatedFullDocumentDiagnosticReport)
            assert "26:4-26:35 nccl-backend" in [short(one) for one in last.items]

    go(story())


def test_the_whole_workspace_on_request(folder: Path) -> None:
    async def story() -> None:
        second = folder / "second.py"
        second.write_text(TRAIN)
        async with editing(folder, capabilities=pulling(), options={"scope": "workspace"}) as editor:
            uri = editor.open(folder / "train.py")
            report = await editor.workspace_diagnostic_async(lsp.WorkspaceDiagnosticParams(previous_result_ids=[]))
            items = {item.uri: item for item in report.items}
            assert {uri, uri_of(str(second))} <= set(items)
            known = [lsp.PreviousResultId(item.uri, item.result_id or "") for item in report.items]
            known.append(lsp.PreviousResultId("file:///gone.py", "x"))
            report = await editor.workspace_diagnostic_async(lsp.WorkspaceDiagnosticParams(previous_result_ids=known))
            kinds = {item.uri: item.kind for item in report.items}
            assert kinds.pop("file:///gone.py") == "full"
            assert set(kinds.values()) == {"unchanged"}
            config = folder / "npulint.toml"
            config.write_text('ignore = ["nccl-backend"]\n')
            await pulled(editor, uri)
            editor.wrote(config)
            await editor.until(lambda: editor.refreshed)

    go(story())


CELLS = [
    "import torch, torch_npu\nimport torch.distributed as dist",
    "# 说明",
    '名 = "😀"; dist.init_process_group("nccl")',
]


def test_a_notebook_cell_by_cell(folder: Path) -> None:
    async def story() -> None:
        notebook = lsp.NotebookDocumentClientCapabilities(
            synchronization=lsp.NotebookDocumentSyncClientCapabilities(dynamic_registration=True)
        )
        async with editing(folder, capabilities=pushed(notebook_document=notebook)) as editor:
            uri = uri_of(str(folder / "a.ipynb"))
            addresses = [f"vscode-notebook-cell:/a.ipynb#W{number}" for number in range(3)]
            kinds = [lsp.NotebookCellKind.Code, lsp.NotebookCellKind.Markup, lsp.NotebookCellKind.Code]
            cells = [lsp.NotebookCell(kind, address) for kind, address in zip(kinds, addresses, strict=True)]
            texts = [
                lsp.TextDocumentItem(address, "python", 1, text) for address, text in zip(addresses, CELLS, strict=True)
            ]
            book = lsp.NotebookDocument(uri, "jupyter-notebook", 1, cells)
            editor.notebook_document_did_open(lsp.DidOpenNotebookDocumentParams(book, texts))

            def shown(number: int) -> list[str]:
                last = next((one for one in reversed(editor.published) if one.uri == addresses[number]), None)
                some = [] if last is None else [short(one) for one in last.diagnostics]
                return [one for one in some if one.endswith("nccl-backend")]

            await editor.until(lambda: shown(2) == ["0:10-0:41 nccl-backend"])
            assert shown(0) == shown(1) == []
            place = lsp.Position(0, 0)
            typed = lsp.NotebookDocumentCellContentChanges(
                lsp.VersionedTextDocumentIdentifier(2, addresses[2]),
                [lsp.TextDocumentContentChangePartial(range=lsp.Range(place, place), text="\n")],
            )
            change = lsp.NotebookDocumentChangeEvent(cells=lsp.NotebookDocumentCellChanges(text_content=[typed]))
            book_now = lsp.VersionedNotebookDocumentIdentifier(2, uri)
            editor.notebook_document_did_change(lsp.DidChangeNotebookDocumentParams(book_now, change))
            await editor.until(lambda: shown(2) == ["1:10-1:41 nccl-backend"])
            removed = lsp.NotebookDocumentCellChangeStructure(
                lsp.NotebookCellArrayChange(start=2, delete_count=1),
                did_close=[lsp.TextDocumentIdentifier(addresses[2])],
            )
            change = lsp.NotebookDocumentChangeEvent(cells=lsp.NotebookDocumentCellChanges(structure=removed))
            book_now = lsp.VersionedNotebookDocumentIdentifier(3, uri)
            editor.notebook_document_did_change(lsp.DidChangeNotebookDocumentParams(book_now, change))
            await editor.until(lambda: shown(2) == [])
            editor.notebook_document_did_close(
                lsp.DidCloseNotebookDocumentParams(
                    lsp.NotebookDocumentIdentifier(uri), [lsp.TextDocumentIdentifier(one) for one in addresses[:2]]
                )
            )

    go(story())

"""After any edits a client over stdio is shown what a fresh run says about the same texts, pushed or asked for."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from npulint.commands.check.pipeline import run
from npulint.judge.settings import Settings
from tests.server_support import Editor, editing, pushed, short

pytestmark = pytest.mark.slow

TRAIN = """\
import torch
import torch.distributed as dist
from model import Net, build


def main(rate=0.1):
    dist.init_process_group("nccl")
    model = build().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    for inputs in loader:
        loss = model(inputs.cuda()).sum()
        loss.backward()
        optimizer.step()
        print(loss.item())


if __name__ == "__main__":
    main()
"""
MODEL = """\
import torch


class Net(torch.nn.Module):
    def forward(self, inputs):
        return torch.nonzero(inputs).double()


def build():
    return Net()
"""
LINES = (
    "import torch_npu\n",
    "from torch_npu.contrib import transfer_to_npu\n",
    "x = 1\n",
    "# a comment\n",
    "\n",
    "torch.backends.cudnn.benchmark = True\n",
    "y = torch.ones(3).double()\n",
    "def half(:\n",
    "from model import *\n",
    "z = build().cuda()\n",
)
ROUNDS = 14


def fresh(folder: Path, path: Path) -> list[tuple[str, int]]:
    """What a run says about a file: names and lines."""
    found = run(Settings(paths=(str(folder),), cache=False)).findings
    return sorted((one.name, one.span.line) for one in found if Path(one.path) == path)


def edited(text: str, chance: random.Random) -> str:
    """A text with a line more or less, or exchanged for another one."""
    lines = text.splitlines(keepends=True)
    place = chance.randrange(len(lines) + 1)
    if chance.random() < 0.3 and place < len(lines):
        del lines[place]
    else:
        indent = lines[place][: len(lines[place]) - len(lines[place].lstrip())] if place < len(lines) else ""
        lines.insert(place, indent.strip("\n") + chance.choice(LINES))
    return "".join(lines)


async def asked(editor: Editor, uri: str) -> list[lsp.Diagnostic]:
    params = lsp.DocumentDiagnosticParams(lsp.TextDocumentIdentifier(uri))
    report = await editor.text_document_diagnostic_async(params)
    assert isinstance(report, lsp.RelatedFullDocumentDiagnosticReport)
    return list(report.items)


@pytest.mark.nightly
@pytest.mark.parametrize(("pulls", "seed"), [(False, 1), (True, 2)])
def test_random_edits_are_answered_as_by_a_fresh_run(
    pulls: bool, seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    paths = {name: folder / name for name in ("train.py", "model.py")}
    texts = {"train.py": TRAIN, "model.py": MODEL}
    good = dict(texts)
    capabilities = pushed()
    if pulls:
        assert capabilities.text_document is not None
        capabilities.text_document.diagnostic = lsp.DiagnosticClientCapabilities()
    chance = random.Random(seed)
    for name, text in texts.items():
        paths[name].write_text(text)

    async def story() -> None:
        async with editing(folder, capabilities=capabilities) as editor:
            uris = {name: editor.open(paths[name]) for name in texts}
            for number in range(ROUNDS):
                name = chance.choice(sorted(texts))
                for _ in range(chance.randrange(1, 4)):
                    texts[name] = edited(texts[name], chance)
                    version = editor.rewrite(uris[name], texts[name])
                    await asyncio.sleep(chance.choice((0, 0.05)))
                broken = _is_broken(texts[name])
                if broken and number % 2:  # so that later rounds are about code again
                    texts[name] = good[name]
                    version = editor.rewrite(uris[name], texts[name])
                    broken = False
                if not broken:
                    good[name] = texts[name]
                shown = await asked(editor, uris[name]) if pulls else await editor.at(paths[name], version)
                for one, text in texts.items():  # a run knows no last good facts
                    paths[one].write_text(text if one == name else good[one])
                expected = fresh(folder, paths[name])
                for one, text in texts.items():
                    paths[one].write_text(text)
                told = sorted((str(one.code), one.range.start.line + 1) for one in shown)
                assert told == expected, (number, [short(one) for one in shown])

    asyncio.run(asyncio.wait_for(story(), 240))


def _is_broken(text: str) -> bool:
    try:
        compile(text, "text", "exec")
    except SyntaxError:
        return True
    return False

"""A project with findings in several files, and the linters that report them."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

from npulint.api import check
from tests.tools import missing

ROOT = Path(__file__).parent.parent
NET = """\
\"\"\"The net.\"\"\"
import torch


def build(rank):
    \"\"\"Build it.\"\"\"
    torch.distributed.init_process_group("nccl")
    return torch.nn.Linear(4, 4).to(f"cuda:{rank}")
"""
TRAIN = """\
\"\"\"Trains.\"\"\"
import torch

from net import build

model = build(0)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for x, y in []:
    loss = torch.nn.functional.mse_loss(model(x.cuda()), y)
    loss.backward()
    optimizer.step()
"""
Place = tuple[str, int, str]
"""File, line, and code or name of a check."""
PLACES = {("net.py", 7, "NPU2182"), ("train.py", 9, "NPU2100")}
NAMES = {"NPU2182": "nccl-backend-to-migrate", "NPU2100": "cuda-not-migrated"}


def needs(linter: str) -> None:
    """End the test where the linter is not installed."""
    if importlib.util.find_spec(linter) is None:
        missing(linter)


def written(folder: Path, **changed: str) -> Path:
    """The project, with other texts for some of its files: ``npulint_toml="…"``."""
    texts = {"net_py": NET, "train_py": TRAIN, **changed}
    for name, text in texts.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def run(
    linter: str, folder: Path, *words: str, text: str = "", path: str = "", lang: str = "en"
) -> subprocess.CompletedProcess[str]:
    """The linter started in a folder, with standard input `text` and the modules in the folder `path` before npulint's
    own."""
    paths = os.pathsep.join(filter(None, (path, str(ROOT))))
    environ = {**os.environ, "PYTHONPATH": paths, "NPULINT_LANG": lang, "PYLINTHOME": str(folder / ".pylint")}
    command = [sys.executable, "-m", linter, *words]
    return subprocess.run(
        command, cwd=folder, env=environ, input=text, capture_output=True, text=True, check=False, timeout=300
    )


def places(folder: Path) -> set[Place]:
    """What npulint itself finds, without notes."""
    found = (one for one in check(folder).findings if one.severity != "note")
    return {(Path(one.path).name, one.span.line, one.code) for one in found}

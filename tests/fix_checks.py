"""Checks of our own whose fixes are easy to foresee, and a source that they speak of."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from textwrap import indent

from tests.catalogue_samples import AS_SEVERE, sample

EXAMPLES = """
  - bad: |
      import torch
      torch.{name}(1)  # expect
    fixed: |
{fixed}
  - bad: |
      import torch
      y = torch.{name}(1)  # expect
  - good: |
      import torch
  - good: |
      import torch
      torch.other(1)"""


def check(code: str, name: str, fixed: str, fix: str, severity: str = "error") -> str:
    """A check that reports every call of a torch function, and the fixed text of its first example."""
    return sample(
        code=code,
        topic="other",
        **AS_SEVERE[severity],
        find=f"{{call: torch.{name}}}",
        fix=fix,
        examples=EXAMPLES.format(name=name, fixed=indent(fixed, " " * 6)),
    )


CHECKS = {
    "run/safe-call.yaml": check(
        "NPU5190", "old_safe", "import torch\ntorch.safe(1)", "{applicability: safe, edits: [rename: torch.safe]}"
    ),
    "run/unsafe-call.yaml": check(
        "NPU5191",
        "old_unsafe",
        "import torch\nimport torch_npu\ntorch.new(1)",
        "{applicability: unsafe, edits: [{rename: torch.new}, {import: {what: import torch_npu, after: torch}}]}",
        "warning",
    ),
    "run/stuck-call.yaml": check(
        "NPU5192",
        "stuck",
        "import torch\ntorch.stuck(1)",
        "{applicability: safe, edits: [{argument: {name: nowhere, to: there}}]}",
    ),
    "run/hidden-call.yaml": check(
        "NPU5193",
        "minor",
        "import torch\ntorch.major(1)",
        "{applicability: safe, edits: [rename: torch.major]}",
        "note",
    ),
}
FOLDER = os.path.join(tempfile.gettempdir(), f"npulint-checks-of-tests-{os.getpid()}")
"""Where `in_folder` writes the checks: the same place for all tests of a process, so that they are compiled once."""


def in_folder() -> str:
    """The folder with these checks, written if it is not there."""
    for name, text in CHECKS.items():
        path = Path(FOLDER, name)
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return FOLDER


CODES = ("NPU5190", "NPU5191", "NPU5192", "NPU5193")
MODEL = "import torch\n\nx = torch.old_safe(1)  # 权重\ny = torch.old_unsafe(x)\n"
SAFE = MODEL.replace("old_safe", "safe")
WHOLE = SAFE.replace("import torch\n", "import torch\nimport torch_npu\n").replace("old_unsafe", "new")

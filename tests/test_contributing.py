"""The example of CONTRIBUTING.md is a recogniser that works, found by lying in its folder."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLE = re.findall(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.DOTALL)[0]
_PROGRAM = """
import sys
import npulint.recognizers.torch as package
package.__path__.append(sys.argv[1])  # as if the file lay in the package
from npulint.judge.catalogue.vocabulary import fact_kinds
from npulint.commands.check.pipeline import facts_of
words = fact_kinds()["seed"].attributes
print(sorted(words["generator"]), sorted(words["fixed"]))
for fact in facts_of("train.py"):
    if fact.kind == "seed":
        print(fact.name, fact.span.line, fact.get("generator"), fact.get("fixed"))
"""
_TRAIN = """
import torch
torch.manual_seed(0)
torch.npu.manual_seed(seed=int(input()))
"""


def test_the_example_is_a_recogniser(tmp_path: Path) -> None:
    (tmp_path / "area").mkdir()
    (tmp_path / "area" / "seeds.py").write_text(EXAMPLE, encoding="utf-8")
    (tmp_path / "train.py").write_text(_TRAIN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(tmp_path / "area")],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "['host', 'npu'] ['no', 'unknown', 'yes']",
        "torch.manual_seed 3 host yes",
        "torch.npu.manual_seed 4 npu unknown",
    ]


def test_the_example_is_short() -> None:
    assert len(EXAMPLE.splitlines()) <= 30

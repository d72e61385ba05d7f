"""Sample check files for the tests of the catalogue."""

from __future__ import annotations

from pathlib import Path

from npulint.core.errors import CatalogueProblem
from npulint.judge.catalogue.check import Check
from npulint.judge.catalogue.tables import parse_checks

_TEXT = """
  en:
    title: A variable in a map function
    message: "`{name}` runs in a map function"
    why: It runs on the host.
    fix: Create it outside.
  zh:
    title: 映射函数中的变量
    message: "映射函数中调用了 `{name}`"
    why: 它在主机侧执行。
    fix: 在函数之外创建。"""
_EXAMPLES = """
  - bad: |
      import tensorflow as tf
      w = tf.Variable(1.0)  # expect
  - good: |
      import tensorflow as tf"""
TWO_SIDED = """
  - bad:
      reference: |
        import torch
        rate = 0.1
      migrated: |
        import torch_npu
        rate = 0.2  # expect
  - good:
      reference: {train.py: "import torch", train.sh: "python train.py"}
      migrated: {train.py: "import torch_npu", train.sh: "python train.py"}"""

SAMPLE: dict[str, str] = {
    "code": " NPU1101",
    "since": ' "0.1"',
    "status": " stable",
    "topic": " variable_in_input_fn",
    "category": " functional",
    "consequence": " stops",
    "occurs": " always",
    "confidence": " high",
    "find": " {call: tensorflow.Variable, where: {in_input: yes}}",
    "text": _TEXT,
    "references": '\n  - {title: "Training cases", source: "https://example.org/cases"}',
    "examples": _EXAMPLES,
}


AS_SEVERE = {
    "error": {"consequence": "stops", "occurs": "always"},
    "warning": {"consequence": "stops", "occurs": "some-runs"},
    "note": {"consequence": "hygiene", "occurs": "always"},
}
"""What a sample with high confidence declares to be as severe."""

REASON = "{en: Both calls do the same., zh: 两个调用的作用相同。}"
"""Why a safe fix of a sample is safe."""


def sample(**changes: str | None) -> str:
    """A valid check file with some keys replaced, added or (None) left out; a safe fix has a reason."""
    if "applicability: safe" in (changes.get("fix") or ""):
        changes = {"safe": REASON, **changes}
    keys: dict[str, str | None] = {**SAMPLE, **{k: v if v is None else f" {v}" for k, v in changes.items()}}
    return "".join(f"{key}:{value}\n" for key, value in keys.items() if value is not None)


def parsed(text: str, family: str = "tensorflow", name: str = "a-check") -> Check:
    """The check of a text that must be valid."""
    (result,) = parse_checks(text.encode(), f"checks/{family}/{name}.yaml", family, name)
    assert result.check is not None, result.problems
    return result.check


def problems(text: str, family: str = "tensorflow", name: str = "a-check") -> tuple[CatalogueProblem, ...]:
    """What is wrong with a text."""
    (result,) = parse_checks(text.encode(), f"checks/{family}/{name}.yaml", family, name)
    assert (result.check is None) == bool(result.problems)
    return result.problems


def write(root: Path, relative: str, text: str) -> Path:
    """Write a file and the folders above it."""
    path = root / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path

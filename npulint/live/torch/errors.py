"""Errors of PyTorch live checks."""

from __future__ import annotations

from npulint.core.texts import say


class LiveError(RuntimeError):
    """A live check that is not possible; the text says why and what to do."""

    def __init__(self, reason: str, lang: str = "en", **values: object) -> None:
        super().__init__(say(lang, f"recording.{reason}", **values))
        self.reason = reason
        self.values = values


class FakeNpuError(RuntimeError):
    """An operation that the fake NPU does not support, or no NPU would."""

    def __init__(self, reason: str, op: str) -> None:
        super().__init__(f"{op}: {reason}")
        self.reason = reason
        self.op = op

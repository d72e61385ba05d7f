"""Why a live check of PyTorch cannot be made here, or not on the imaginary device."""

from __future__ import annotations

from npulint.texts import say


class LiveError(RuntimeError):
    """A live check that cannot be made; the text says why and what to do."""

    def __init__(self, reason: str, lang: str = "en", **values: object) -> None:
        super().__init__(say(lang, f"imaginary.{reason}", **values))
        self.reason = reason
        self.values = values


class FakeNpuError(RuntimeError):
    """Something that the imaginary device cannot do, or that no NPU would do."""

    def __init__(self, reason: str, op: str) -> None:
        super().__init__(f"{op}: {reason}")
        self.reason = reason
        self.op = op

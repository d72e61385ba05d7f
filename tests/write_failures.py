"""The system refuses to write."""

from __future__ import annotations

import os
from typing import Any

import pytest


def refuse(monkeypatch: pytest.MonkeyPatch, name: str, number: int) -> None:
    """Nothing can be created for the file of this name: the disk is full, the folder is read-only."""
    real = os.open

    def guarded(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if flags & os.O_CREAT and os.path.basename(os.fspath(path)).startswith(f".{name}."):
            raise OSError(number, os.strerror(number), path)
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", guarded)

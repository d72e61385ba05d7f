"""Recorded facts about TensorFlow, the NPU adapter and its operators; every table is read when first asked."""

from __future__ import annotations

from pathlib import Path


def table(name: str) -> bytes:
    """The raw content of a table of this package."""
    return (Path(__file__).parent / name).read_bytes()

"""Estimates the work of a port to the NPU: what ``npulint port`` does, what needs review, what needs a decision."""

from __future__ import annotations

from npulint.judge.effort.estimate import estimate
from npulint.judge.effort.model import Effort, FileEffort, Hours

__all__ = ["Effort", "FileEffort", "Hours", "estimate"]

"""Estimates the work of a port to the NPU: what ``npulint port`` does, what needs review, what needs a decision."""

from __future__ import annotations

from npulint.judge.effort.estimate import Effort, FileEffort, Hours, estimate

__all__ = ["Effort", "FileEffort", "Hours", "estimate"]

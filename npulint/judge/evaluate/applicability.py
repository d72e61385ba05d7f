"""Whether the fix of a finding is safe."""

from __future__ import annotations

from npulint.judge.findings import FixEdit


def applicability(fix_edits: tuple[FixEdit, ...]) -> str:
    """The applicability of a finding: unsafe if any fix is."""
    if not fix_edits:
        return "manual"
    return "unsafe" if any(change.applicability == "unsafe" for change in fix_edits) else "safe"

"""A run as numbers, for programs."""

from __future__ import annotations

from typing import Any

import msgspec

from npulint.run_summary import RunSummary


def run_record(run: RunSummary) -> dict[str, Any]:
    """One run with the keys of `npulint.findings.RunSummary`."""
    told: dict[str, Any] = _listed(msgspec.to_builtins(run))
    return told


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(part) for key, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, list | tuple) else value

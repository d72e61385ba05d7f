"""The step that a fix belongs to."""

from __future__ import annotations

from npulint.data.port_styles import topics
from npulint.discover.kinds import kinds_of
from npulint.judge.fix_results import Fixed

_OF_FILE = {"shell": "launch", "dependency": "environment", "dockerfile": "environment"}
_OTHERWISE = "libraries"


def step_of(fixed: Fixed) -> str:
    """The step of a fix: that of the file for launchers and requirements, else that of its topic."""
    for kind in kinds_of(fixed.path.rpartition("/")[2]):
        if kind in _OF_FILE:
            return _OF_FILE[kind]
    row = topics().get(fixed.finding.topic) if fixed.finding is not None else None
    return _OTHERWISE if row is None else row.step

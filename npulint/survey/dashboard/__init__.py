"""The dashboard of a survey: one self-contained page."""

from __future__ import annotations

import os

from npulint.survey.dashboard.page import page
from npulint.survey.model import Plan, Summed
from npulint.survey.parts import write_file

NAME = "index.html"


def write_dashboard(plan: Plan, summed: Summed) -> None:
    """Write the page of a survey. Raises `OSError`."""
    write_file(os.path.join(plan.out, NAME), page(summed, plan.lang).encode("utf-8", "backslashreplace"))

"""Writes tests/slow.txt, the tests that `./check --fast` leaves out, from the report of a run on an idle machine.

    ./check --junitxml=report.xml && python -m scripts.slow_tests report.xml

A test function stands there if its cases take more than 0.03 seconds on average, or all of them together more than
half a second."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

LIST = Path(__file__).resolve().parent.parent / "tests" / "slow.txt"
EACH, TOGETHER = 0.03, 0.5  # seconds


def slow_functions(report: str) -> list[str]:
    """The test functions of a JUnit report that take too long, as node ids, in order."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for case in ElementTree.fromstring(report).iter("testcase"):
        folder, module, *classes = case.get("classname", "").split(".")
        name = "::".join([f"{folder}/{module}.py", *classes, case.get("name", "").partition("[")[0]])
        seconds[name].append(float(case.get("time", 0)))
    return sorted(name for name, times in seconds.items() if sum(times) / len(times) > EACH or sum(times) > TOGETHER)


def main(path: str) -> None:
    """Replace the list."""
    LIST.write_text("".join(f"{name}\n" for name in slow_functions(Path(path).read_text("utf-8"))), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

"""Writes which tests are slow, from the report of a run on an idle machine.

    ./check --junitxml=report.xml -m "not nightly" && python -m scripts.measured_tests report.xml

tests/slow.txt has the test functions that `./check --fast` leaves out: their cases take more than 0.03 seconds on
average, or all of them together more than half a second. tests/nightly.txt has those that take more than 1.8 seconds,
with the number of cases that fit into that time: so many run each time, all of them at night. Functions that are not in
the report keep their lines. A test marked `daily` runs each time whatever it takes."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

TESTS = Path(__file__).resolve().parent.parent / "tests"
SLOW, NIGHTLY = TESTS / "slow.txt", TESTS / "nightly.txt"
EACH, TOGETHER, DAILY = 0.03, 0.5, 1.8  # seconds


def times_of(report: str) -> dict[str, list[float]]:
    """The seconds of the cases of each test function of a JUnit report, by node id."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for case in ElementTree.fromstring(report).iter("testcase"):
        folder, module, *classes = case.get("classname", "").split(".")
        name = "::".join([f"{folder}/{module}.py", *classes, case.get("name", "").partition("[")[0]])
        seconds[name].append(float(case.get("time", 0)))
    return dict(seconds)


def slow_functions(times: dict[str, list[float]]) -> list[str]:
    """The test functions that take too long while editing, in order."""
    return sorted(name for name, each in times.items() if sum(each) / len(each) > EACH or sum(each) > TOGETHER)


def daily_cases(times: dict[str, list[float]]) -> dict[str, int]:
    """How many cases of a test function run each time, for those that take too long."""
    return {name: int(DAILY / (sum(each) / len(each))) for name, each in times.items() if sum(each) > DAILY}


def limits(text: str) -> dict[str, int]:
    """The lines of tests/nightly.txt: the cases that run each time, by test function."""
    return {name: int(count) for name, count in (line.rsplit(maxsplit=1) for line in text.splitlines())}


def main(path: str) -> None:
    """Replace the lists."""
    times = times_of(Path(path).read_text("utf-8"))
    kept = [name for name in SLOW.read_text("utf-8").split() if name not in times]
    SLOW.write_text("".join(f"{name}\n" for name in sorted({*kept, *slow_functions(times)})), "utf-8")
    # of a function that is listed already, the report has only the cases that run each time
    daily = {**daily_cases(times), **limits(NIGHTLY.read_text("utf-8") if NIGHTLY.exists() else "")}
    NIGHTLY.write_text("".join(f"{name} {count}\n" for name, count in sorted(daily.items())), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])

"""The lists of tests that the fast and the daily run leave out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scripts.measured_tests import DAILY, NIGHTLY, SLOW, daily_cases, limits, slow_functions, times_of

ROOT = Path(__file__).parent.parent
_REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_one[x]" time="0.3"/>
<testcase classname="tests.test_a" name="test_one[y]" time="0.0"/>
<testcase classname="tests.test_a" name="test_quick" time="0.02"/>
{many}
</testsuite></testsuites>"""


def _times(seconds: float) -> dict[str, list[float]]:
    many = "".join(f'<testcase classname="tests.test_b" name="test_many[{n}]" time="{seconds}"/>' for n in range(60))
    return times_of(_REPORT.format(many=many))


def test_what_takes_long_each_time_or_together_is_slow() -> None:
    assert slow_functions(_times(0.02)) == ["tests/test_a.py::test_one", "tests/test_b.py::test_many"]


def test_as_many_cases_run_each_time_as_fit() -> None:
    assert daily_cases(_times(DAILY / 5)) == {"tests/test_b.py::test_many": 5}
    assert daily_cases(_times(0.02)) == {}


@pytest.mark.parametrize("path", [SLOW, NIGHTLY], ids=lambda path: path.name)
def test_each_listed_test_exists(path: Path) -> None:
    for line in path.read_text("utf-8").splitlines():
        module, name, *method = line.split()[0].split("::")
        pattern = rf"^(?:class )?{name}\b" if method else rf"^def {name}\b"
        assert re.search(pattern, (ROOT / module).read_text("utf-8"), re.MULTILINE), line


def test_the_number_of_cases_stands_behind_the_name() -> None:
    assert limits("tests/test_a.py::test_one 3\n") == {"tests/test_a.py::test_one": 3}

"""The list of tests that the fast run leaves out."""

from __future__ import annotations

import re
from pathlib import Path

from scripts.slow_tests import LIST, slow_functions

ROOT = Path(__file__).parent.parent
_REPORT = """<testsuites><testsuite>
<testcase classname="tests.test_a" name="test_one[x]" time="0.3"/>
<testcase classname="tests.test_a" name="test_one[y]" time="0.0"/>
<testcase classname="tests.test_a" name="test_quick" time="0.02"/>
{many}
</testsuite></testsuites>"""


def test_what_takes_long_each_time_or_together_is_slow() -> None:
    many = "".join(f'<testcase classname="tests.test_b" name="test_many[{n}]" time="0.02"/>' for n in range(60))
    assert slow_functions(_REPORT.format(many=many)) == ["tests/test_a.py::test_one", "tests/test_b.py::test_many"]


def test_each_listed_test_exists() -> None:
    for line in LIST.read_text("utf-8").splitlines():
        path, name, *method = line.split("::")
        pattern = rf"^(?:class )?{name}\b" if method else rf"^def {name}\b"
        assert re.search(pattern, (ROOT / path).read_text("utf-8"), re.MULTILINE), line

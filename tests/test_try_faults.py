"""What an NPU would stop at ends a trial with an error at its line, in programs of different styles."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npulint.hosts.cli.main import main
from tests.daily import parameters
from tests.live_support import installed, line_of
from tests.try_faults import FAULTS

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed("torch")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_LANG", "en")


@pytest.mark.parametrize("name", parameters(FAULTS, str, per_group=2))
def test_what_stops_on_an_npu_is_an_error_at_its_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = FAULTS[name]
    path = tmp_path / "train.py"
    path.write_text(fault.program)
    code = main(["try", "--format", "json", "--isolated", *fault.options, "train.py"])
    told = capsys.readouterr()
    errors = [one for one in json.loads(told.out)["findings"] if one["severity"] == "error"]
    assert code == 1, told.err
    assert [(one["path"], one["line"]) for one in errors] == [("train.py", line_of(path, "# here"))]
    assert {one["code"] for one in errors} <= fault.codes

"""The history of releases, the chart that shows it, and the shares of the stages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import history, stages
from scripts import performance_chart

ROOT = Path(__file__).resolve().parent.parent
_ROW = history.Row("1.0.0", "2026-01-02", "3.11", 6.25, 0.5, 9.0)


def test_the_chart_shows_the_recorded_history() -> None:
    assert performance_chart.CHART.read_text(encoding="utf-8") == performance_chart.drawn(history.read()), (
        "run python -m scripts.performance_chart"
    )


def test_the_history_has_rows_in_order_of_their_dates_as_they_are_written() -> None:
    rows = history.read()
    assert rows
    assert history.FILE.read_text(encoding="utf-8") == history.written(rows)


def test_a_row_replaces_that_of_the_same_day_release_and_python(tmp_path: Path) -> None:
    file = tmp_path / "history.csv"
    others = [_ROW._replace(date="2026-01-01"), _ROW._replace(python="3.12"), _ROW._replace(version="0.9.0")]
    for row in (_ROW, *others, _ROW._replace(cold=5.0)):
        history.record(row, file)
    found = history.read(file)
    assert len(found) == 4
    assert [row.cold for row in found if row[:3] == _ROW[:3]] == [5.0]
    assert found[0].date == "2026-01-01"


def test_the_bars_of_the_chart_are_in_proportion() -> None:
    rows = [_ROW, _ROW._replace(version="1.1.0 <b>", cold=12.5, cached=1.0)]
    picture = ElementTree.fromstring(performance_chart.drawn(rows))
    bars = [one for one in picture.iter("{http://www.w3.org/2000/svg}rect") if one.get("height") == "14"]
    widths = [float(one.get("width", "0")) for one in bars]
    assert widths[2] == pytest.approx(2 * widths[0], abs=0.2)
    assert widths[3] == pytest.approx(2 * widths[1], abs=0.2)
    assert any("1.1.0 <b>" in (one.text or "") for one in picture.iter("{http://www.w3.org/2000/svg}text"))


def test_the_innermost_stage_is_charged() -> None:
    moments = iter([1.0, 3.0, 7.0, 12.0, 20.0])
    clock = stages.Clock("import", now=lambda: next(moments))
    inner = clock.within("parse", lambda: "tree")
    assert clock.within("walk", inner)() == "tree"
    clock.charge()
    assert clock.spent == {"import": 1.0 + 8.0, "walk": 2.0 + 5.0, "parse": 4.0}


def test_a_stage_ends_where_its_work_fails() -> None:
    clock = stages.Clock("other", now=iter([1.0, 2.0, 4.0]).__next__)
    with pytest.raises(ZeroDivisionError):
        clock.within("read", lambda: 1 / 0)()
    clock.charge()
    assert clock.spent == {"other": 1.0 + 2.0, "read": 1.0}


def test_folders_are_divided_by_the_framework_that_most_of_their_files_import(tmp_path: Path) -> None:
    files = {
        "a/x.py": "import torch\n",
        "a/y.py": "from torch import nn\nimport tensorflow\n",
        "b/x.py": "import tensorflow as tf\n",
        "c/x.py": "import torchlight\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = stages.by_framework(tmp_path)
    assert found == {"torch": [str(tmp_path / "a")], "tensorflow": [str(tmp_path / "b")]}


def test_every_share_has_its_line() -> None:
    spent = dict.fromkeys(stages.STAGES, 0.0) | {"parse": 1.0, "walk": 3.0}
    lines = stages.as_text({"torch": spent}).splitlines()
    assert [line.split()[0] for line in lines[1:]] == [*stages.STAGES, "seconds"]
    assert lines[1 + stages.STAGES.index("walk")].split() == ["walk", "75.0%"]


@pytest.mark.slow
def test_each_stage_of_a_check_takes_time(new_cache: Path) -> None:
    sample = ROOT / "examples" / "denoiser"
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "stages.py"), str(sample)],
        env={"PYTHONPATH": str(ROOT), "NPULINT_CACHE_DIR": str(new_cache)},
        capture_output=True,
        text=True,
        check=True,
    )
    spent = json.loads(done.stdout)
    assert list(spent) == list(stages.STAGES)
    assert {stage for stage, seconds in spent.items() if not seconds} <= {"shell"}

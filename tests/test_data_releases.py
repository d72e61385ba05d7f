"""All tables are read against one list of releases (data-src/releases.csv), and a new release needs a line there."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from npulint.data import aten, torch_api
from npulint.data.releases import torch_releases
from scripts.release_ranges import Range, parse
from scripts.source_tables import listed, ranges, rows

ROOT = Path(__file__).parent.parent
PARTS = ("kernels", "interfaces")
TABLES = [("aten_ops.csv", "kernels", "kernels"), ("torch_api.csv", "documented", "interfaces")]
NEWEST = listed("torch_npu")[-1]
NEXT = f"2.{int(NEWEST.partition('.')[2]) + 1}"


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.removeprefix("r").split("."))


@pytest.mark.parametrize("product", ["torch_npu", "tensorflow_adapter", "tensorflow"])
def test_the_list_is_in_order_and_says_where_each_release_is_from(product: str) -> None:
    releases = [release for release in listed(product) if release != "2026"]
    assert releases == sorted(set(releases), key=_numbers)
    assert all(row["source"] for row in rows("releases.csv"))


def test_the_tables_of_pytorch_know_the_newest_release_and_one_dispatcher() -> None:
    assert [listed("torch_npu", part)[-1] for part in PARTS] == [NEWEST, NEWEST]
    assert listed("torch_npu", "kernels") == listed("torch_npu")
    assert len(listed("torch_npu", "dispatcher")) == 1
    for part in (*PARTS, "dispatcher"):
        assert [".".join(map(str, one)) for one in torch_releases(part)] == listed("torch_npu", part)


@pytest.mark.parametrize(("name", "column", "part"), TABLES)
def test_every_table_covers_the_list(name: str, column: str, part: str) -> None:
    """Every release that is recorded has rows, none of which closes a range at the newest one (`ranges` refuses)."""
    covered = {at for found in ranges(name, column, "torch_npu", part) for one in found for at in _places(one)}
    assert covered == set(range(len(listed("torch_npu", part))))
    assert not [row for row in rows(name) if row[column].rpartition(":")[0].endswith(f"-{NEWEST}")]


def _places(one: Range) -> range:
    return range(one.first, one.last + 1)


def test_ranges_are_read_against_the_list() -> None:
    releases = ["2.1", "2.6", "2.7", "2.8"]
    assert parse("", releases) == []
    assert parse("2.1:no;2.7-:yes", releases) == [Range(0, 0, "no"), Range(2, 3, "yes")]
    assert parse("2.1-2.7:acl_op", releases) == [Range(0, 2, "acl_op")]
    assert parse("2.8-:no", releases) == [Range(3, 3, "no")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2.2:no", "release '2.2' is not in releases.csv"),
        ("2.1-2.9:no", "release '2.9' is not in releases.csv"),
        ("2.1-2.8:no", "'2.1-2.8' ends at the newest release: write '2.1-'"),
        ("2.8:no", "'2.8' ends at the newest release: write '2.8-'"),
        ("2.7-2.6:no", "'2.7-2.6' is no range"),
        ("2.6-2.6:no", "'2.6-2.6' is no range"),
        ("2.1-2.6:no;2.6-:yes", "'2.6-' does not follow the range before it"),
        ("2.1-:no;2.7:yes", "'2.7' does not follow the range before it"),
        ("2.1-", "'2.1-' is not a range with a word"),
        ("2.1:no;", "'' is not a range with a word"),
    ],
)
def test_a_mistake_in_a_range_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message.replace(".", r"\.")):
        parse(text, ["2.1", "2.6", "2.7", "2.8"])


# --- a copy of the tables, changed and built again ---


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for part in ("data-src", "scripts", "npulint", "checks/messages"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def _built(copy: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(copy / "scripts" / "build_data.py")]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=copy)


def _change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


_ASK = """
import json, sys
from npulint.data import aten, torch_api
ops = [f"{space}.{base}.{overload or 'default'}" for space, bases in aten._table().ops.items()
       for base, overloads in bases.items() for overload in overloads]
chips = ("", "910A", "910B", "950")
def verdict(op, chip):
    return repr(aten.verdict(op, sys.argv[1], chip))
apis = {name: (torch_api.support(api, sys.argv[1]), torch_api.kernel(api, sys.argv[1]), torch_api.added(api),
               torch_api.refused(api)) for name, api in torch_api._table().items()}
verdicts = {f"{op} {chip}": verdict(op, chip) for op in ops for chip in chips}
print(json.dumps([aten.nearest(sys.argv[1]), verdicts, apis]))
"""


def _answers(root: Path, release: str) -> Any:
    """What all tables of PyTorch below `root` answer for a release."""
    command = [sys.executable, "-c", _ASK, release]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=root)
    return json.loads(done.stdout)


@pytest.mark.slow
def test_a_new_release_needs_a_line_in_the_list_and_no_other(copy: Path) -> None:
    nearest, verdicts, apis = _answers(ROOT, NEWEST)
    line = next(
        line for line in (copy / "data-src/releases.csv").read_text().split("\n") if f"torch_npu,{NEWEST}," in line
    )
    added = f"torch_npu,{NEXT},,kernels interfaces dispatcher,a fictitious release"
    _change(copy / "data-src" / "releases.csv", line, line.replace(" dispatcher,", ",") + "\n" + added)
    done = _built(copy)
    assert (done.returncode, done.stdout) == (0, "written: releases.json, torch_api.json\n")
    found, new_verdicts, new_apis = _answers(copy, NEXT)
    assert [nearest, found] == [[int(part) for part in one.split(".")] for one in (NEWEST, NEXT)]
    assert new_verdicts == verdicts
    longer = {name: [*rest, refused.replace(f"-{NEWEST}", f"-{NEXT}")] for name, (*rest, refused) in apis.items()}
    assert new_apis == longer


@pytest.mark.nightly
@pytest.mark.slow
def test_without_its_dispatcher_a_new_release_is_judged_by_the_recorded_one(copy: Path) -> None:
    path = copy / "data-src" / "releases.csv"
    path.write_text(path.read_text() + f"torch_npu,{NEXT},,kernels interfaces,a fictitious release\n")
    assert _built(copy).returncode == 0
    _, verdicts, _ = _answers(ROOT, NEWEST)
    _, found, _ = _answers(copy, NEXT)
    exact, loose = "exact=True", "exact=False"
    assert {key: text.replace(exact, loose) for key, text in found.items()} == {
        key: text.replace(exact, loose) for key, text in verdicts.items()
    }
    assert found != verdicts


# table, the row's first cells, what is written in place of the last of them, what is said
_MISTAKES = [
    ("aten_ops.csv", "aten.zeros.out,generic,,2.1-:both", "2.0:both", "release '2.0' is not in releases.csv"),
    ("torch_api.csv", "torch.Tensor.chalf,2.1-:no", "2.1-2.2:no", "release '2.2' is not in releases.csv"),
    ("torch_api.csv", "torch.Tensor.chalf,2.1-:no", f"2.1-{NEWEST}:no", "ends at the newest release: write '2.1-'"),
    ("tf_op_places.csv", "Abs,device,yes,plugin,,1.15", "2.7", "release '2.7' is not in releases.csv"),
    ("tf_api.csv", "bitwise.left_shift,both,", "gpu:2:x,newer,operator,LeftShift,x,2.99,2.0,list", "release '2.99'"),
]


@pytest.mark.parametrize(("name", "cells", "wrong", "message"), _MISTAKES)
def test_a_mistake_in_a_table_is_refused_with_its_row(
    copy: Path, name: str, cells: str, wrong: str, message: str
) -> None:
    kept, _, last = cells.rpartition(",")
    rest = next(r for r in (copy / "data-src" / name).read_text().split("\n") if r.startswith(cells))[len(cells) :]
    _change(copy / "data-src" / name, f"\n{cells}{rest}\n", f"\n{kept},{wrong}{rest if last else ''}\n")
    row = next(at for at, row in enumerate(rows(name)) if next(iter(row.values())) == cells.partition(",")[0])
    done = _built(copy)
    assert done.returncode == 1
    assert done.stderr.startswith(f"data-src/{name}, row {row + 2}: ") and message in done.stderr


def test_what_was_recorded_answers_for_the_newest_release_without_naming_it() -> None:
    assert aten.verdict("aten.add.Tensor", "") == aten.verdict("aten.add.Tensor", NEWEST)
    found = torch_api.find("torch.Tensor.chalf")
    assert found is not None and torch_api.refused(found[1]) == f"2.1-{NEWEST}"

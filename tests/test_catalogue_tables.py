"""Tables of checks: what rows become with what they share, and every mistake at its line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from npulint.core.errors import CatalogueError
from npulint.judge.catalogue.check import Check
from npulint.judge.catalogue.load import load_catalogue, load_files
from npulint.judge.catalogue.schema import Parsed
from npulint.judge.catalogue.sources import builtin_directory
from npulint.judge.catalogue.tables import MAX_ROWS, names_in, parse_checks
from tests.catalogue_samples import SAMPLE, parsed, sample, write

TABLES = sorted(
    path.relative_to(builtin_directory()).as_posix()
    for path in Path(builtin_directory()).rglob("*.yaml")
    if re.search(r"^shared:", path.read_text(encoding="utf-8"), re.MULTILINE)
)
_OWN = ("code", "find", "text", "examples")
_LONGEST = 620  # lines that a reader still finds the way in


def indented(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.splitlines())


def keys(*names: str, **changes: str) -> str:
    """Lines of the sample: some keys with their values, some of which may be others."""
    texts = {name: SAMPLE[name] for name in names} | {name: f" {text}" for name, text in changes.items()}
    return indented("".join(f"{name}:{text}\n" for name, text in texts.items()))


SHARED = "shared:\n" + keys(*(name for name in SAMPLE if name not in _OWN))
FIRST = "first-row:\n" + keys(*_OWN)
SECOND = "second-row:\n" + keys(*_OWN, code="NPU1102", occurs="if-chosen")
TABLE = SHARED + FIRST + SECOND


def read(text: str) -> tuple[Parsed, ...]:
    return parse_checks(text.encode(), "checks/tensorflow/own.yaml", "tensorflow", "own")


def checks(text: str) -> list[Check]:
    assert mistakes(text) == []
    return [row.check for row in read(text) if row.check is not None]


def mistakes(text: str) -> list[str]:
    return [str(problem) for row in read(text) for problem in row.problems]


def line_of(text: str, part: str) -> int:
    """The line that contains a part of a text for the first time."""
    return text[: text.index(part)].count("\n") + 1


def test_a_row_is_the_check_that_a_file_would_be() -> None:
    first, second = checks(TABLE)
    assert first == parsed(sample(), name="first-row")
    assert second == parsed(sample(code="NPU1102", occurs="if-chosen"), name="second-row")


def test_a_file_without_shared_keys_is_a_single_check() -> None:
    assert [check.name for check in checks(sample())] == ["own"]
    assert names_in(sample().encode()) == names_in(b"shared: [") == names_in(b"- shared") == ()
    assert names_in(TABLE.encode()) == ("first-row", "second-row")


def test_a_row_is_merged_with_what_it_shares_at_every_depth() -> None:
    shared = SHARED + keys(
        applies="{framework: tensorflow, soc: [910A], trains: true}",
        find="{call: any, where: {in_input: yes, in_loop: yes}, args: {name: present}}",
    )
    own = "row:\n" + keys(
        "code",
        "text",
        "examples",
        applies="{soc: [910B, 910C]}",
        find="{call: tensorflow.Variable, where: {in_loop: no}}",
    )
    applies = "{framework: tensorflow, soc: [910B, 910C], trains: true}"
    find = "{call: tensorflow.Variable, where: {in_input: yes, in_loop: no}, args: {name: present}}"
    assert checks(shared + own) == [parsed(sample(applies=applies, find=find), name="row")]


def test_parts_of_texts_may_be_shared() -> None:
    why = "    why: It runs on the host.\n"
    shared = SHARED + "  text:\n    en:\n  " + why
    assert checks(shared + FIRST.replace("  " + why, "", 1)) == [parsed(sample(), name="first-row")]


@pytest.mark.parametrize(
    ("old", "new", "at", "message"),
    [
        ("occurs: always", "occurs: never", "never", "occurs: 'never' is not one of"),
        ("  occurs: always", "  occours: always", "occours", "check: unknown key 'occours'"),
        ("occurs: if-chosen", "occurs: never", "never", "occurs: 'never' is not one of"),
        ("  occurs: if-chosen", "  occours: if-chosen", "occours", "check: unknown key 'occours'"),
        ("second-row:", "Second:", "Second:", "the name 'Second' must be in kebab case"),
        ("  code: NPU1102\n", "", "second-row:", "check: the key 'code' is missing"),
        ("code: NPU1102", "code: NPU2102", "NPU2102", "code: the first digit of tensorflow checks is 1"),
        ("second-row:", "first-row:", "second-row:", "'first-row' is given twice"),
        (SECOND, "second-row: none\n", "second-row:", "check must be a mapping"),
        (SECOND, "second-row:\n", "second-row:", "check must be a mapping"),
        (SHARED, "shared: []\n", "shared:", "shared must be a mapping"),
        (FIRST + SECOND, "", "shared:", "the table has no rows"),
    ],
)
def test_a_mistake_is_reported_once_at_its_line(old: str, new: str, at: str, message: str) -> None:
    assert TABLE.count(old) == 1
    text = TABLE.replace(old, new)
    line = line_of(text if at in text else TABLE, at)
    problems = [problem for problem in mistakes(text) if message in problem]
    assert len(problems) == 1
    assert problems[0].startswith(f"checks/tensorflow/own.yaml:{line}:"), problems


def test_a_text_without_a_part_is_reported_in_its_row() -> None:
    text = TABLE.replace(SECOND, SECOND.replace("      fix: Create it outside.\n", ""))
    title = text.split("\n").index("      title: A variable in a map function", line_of(text, "second-row:")) + 1
    assert mistakes(text) == [f"checks/tensorflow/own.yaml:{title}:7: text.en: the key 'fix' is missing"]


def test_a_table_has_no_more_rows_than_can_be_read_quickly() -> None:
    rows = "".join(f"row-{number}: {{}}\n" for number in range(MAX_ROWS + 1))
    assert mistakes(SHARED + rows) == [f"checks/tensorflow/own.yaml:1:1: the table has more than {MAX_ROWS} rows"]


def test_rows_clash_with_files_and_with_one_another(tmp_path: Path) -> None:
    write(tmp_path, "tensorflow/own.yaml", TABLE.replace("NPU1102", "NPU1101"))
    write(tmp_path, "tensorflow/second-row.yaml", sample(code="NPU1103"))
    with pytest.raises(CatalogueError) as caught:
        load_files([str(tmp_path)])
    path = tmp_path / "tensorflow" / "own.yaml"
    first, second = line_of(TABLE, "first-row:"), line_of(TABLE, "second-row:")
    assert str(caught.value).split("\n") == [
        f"{path}:{second + 1}:9: code: NPU1101 belongs to {path}:{first}",
        f"{tmp_path}/tensorflow/second-row.yaml:1:1: the name 'second-row' belongs to {path}:{second}",
    ]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_several_rows_that_share_something_and_an_end(table: str) -> None:
    path = Path(builtin_directory()) / table
    assert len(names_in(path.read_bytes())) >= 3
    assert path.read_text(encoding="utf-8").count("\n") <= _LONGEST


def test_tables_are_not_named_like_checks() -> None:
    assert {check.name for check in load_catalogue().checks}.isdisjoint(Path(table).stem for table in TABLES)

"""Tables of profilers, row by row: headings of all generations, and what people and tools do to files."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.data.run_columns import FORMS, columns, form_of_header, plain, understand
from npulint.runs.read.rows import CELL, LINE, Row, Seen, header_cells, rows

KEYS = ("type", "duration_us", "block", "in_shapes")
HEADERS = {
    2020: "op_name,op_type,task_duration,block_dim,input_shape,input_data_type,input_formats",
    2021: "Model ID,Op Name,OP Type,Task Duration(us),Block Dim,Input Shapes",
    2023: "Step Id,Name,Type,Accelerator Core,Duration(us),Block Dim,Mix Block Dim,Input Shapes",
    2024: "Op Name,OP Type,OP State,Task Type,Task Duration(us),Block Dim,Input Shapes",
    2026: "Device_id,Op Name,OP Type,Task Type,Task Duration(us),Block Num,Mix Block Num,Input Shapes",
}


def read(
    data: bytes | str, form: str = "kernel_table", wanted: tuple[str, ...] = KEYS
) -> tuple[list[tuple[int, Row]], Seen]:
    seen = Seen(form)
    raw = data.encode() if isinstance(data, str) else data
    return list(rows(io.BytesIO(raw), form, wanted, seen)), seen


def line_for(header: str) -> str:
    values = {"type": "ReduceSum", "duration_us": "12.5", "block": "1", "in_shapes": '"""1,256,256,3"""'}
    places = {place: key for key, place in understand("kernel_table", header.split(",")).positions.items()}
    return ",".join(values.get(places.get(place, ""), "0") for place in range(len(header.split(","))))


@pytest.mark.parametrize(("year", "header"), HEADERS.items())
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_every_generation_gives_the_same_row(year: int, header: str, end: str, mark: str) -> None:
    found, seen = read(mark + header + end + line_for(header) + end)
    assert found == [
        (2, Row({"type": "ReduceSum", "in_shapes": "1,256,256,3"}, {"duration_us": 12.5, "block": 1.0})),
    ]
    assert (seen.generation, seen.rows, seen.malformed, seen.columns) == (year, 1, 0, KEYS)
    assert form_of_header(header_cells(mark + header)) == "kernel_table"


def table(*lines: str) -> str:
    return "\n".join(("Name,Type,Accelerator Core,Duration(us),Block Dim,Input Shapes", *lines)) + "\n"


def test_malformed_rows_are_counted_and_left_out() -> None:
    good = "a,Add,AI_CORE,1.5,2,x"
    found, seen = read(table(good, "a,Add,AI_CORE,1.5", "a,Add,1.5,AI_CORE,2,x", "", good, "a,Add,AI_CORE,nan,2,x"))
    assert [line for line, _ in found] == [2, 6]
    assert (seen.rows, seen.malformed, seen.first_malformed) == (2, 3, 3)


@pytest.mark.parametrize("cell", ["N/A", "", " \t"])
def test_a_number_that_is_not_given_is_no_mistake_unless_it_is_needed(cell: str) -> None:
    found, seen = read(table(f"a,Add,AI_CORE,1.5,{cell},x"))
    assert found[0][1].number == {"duration_us": 1.5}
    assert read(table(f"a,Add,AI_CORE,{cell},1,x"))[1].malformed == 1
    assert seen.malformed == 0


def test_tabs_quotes_nul_and_blanks_around_cells_do_not_count() -> None:
    found, _ = read(table('a, Add\t,AI_CORE,"1736408883704643.212\t",\x00 4 ,"""1,2"""'))
    assert found[0][1] == Row({"type": "Add", "in_shapes": "1,2"}, {"duration_us": 1736408883704643.2, "block": 4.0})


def test_lines_are_those_of_the_file_although_cells_have_several() -> None:
    text = 'Name,Call Stack,Host Total Duration(us),Device Total Duration(us)\n"a","x(1): f;\r\ny(2): g",1,2\nb,z,3,4\n'
    found, _ = read("\n\n" + text, "operator_details", ("name", "stack", "host_total_us"))
    assert [(line, row.text["name"]) for line, row in found] == [(4, "a"), (6, "b")]
    assert found[0][1].text["stack"] == "x(1): f;\r\ny(2): g"


def test_gb18030_is_read_where_utf_8_fails() -> None:
    found, _ = read(table("甲,算子,AI_CORE,1,1,x").encode("gb18030") + "b,算子,AI_CORE,1,1,x\n".encode())
    assert [row.text["type"] for _, row in found] == ["算子", "算子"]


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_other_delimiters_of_spreadsheets(delimiter: str) -> None:
    found, _ = read(table("a,Add,AI_CORE,1.5,2,x").replace(",", delimiter))
    assert found[0][1].number == {"duration_us": 1.5, "block": 2.0}


def test_a_repeated_header_is_no_row_and_no_mistake() -> None:
    one = table("a,Add,AI_CORE,1.5,2,x")
    found, seen = read(one + one)
    assert ([line for line, _ in found], seen.malformed) == ([2, 4], 0)


def test_a_header_without_a_needed_column_gives_no_row() -> None:
    found, seen = read("Name,Type\na,Add\n")
    assert (found, seen.missing, seen.rows) == ([], ("duration_us",), 0)
    assert read(b"") == ([], Seen("kernel_table", missing=("type", "duration_us")))


def test_of_equal_headings_the_first_counts() -> None:
    header = understand("kernel_table", ["Type", "Duration(us)", "Block Dim", "Block Dim"])
    assert header.positions["block"] == 2


def test_a_quote_that_never_ends_costs_its_part_of_the_table_only() -> None:
    lines = ['a,"Add,AI_CORE,1.5,2,x', *["a,Add,AI_CORE,1.5,2,x"] * 20_000]
    found, seen = read(table(*lines))
    assert (seen.malformed, seen.first_malformed) == (1, 2)
    assert len(found) > 10_000 and found[-1][0] == 20_002


def test_long_cells_and_lines_are_cut() -> None:
    found, seen = read(
        table(f"a,{'A' * 100_000},AI_CORE,1.5,2,x", f"a,{'A' * (2 * LINE)},AI_CORE,1.5,2,x", "a,B,C,1,2,x")
    )
    assert [(line, len(row.text["type"])) for line, row in found] == [(2, CELL), (4, 1)]
    assert seen.first_malformed == 3


def test_extra_cells_at_the_end_count_only_when_something_is_in_them() -> None:
    found, seen = read(table("a,Add,AI_CORE,1.5,2,x,,", "a,Add,AI_CORE,1.5,2,x,1"))
    assert (len(found), seen.malformed) == (1, 1)


def test_each_form_is_recognised_by_its_own_columns() -> None:
    for form in FORMS:
        names = [column.spellings[0][0] for column in columns()[form]]
        assert form_of_header(names) == form
    assert set(FORMS) == set(columns())
    assert form_of_header(["file", "licence"]) == ""


def test_spellings_of_a_column_are_no_other_columns_of_the_form() -> None:
    for form, found in columns().items():
        spelled: dict[str, str] = {}
        for column in found:
            for spelling, _ in column.spellings if column.key != "any" else ():
                assert spelled.setdefault(plain(spelling), column.key) == column.key, (form, spelling)


@given(st.binary(max_size=400))
def test_nothing_in_a_file_raises(data: bytes) -> None:
    for start in (b"", table().encode()):
        found, seen = read(start + data)
        assert seen.rows == len(found)
        assert all(line > 0 for line, _ in found)

"""What the reports say of a comparison, against recorded ones in both languages. After a wanted change run this file as
a script (``python -m tests.test_compare_reports``) and read the difference."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from npulint import __version__
from npulint.facts.model import Span
from npulint.judge.findings import (
    ComparedItem,
    ComparedPair,
    ComparedPart,
    ComparedRow,
    ComparedSide,
    Comparison,
    Evidence,
    Related,
    RunResult,
    Summary,
)
from npulint.judge.settings import FORMATS, PEOPLE_FORMATS
from npulint.report.compared.document import way
from npulint.report.compared.rows import ShortSidePaths, alone, differing_first, with_other_sides
from npulint.report.document.text import Line, fold, row_lines, widths
from npulint.report.terminal import Paint, cells
from npulint.report.view import ReportView, render
from tests import hostile_results
from tests.comparison_samples import LAUNCHER, compared, comparison, findings, row, side, source
from tests.sarif_support import demands, violations
from tests.surface_support import sample
from tests.test_report_formats import without_assets

GOLDEN = Path(__file__).parent / "golden"
CASES = [(name, lang) for name in ("text", "markdown", "html", "json", "jsonl", "sarif") for lang in ("en", "zh")]
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


def shown(format_name: str, lang: str, result: RunResult | None = None, **view: Any) -> str:
    lowest = "warning" if format_name in PEOPLE_FORMATS else "note"
    asked = ReportView(**{"lang": lang, "shown_from": lowest, "lines": source, "comparing": True, **view})
    text = render(format_name, compared() if result is None else result, asked)
    text = text.replace(f'"{__version__}"', '"VERSION"')
    return without_assets(text) if format_name == "html" else text


@pytest.mark.parametrize(("format_name", "lang"), CASES)
def test_report_is_as_recorded(format_name: str, lang: str) -> None:
    assert shown(format_name, lang) == (GOLDEN / f"compare.{format_name}.{lang}").read_text(encoding="utf-8")


@pytest.mark.parametrize("format_name", FORMATS)
def test_every_format_carries_the_findings(format_name: str) -> None:
    text = shown(format_name, "en")
    for name, code in (("preprocessing-removed", "NPU6211"), ("learning-rate-differs", "NPU6201")):
        assert name in text or code in text


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("verbose", [False, True])
def test_a_run_without_a_reference_says_nothing_of_one(format_name: str, verbose: bool) -> None:
    text = render(format_name, sample(), ReportView(verbose=verbose))
    assert not re.search('Pre-tuning|"comparison"|"compared"', text)
    code = f"import sys; sys.path.insert(0, {str(GOLDEN.parent.parent)!r}); "
    code += "from npulint.report.view import ReportView, render; from npulint.judge.findings import RunResult; "
    code += (
        f"render({format_name!r}, RunResult(), ReportView()); print([m for m in sys.modules if 'report.compared' in m])"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# the terminal


@pytest.mark.parametrize("width", [40, 60, 63, 64, 80, 100, 120])
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("verbose", [False, True])
def test_the_checklist_keeps_within_the_terminal(width: int, lang: str, verbose: bool) -> None:
    text = shown("text", lang, compared(findings=[]), width=width, verbose=verbose)
    lines = text.split("\n")[:-3]
    assert max(map(cells, lines)) <= width, max(lines, key=cells)
    assert len(lines) > 30


def test_columns_stand_below_each_other_whatever_the_characters() -> None:
    items = (ComparedItem("data", "数据", "differs", (row("setting", "学习率", "differs", side("甲乙"), side("x")),)),)
    result = compared(findings=[], comparison=comparison(pairs=(ComparedPair("a.py", "b.py", items=items),)))
    text = shown("text", "en", result, width=80)
    head = next(line for line in text.split("\n") if "Reference  " in line)
    line = next(line for line in text.split("\n") if "学习率" in line)
    assert cells(head[: head.index("Reference")]) == cells(line[: line.index("甲")])
    assert cells(head[: head.index("Migrated")]) == cells(line[: line.rindex("x")])


def test_colour_changes_nothing_but_colour() -> None:
    colored = shown("text", "en", width=80, color=True)
    assert "\x1b[" in colored
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == shown("text", "en", width=80)


def test_places_are_links_where_a_terminal_opens_them() -> None:
    text = shown("text", "en", width=100, links=True, color=True)
    (target,) = set(re.findall("\x1b\\]8;;(file://[^\x1b]*/npu/test/train_full_1p.sh)\x1b", text))
    assert target == Path(LAUNCHER).absolute().as_uri()


def test_what_is_the_same_is_listed_when_asked_for() -> None:
    brief, full = shown("text", "en"), shown("text", "en", verbose=True)
    assert "--batch-size" not in brief.split("warning[")[0]
    assert "41 compared values are the same: --verbose" in brief
    assert "--batch-size (same)" in full
    assert "epochs (undetermined)" in full and "epochs (undetermined)" not in brief


def test_of_many_rows_and_pairs_the_first_are_told_and_the_rest_counted() -> None:
    rows = tuple(row("setting", f"setting_{n}", "differs", side("1"), side("2")) for n in range(14))
    item = ComparedItem("hyperparameters", "the same", "differs", rows)
    first = ComparedItem("hyperparameters", "the same", "differs", rows[:12])
    pairs = tuple(ComparedPair(f"gpu/{n}.py", f"npu/{n}.py", items=((item if n else first),)) for n in range(5))
    result = compared(findings=[], comparison=comparison(pairs=pairs))
    brief, full = shown("text", "en", result), shown("text", "en", result, verbose=True)
    assert "... and 2 more (--verbose)" in brief
    assert brief.count("... and 12 listed above") == 1
    assert brief.count("... and 14 listed above") == 1
    assert brief.count("setting_13") == 1
    more = "2 more pairs of programs (details with --verbose):\n"
    assert f"{more}  3.py  0 consistent, 1 different, 0 undetermined\n" in brief
    assert full.count("setting_13") == 4 and full.count("setting_11") == 5


def test_a_check_with_a_reference_tells_the_checklist_after_its_own() -> None:
    base = sample()
    result = RunResult(base.findings, base.programs, summary=base.summary, comparison=comparison())
    text = shown("text", "en", result, comparing=False)
    order = [
        "Readiness of models/train.py",
        "Pre-tuning checklist",
        "error[variable-in-dataset-map]",
        "The training program stops on the NPU",
        "Found 5 findings",
        "What to do first",
    ]
    assert [text.index(word) for word in order] == sorted(text.index(word) for word in order)


@pytest.mark.parametrize(
    ("result", "line"),
    [
        pytest.param(
            compared(findings=[], comparison=comparison(pairs=())),
            "No training program of the reference has a counterpart in the migrated project, so nothing was compared",
            id="no pair",
        ),
        pytest.param(
            compared(
                findings=[],
                comparison=comparison(
                    pairs=(ComparedPair("a", "b", items=(ComparedItem("data", "d", "consistent"),)),)
                ),
            ),
            "No difference from the reference: 5 files read",
            id="all the same",
        ),
        pytest.param(
            compared(
                findings=[],
                comparison=comparison(pairs=(ComparedPair("a", "b", items=(ComparedItem("data", "d", "unknown"),)),)),
            ),
            "No difference from the reference: 5 files read; 1 item cannot be determined from source",
            id="not all can be told",
        ),
        pytest.param(
            compared(findings=[], summary=Summary(0, 0)), "Nothing was checked: no file was read", id="nothing read"
        ),
    ],
)
def test_last_lines(result: RunResult, line: str) -> None:
    assert shown("text", "en", result).split("\n")[-2] == line


def test_only_a_comparison_without_a_difference_is_green() -> None:
    pair = ComparedPair("a", "b", items=(ComparedItem("data", "d", "consistent"),))
    good = compared(findings=[], comparison=comparison(pairs=(pair,)))
    for result, green in (
        (good, True),
        (compared(findings=[]), False),
        (compared(findings=[], comparison=comparison(pairs=())), False),
    ):
        assert shown("concise", "en", result, color=True).startswith("\x1b[32m") is green


# parts of it


@given(st.text(max_size=60), st.integers(3, 30))
def test_folded_text_fits_and_loses_nothing_but_blanks(text: str, room: int) -> None:
    from npulint.report.terminal import escape_control_chars

    told = escape_control_chars(text)
    lines = fold(told, room)
    assert all(cells(line) <= room for line in lines)
    assert "".join("".join(lines).split()) == "".join(told.split())


def test_a_way_is_broken_before_its_arrows() -> None:
    assert fold("a/train.sh:12 -> --lr -> args.lr", 14) == ["a/train.sh:12", "-> --lr", "-> args.lr"]
    assert fold("a/train.sh:12 -> --lr -> args.lr", 21) == ["a/train.sh:12 -> --lr", "-> args.lr"]
    assert fold("abcdefgh/ijkl", 10) == ["abcdefgh/", "ijkl"]
    assert fold("word " * 9, 10, 2) == ["word word", "word wo..."]


def test_wide_columns_share_what_narrow_ones_leave() -> None:
    rows = [[[Line("a" * 5)], [Line("b" * 50)], [Line("c" * 50)]]]
    assert widths(rows, 49) == [5, 20, 20]
    assert row_lines(rows[0], [5, 20, 20], Paint(False))[0] == "aaaaa  " + "b" * 20 + "  " + "c" * 20


def test_paths_are_told_below_the_folder_of_their_side() -> None:
    roots = ShortSidePaths(Comparison("gpu/", "work/npu/train.py", (ComparedPair("gpu/a.py", "work/npu/train.py"),)))
    assert roots.short("gpu/net/model.py", "reference") == "net/model.py"
    assert roots.short("work/npu/net.py", "migrated") == "net.py"
    assert roots.short("gpu/a.py", "migrated") == "gpu/a.py"
    assert ShortSidePaths(Comparison(".", "")).short("a.py", "reference") == "a.py"


def test_of_a_pair_paths_are_told_below_the_folder_of_all_that_is_told() -> None:
    rows = (row("setting", "x", "differs", side("1", "gpu/a/b/net.py", 2), side("2", "npu/zoo/x/net/net.py", 3)),)
    item = ComparedItem("hyperparameters", "the same", "differs", rows)
    pair = ComparedPair("gpu/a/b/c/t.py", "npu/zoo/x/t.py", migrated_launcher="npu/zoo/x/test/run.sh", items=(item,))
    roots = ShortSidePaths(Comparison("gpu", "npu", (pair,)), pair)
    assert roots.short("gpu/a/b/net.py", "reference") == "net.py"
    assert roots.short("npu/zoo/x/test/run.sh", "migrated") == "test/run.sh"
    for bare in (ComparedPair("t.py", "../npu/t.py"), ComparedPair("/abs/t.py", "")):
        roots = ShortSidePaths(Comparison("", ""), bare)
        assert roots.short(bare.reference, "reference") == bare.reference
        assert roots.short(bare.migrated, "migrated") == bare.migrated


def test_pairs_that_differ_are_told_first() -> None:
    same, differs = (ComparedItem("data", word, word) for word in ("consistent", "differs"))
    pairs = [ComparedPair(f"{n}.py", f"{n}.py", items=(item,)) for n, item in enumerate((same, differs, same, differs))]
    assert [one.reference for one in differing_first(pairs)] == ["1.py", "3.py", "0.py", "2.py"]


def test_a_way_has_each_name_once() -> None:
    stations = tuple(
        Related("a.py", Span(n, 1, n, 2), name) for n, name in enumerate(("0.1", "--lr", "--lr", "", "lr"), 1)
    )
    assert way(ComparedSide("0.1", "a.py", Span(1, 1, 1, 2), stations)) == ["--lr", "lr"]
    many = tuple(Related("a.py", Span(n, 1, n, 2), f"n{n}") for n in range(20))
    assert way(ComparedSide("0.1", stations=many)) == ["n1", "n2", "n3", "n4", "...", "n19"]


def test_programs_without_a_counterpart_are_named_up_to_five() -> None:
    told = alone(comparison(only_reference=(), only_migrated=tuple(f"{n}.py" for n in range(7))), "en")
    assert told == [
        "7 training programs of the migrated project have no counterpart: 0.py, 1.py, 2.py, 3.py, 4.py, 2 more"
    ]


# machines


def unused() -> RunResult:
    """A comparison of which one item is about something that neither program uses."""
    result = compared()
    assert result.comparison is not None
    (pair,) = result.comparison.pairs
    part = ComparedPart("shard", "unused")
    kept = next(item for item in pair.items if item.item == "sharding")
    item = msgspec.structs.replace(kept, status="unused", rows=(), look="", same=0, failures=(), parts=(part,))
    items = tuple(item if one.item == "sharding" else one for one in pair.items)
    pairs = (msgspec.structs.replace(pair, items=items),)
    return msgspec.structs.replace(result, comparison=msgspec.structs.replace(result.comparison, pairs=pairs))


@pytest.mark.parametrize(("lang", "words"), [("en", ("not used", "1 not used")), ("zh", ("未使用", "未使用 1 项"))])
@pytest.mark.parametrize("format_name", ["text", "markdown", "html"])
def test_what_neither_program_uses_has_a_status_of_its_own(format_name: str, lang: str, words: tuple[str, str]) -> None:
    text = shown(format_name, lang, unused())
    assert all(word in text for word in words)
    assert all(word not in shown(format_name, lang) for word in words)


def test_records_have_the_status_and_the_evidence() -> None:
    item = next(i for i in json.loads(shown("json", "en", unused()))["comparison"]["pairs"][0]["items"] if i["parts"])
    assert (item["item"], item["status"]) == ("sharding", "unused")
    assert item["parts"] == [{"part": "shard", "answer": "unused", "reference": None, "migrated": None}]
    sarif = json.loads(shown("sarif", "en", unused()))
    (pair,) = sarif["runs"][0]["properties"]["comparison"]["pairs"]
    assert "unused" in {one["status"] for one in pair["items"]}
    plain = json.loads(shown("sarif", "en"))["runs"][0]
    assert sarif["runs"][0]["results"] == plain["results"]


def test_json_has_exactly_these_keys() -> None:
    told = json.loads(shown("json", "en"))["comparison"]
    assert list(told) == ["reference", "migrated", "pairs", "only_reference", "only_migrated"]
    (pair,) = told["pairs"]
    names = "reference migrated reference_framework migrated_framework reference_launcher migrated_launcher why items"
    assert list(pair) == names.split()
    item = pair["items"][-1]
    assert list(item) == "item title status same look failures rows parts".split()
    first = item["rows"][0]
    assert list(first) == "part what answer code effect reference migrated also".split()
    assert first["migrated"] == {
        "text": "0.05",
        "path": LAUNCHER,
        "line": 3,
        "column": 10,
        "stations": [
            {"path": LAUNCHER, "line": 3, "name": "0.05"},
            {"path": "npu/train.py", "line": 5, "name": "--lr"},
            {"path": "npu/train.py", "line": 6, "name": "args.lr"},
        ],
    }
    assert pair["items"][5]["rows"][0]["migrated"] is None
    assert pair["items"][0]["failures"] == [
        {"path": "gpu/train.py", "line": 10, "check": "seed-not-set", "code": "NPU6001"}
    ]


def test_json_lines_say_the_same_item_by_item() -> None:
    rows = [json.loads(line) for line in shown("jsonl", "en").split("\n")[:-1]]
    whole = json.loads(shown("json", "en"))["comparison"]
    kinds = [one["kind"] for one in rows]
    assert kinds == ["finding"] * 2 + ["comparison"] + ["compared"] * 9 + ["summary"]
    items = [{key: one[key] for key in whole["pairs"][0]["items"][0]} for one in rows if one["kind"] == "compared"]
    assert items == whole["pairs"][0]["items"]
    assert rows[2]["only_reference"] == ["gpu/distill.py"]


def test_sarif_has_the_other_side_and_the_items() -> None:
    document = json.loads(render("sarif", compared(), ReportView(lines=source, comparing=True)))
    assert (violations(document), demands(document)) == ([], [])
    (run,) = document["runs"]
    rate = next(one for one in run["results"] if one["ruleId"] == "NPU6201")
    places = [
        (place["physicalLocation"]["artifactLocation"]["uri"], place["physicalLocation"]["region"]["startLine"])
        for place in rate["relatedLocations"]
    ]
    assert places == [("gpu/train.py", 5), ("gpu/train.py", 6), ("npu/train.py", 5), ("npu/train.py", 6)]
    items = run["properties"]["comparison"]["pairs"][0]["items"]
    assert [one["status"] for one in items].count("differs") == 3
    assert "rows" not in items[0]


def test_a_place_that_a_finding_names_already_is_not_added() -> None:
    named = (Related("gpu/train.py", Span(5, 1, 5, 9), "in the reference"),)
    ones = [msgspec.structs.replace(findings()[1], related=named)]
    (told,) = with_other_sides(ones, comparison())
    assert [place.span.line for place in told.related if place.path == "gpu/train.py"] == [5, 6]
    assert told.related[0] == named[0]


# Markdown


def parsed(text: str) -> list[Any]:
    return MarkdownIt("commonmark", {"html": True}).enable(["table"]).parse(text)


def test_lines_are_linked_on_the_server_of_the_repository_or_beside_the_report() -> None:
    assert "[`train.py:5`](gpu/train.py#L5)" in shown("markdown", "en")
    there = shown("markdown", "en", sources="https://git.example/a/b/-/blob/c")
    assert "[`train.py:5`](https://git.example/a/b/-/blob/c/gpu/train.py#L5)" in there


@pytest.mark.parametrize("path", ["/abs/train.py", "../train.py", "C:/train.py", ""])
def test_files_elsewhere_are_not_linked(path: str) -> None:
    one = ComparedSide("1", path, Span(1, 1, 1, 2), (Related(path, Span(1, 1, 1, 2), "1"),))
    item = ComparedItem("data", "d", "differs", (ComparedRow("dataset", "d", "differs", one, one),))
    result = compared(
        findings=[], comparison=comparison(pairs=(ComparedPair("a", "b", items=(item,)),), only_reference=())
    )
    assert "](" not in shown("markdown", "en", result)


def test_rows_without_room_are_counted() -> None:
    rows = tuple(row("setting", f"setting_{n}", "differs", side("1" * 50), side("2")) for n in range(400))
    pair = ComparedPair("a.py", "b.py", items=(ComparedItem("hyperparameters", "the same", "differs", rows),))
    text = shown("markdown", "en", compared(comparison=comparison(pairs=(pair,))), limit=12_000)
    assert len(text.encode()) <= 12_000
    (left,) = map(int, re.findall(r"(\d+) more rows do not fit", text))
    assert text.count("setting\\_") + left == 400
    assert "## Findings" in text


# texts that nobody would wish for

texts, paths, spans = hostile_results.texts, hostile_results.paths, hostile_results.spans
places = st.builds(Related, paths, spans, texts)
sides_of = st.one_of(
    st.none(),
    st.builds(ComparedSide, texts, st.one_of(st.just(""), paths), spans, st.lists(places, max_size=3).map(tuple)),
)
rows_of = st.builds(
    ComparedRow,
    part=st.sampled_from(["layer", "learning_rate"]),
    what=texts,
    answer=st.sampled_from(["same", "differs", "unknown", "note"]),
    reference=sides_of,
    migrated=sides_of,
    code=st.sampled_from(["", "NPU6201"]),
)
items_of = st.builds(
    ComparedItem,
    item=st.sampled_from(["data", "training"]),
    title=texts,
    status=st.sampled_from(["consistent", "differs", "unknown"]),
    rows=st.lists(rows_of, max_size=3).map(tuple),
    look=texts,
    failures=st.lists(st.builds(Evidence, paths, spans, texts, texts), max_size=2).map(tuple),
    same=st.integers(0, 3),
)
pairs_of = st.builds(
    ComparedPair,
    paths,
    paths,
    texts,
    texts,
    st.one_of(st.just(""), paths),
    st.just(""),
    st.lists(items_of, max_size=2).map(tuple),
)
comparisons = st.builds(
    Comparison, paths, paths, st.lists(pairs_of, max_size=2).map(tuple), st.lists(paths, max_size=2).map(tuple)
)


@settings(deadline=None, max_examples=60)
@given(comparisons, st.sampled_from(FORMATS), st.sampled_from([0, 40, 80]), st.booleans(), st.booleans())
def test_any_comparison_is_told(told: Comparison, name: str, width: int, verbose: bool, comparing: bool) -> None:
    result = RunResult(findings(), summary=Summary(2, 2), comparison=told)
    view = ReportView(width=width, verbose=verbose, comparing=comparing, lines=source, links=True)
    text = render(name, result, view)
    plain = re.sub("\x1b\\]8;;[!-~]*\x1b\\\\", "", text)
    assert not CONTROL.search(plain) if name in PEOPLE_FORMATS and name != "html" else text
    if name in ("json", "sarif"):
        json.loads(text)


@settings(deadline=None, max_examples=60)
@given(texts, texts, paths)
def test_no_text_leaves_its_cell_in_markdown(what: str, value: str, path: str) -> None:
    one = ComparedSide(
        value, path, Span(3, 1, 3, 2), (Related(path, Span(3, 1, 3, 2), value), Related(path, Span(4, 1, 4, 2), what))
    )
    item = ComparedItem("data", what, "differs", (ComparedRow("dataset", what, "differs", one, None),))
    result = RunResult(
        comparison=Comparison("a", "b", (ComparedPair(path, path, items=(item,)),)), summary=Summary(1, 1)
    )
    tokens = parsed(render("markdown", result, ReportView(comparing=True)))
    opened = [token.type for token in tokens if token.type in ("table_open", "tr_open", "td_open", "th_open")]
    assert opened.count("table_open") == 2
    assert (opened.count("tr_open"), opened.count("th_open"), opened.count("td_open")) == (4, 7, 7)
    html = [child.content for token in tokens for child in token.children or [] if child.type == "html_inline"]
    assert set(html) <= {"<br>"}
    links = [child.attrGet("href") for token in tokens for child in token.children or [] if child.type == "link_open"]
    assert all(not str(link).split("#")[0].startswith(("/", "..")) and ":" not in str(link) for link in links)


if __name__ == "__main__":
    for format_name, lang in CASES:
        GOLDEN.joinpath(f"compare.{format_name}.{lang}").write_text(shown(format_name, lang), encoding="utf-8")

"""The commands for those who read and write checks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.catalogue.tables import names_in
from tests.fact_support import TableFact
from tests.surface_support import call

ENGLISH = load_catalogue().checks[0]


def test_a_check_is_explained_by_code_and_by_name() -> None:
    by_code, by_name = call("explain", ENGLISH.code.lower()), call("explain", ENGLISH.name)
    assert by_code.out == by_name.out
    assert by_code.out.startswith(f"# {ENGLISH.code} {ENGLISH.name}\n")
    assert ENGLISH.text["zh"].why in call("explain", ENGLISH.code, "--lang", "zh").out


@pytest.mark.parametrize("name", ["NPU0101", "file-not-read", "unused-suppression", "NPU0402"])
def test_the_checks_of_the_engine_are_explained_too(name: str) -> None:
    answer = call("explain", name)
    assert answer.code == 0 and name in answer.out and len(answer.out) > 150


def test_several_checks_can_be_explained_at_once() -> None:
    assert call("explain", "NPU0101", "NPU0102").out.count("# NPU010") == 2


def test_a_misspelled_check_is_guessed() -> None:
    answer = call("explain", "unused-supression")
    assert (answer.code, answer.out) == (2, "")
    assert "did you mean `unused-suppression`?" in answer.err


def test_checks_whose_names_contain_a_word_are_suggested() -> None:
    told = call("explain", "cuda").err
    assert "similar: `cuda-" in told
    assert " and " in told and " more" in told
    assert call("explain", "cuda", "--lang", "zh").err.count("`cuda-") > 4
    assert "`loss-scale-missing`" in call("explain", "loss scale").err
    assert "`embedding-lookup`" in call("explain", "sparse").err, "in its title alone"
    assert call("explain", "梯度", "--lang", "zh").err.count("`") > 4
    assert call("explain", "zzzz").err.rstrip() == "error: there is no check named `zzzz`"
    one = call("explain", "suppression unused").err
    assert one.rstrip().endswith("did you mean `unused-suppression`?")


def test_all_checks_are_listed_in_code_order() -> None:
    rows = call("rules").out.splitlines()
    codes = [row.split()[0] for row in rows]
    assert codes == sorted(codes)
    assert len(rows) == sum(not check.opt_in for check in load_catalogue().checks) + 4
    assert all("NPU21T" in row or "NPU24T" in row for row in call("rules", "--select", "agnostic").out.splitlines())
    assert any(ENGLISH.text["en"].title in row for row in rows)


def test_the_list_can_be_selected_and_read_by_machines() -> None:
    rows = json.loads(call("rules", "--select", "parse", "--format", "json", "--lang=zh").out)
    assert [(row["code"], row["family"], row["title"]) for row in rows] == [
        ("NPU0101", "engine", "源码无法解析"),
        ("NPU0102", "engine", "文件未能读取"),
    ]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        pytest.param(["rules", "--select", "pasre"], "did you mean `parse`?", id="unknown selection"),
        pytest.param(["rules", "--format", "jsno"], "did you mean `json`?", id="unknown format"),
        pytest.param(["facts", "nope.py"], "nope.py: does not exist", id="facts of nothing"),
        pytest.param(["facts", "."], "not a regular file", id="facts of a folder"),
        pytest.param(["new", "name"], "FAMILY/NAME", id="no family"),
        pytest.param(["new", "nofamily/x-y"], "nofamily", id="unknown family"),
        pytest.param(["test", "nope.yaml"], "nope.yaml", id="test of nothing"),
        pytest.param(["explain", "NPU0101", "--checks", "nowhere"], "nowhere", id="no such folder of checks"),
    ],
)
def test_mistakes(words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = call(*words)
    assert answer.code == 2 and told in answer.err


def test_facts_of_a_file_that_is_not_read(tmp_path: Path) -> None:
    def refuse(path: str) -> list[Fact]:
        raise FileNotFoundError(path)

    (tmp_path / "a.xyz").write_text("")
    answer = call("facts", str(tmp_path / "a.xyz"), facts=refuse)
    assert answer.code == 2 and "unsupported file type" in answer.err


def test_a_check_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "checks").write_text("in the way")
    answer = call("new", "tensorflow/some-bad-thing")
    assert answer.code == 2 and "cannot be written" in answer.err


@pytest.fixture
def facts() -> list[Fact]:
    sure, unsure = PossibleValues((1, 2), True), PossibleValues(("x",), False, "FLAGS.p")
    return [
        TableFact(
            "setting", "precision_mode", "a.py", Span(7, 3, 7, 9), {"value": unsure, "via": b"proto", "big": 2**70}
        ),
        TableFact("call", "tf.f\x1b", "a.py", Span(2, 1, 2, 5), {"value": sure, "parts": ("a", "b"), "pi": 0.5}),
    ]


def test_facts_are_shown_in_order_with_what_is_known(
    facts: list[Fact], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("")
    assert call("facts", "a.py", facts=facts).out == (
        "2:1  call     tf.f\\x1b  parts=('a', 'b')  pi=0.5  value=1 / 2\n"
        f"7:3  setting  precision_mode  big={2**70}  value=x?  via=b'proto'\n"
    )
    assert call("facts", "a.py").out == "no facts in a.py\n"


def test_facts_for_machines(facts: list[Fact], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("")
    rows = json.loads(call("facts", "a.py", "--format=json", facts=facts).out)
    assert rows[0]["attributes"] == {
        "parts": ["a", "b"],
        "pi": 0.5,
        "value": {"values": [1, 2], "exact": True, "symbol": ""},
    }
    assert rows[1]["attributes"]["big"] == str(2**70)
    assert (rows[1]["line"], rows[1]["end_column"]) == (7, 9)


def test_a_new_check_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    first, second = call("new", "tensorflow/some-bad-thing"), call("new", "tensorflow/some-bad-thing")
    assert (first.code, second.code) == (0, 2)
    assert "some-bad-thing.yaml created" in first.out and "already exists" in second.err
    assert (tmp_path / "checks/tensorflow/some-bad-thing.yaml").is_file()
    assert call("new", "checks/launch/odd.yaml", "--checks", "mine").code == 0
    assert (tmp_path / "mine/launch/odd.yaml").is_file()


def test_examples_that_hold_and_that_do_not() -> None:
    path = next(Path(__file__).parent.parent.joinpath("checks").rglob(f"{ENGLISH.name}.yaml"))
    answer = call("test", str(path))  # a judge that finds nothing: the bad examples cannot hold
    bad = sum(example.bad for example in ENGLISH.examples)
    assert answer.code == 1
    assert answer.out.count(" missing: ") == bad
    assert answer.out.endswith(f"{bad} of {len(ENGLISH.examples)} examples failed\n")


def test_of_a_table_all_rows_are_tested_and_those_that_fail_are_named() -> None:
    path = Path(__file__).parent.parent / "checks" / "launch" / "mixed-precision-lists.yaml"
    rows = names_in(path.read_bytes())
    answer = call("test", str(path))  # a judge that finds nothing: every bad example fails
    assert {line.split()[1] for line in answer.out.split("\n") if " missing: " in line} == set(rows)
    assert len(rows) > 1

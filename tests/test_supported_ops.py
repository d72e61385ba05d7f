"""The lists of operators that a CANN installation brings: found, merged as the adapter does it, and never trusted."""

from __future__ import annotations

import json
import os
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.commands.settings.config import load
from npulint.data.supported import SupportedOps
from npulint.read.supported_ops import NAME, OperatorLists, listed

OWN = "built-in/framework/tensorflow"


def write(folder: Path, ops: object, below: str = OWN) -> Path:
    path = folder / below / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ops if isinstance(ops, str) else json.dumps(ops), encoding="utf-8")
    return path


def entry(gray: object = False) -> dict[str, object]:
    return {"isGray": gray, "isHeavy": False}


def ops_of(*places: Path) -> SupportedOps:
    found = listed([str(place) for place in places])
    assert found.ops is not None
    assert not found.problems
    return found.ops


def test_nothing_is_listed_where_nothing_is_named() -> None:
    assert listed([]) == OperatorLists()


@pytest.mark.parametrize("below", [OWN, "framework/built-in/tensorflow", f"opp/{OWN}"])
def test_the_list_of_an_installation_is_found(tmp_path: Path, below: str) -> None:
    path = write(tmp_path, {"MatMul": entry(), "HashTableV2": entry(True)}, below)
    ops = ops_of(tmp_path)
    assert ops.ops == {"MatMul", "HashTableV2"}
    assert ops.gray == {"HashTableV2"}
    assert ops.source == path.as_posix()


def test_the_newer_layout_counts_where_there_are_both(tmp_path: Path) -> None:
    write(tmp_path, {"Old": entry()}, "framework/built-in/tensorflow")
    write(tmp_path, {"New": entry()})
    assert ops_of(tmp_path).ops == {"New"}


def test_a_list_may_be_named_itself(tmp_path: Path) -> None:
    path = write(tmp_path, {"MatMul": entry("true"), "Add": entry("false")}, "anywhere")
    assert ops_of(path).gray == {"MatMul"}


def test_lists_are_merged_as_the_adapter_does(tmp_path: Path) -> None:
    own, more = tmp_path / "opp", tmp_path / "more"
    write(own, {"Kept": entry(), "Gray": entry(True), "Gone": entry(), "Late": entry()})
    write(more, {"Further": entry(), "Gray": entry(False), "Late": entry(True)}, "framework/tensorflow")
    write(own, {"Gone": None, "First": entry()}, "vendors/one/framework/tensorflow")
    write(own, {"First": entry(True), "Late": entry(False)}, "vendors/two/framework/tensorflow")
    write(own, {"Never": entry()}, "vendors/three/framework/tensorflow")
    (own / "vendors" / "config.ini").write_text("load_priority=one, two\n", encoding="utf-8")
    ops = ops_of(own, more)
    assert ops.ops == {"Kept", "Gray", "Late", "Further", "First"}
    assert ops.gray == {"First"}


def test_vendors_lead_nowhere_else(tmp_path: Path) -> None:
    own = tmp_path / "opp"
    write(own, {"Kept": entry()})
    write(tmp_path, {"Stranger": entry()}, "away/framework/tensorflow")
    (own / "vendors").mkdir()
    for name in ("../../away", str(tmp_path / "away"), ".."):
        (own / "vendors" / "config.ini").write_text(f"load_priority={name}\n", encoding="utf-8")
        assert ops_of(own).ops == {"Kept"}


@pytest.mark.parametrize(
    ("file", "text", "release"),
    [
        pytest.param("version.info", "Version=7.0.0.3.220\nversion_dir=8.0.RC1\n", "8.0.RC1", id="of the package"),
        pytest.param("version.info", "Version=7.0.0\n", "7.0.0", id="without a folder"),
        pytest.param(
            "../x86_64-linux/ascend_toolkit_install.info", "version=8.1.RC1\n", "8.1.RC1", id="of the toolkit"
        ),
        pytest.param("version.info", "Version=$(reboot)\n", "", id="what is no version"),
    ],
)
def test_the_release_is_told(tmp_path: Path, file: str, text: str, release: str) -> None:
    own = tmp_path / "opp"
    write(own, {"MatMul": entry()})
    (own / file).parent.mkdir(exist_ok=True)
    (own / file).write_text(text, encoding="utf-8")
    assert ops_of(own).release == release


def test_no_list_is_a_problem_and_no_list(tmp_path: Path) -> None:
    found = listed([str(tmp_path)])
    assert found.ops is None
    assert [(one.path, one.reason) for one in found.problems] == [(tmp_path.as_posix(), "missing")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "json", id="empty"),
        pytest.param('{"MatMul": {"isGray": fal', "json", id="cut off"),
        pytest.param("[1, 2]", "json", id="no object"),
        pytest.param("[" * 100_000, "json", id="nested"),
        pytest.param('{"a":' * 100_000, "json", id="nested objects"),
        pytest.param(" " * 8_000_001, "too-large", id="huge"),
        pytest.param(json.dumps({f"Op{n}": {} for n in range(100_001)}), "too-large", id="too many"),
    ],
)
def test_broken_lists_are_told_and_left_out(tmp_path: Path, text: str, reason: str) -> None:
    own = write(tmp_path / "own", text)
    found = listed([str(tmp_path / "own")])
    assert (found.ops, [(one.path, one.reason) for one in found.problems]) == (None, [(own.as_posix(), reason)])
    write(tmp_path / "good", {"MatMul": entry()})
    write(tmp_path / "good", text, "vendors/one/framework/tensorflow")
    (tmp_path / "good" / "vendors" / "config.ini").write_text("load_priority=one", encoding="utf-8")
    found = listed([str(tmp_path / "good")])
    assert found.ops is not None
    assert found.ops.ops == {"MatMul"}
    assert [one.reason for one in found.problems] == [reason]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_nobody_waits_for_a_pipe(tmp_path: Path) -> None:
    folder = tmp_path / OWN
    folder.mkdir(parents=True)
    os.mkfifo(folder / NAME)
    assert listed([str(tmp_path)]).ops is None
    (folder / NAME).unlink()
    write(tmp_path, {"MatMul": entry()})
    (tmp_path / "vendors").mkdir()
    os.mkfifo(tmp_path / "vendors" / "config.ini")
    os.mkfifo(tmp_path / "version.info")
    assert ops_of(tmp_path).ops == {"MatMul"}


_NAMES = st.text(string.ascii_letters + "_\x00 ./é", max_size=8)
_VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4), st.lists(st.integers(), max_size=2))
_TABLES = st.dictionaries(_NAMES, st.one_of(_VALUES, st.dictionaries(st.sampled_from(["isGray", "x"]), _VALUES)))


@given(own=_TABLES, further=_TABLES)
def test_any_two_lists_give_one(
    tmp_path_factory: pytest.TempPathFactory, own: dict[str, object], further: dict[str, object]
) -> None:
    folder = tmp_path_factory.mktemp("lists")
    ops = ops_of(write(folder / "a", own), write(folder / "b", further))
    assert ops.gray <= ops.ops
    merged = {**own, **further}
    assert ops.ops == {name for name, value in merged.items() if isinstance(value, dict) and _name(name)}


def _name(text: str) -> bool:
    return text.isascii() and not text.startswith(".") and text.replace(".", "_").isidentifier()


def test_the_digest_tells_lists_apart(tmp_path: Path) -> None:
    path = write(tmp_path, {"MatMul": entry()})
    first = listed([str(path)]).digest
    assert first == listed([str(path)]).digest
    digests = {first, listed([]).digest, listed([str(tmp_path / "none")]).digest}
    for ops in ({"MatMul": entry(True)}, {"MatMul": entry(), "Add": entry()}):
        write(tmp_path, ops)
        digests.add(listed([str(path)]).digest)
    assert len(digests) == 5


def test_the_environment_names_the_installation_unless_the_user_does() -> None:
    environ = {"ASCEND_OPP_PATH": "/opt/opp", "ASCEND_CUSTOM_OPP_PATH": "/one::/two"}
    assert load([], {}, environ).supported_ops == ("/opt/opp", "/one", "/two")
    assert load([], {}, {"ASCEND_CUSTOM_OPP_PATH": "/one"}).supported_ops == ()
    assert load([], {"supported_ops": ["a.json"]}, environ).supported_ops == ("a.json",)


def test_places_in_a_configuration_are_relative_to_it(tmp_path: Path) -> None:
    (tmp_path / "npulint.toml").write_text('supported-ops = ["opp", "lists/own.json"]\n', encoding="utf-8")
    settings = load([str(tmp_path)], {}, {})
    assert settings.supported_ops == (str(tmp_path / "opp"), str(tmp_path / "lists/own.json"))

"""What fixes make of the code that convert_tf2npu rewrites, rule by rule, and of code that only looks like it."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator

import pytest

from npulint.commands.check.fix_command import fix_texts
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import RunResult
from npulint.judge.postprocess.engine import SYNTAX_ERROR
from tests.convert_fixes import ALONG, LEFT, MADE
from tests.convert_other_rewrites import OTHER_REWRITES
from tests.convert_reports import REPORTS
from tests.convert_samples import ESTIMATOR, MARK, ON_GPU, ON_NPU, Shape, filled, on_gpu
from tests.convert_single_device import SINGLE_DEVICE
from tests.convert_traps import TRAPS, lines
from tests.test_convert_tf2npu import CODES, ROWS

ENTRY = "train.py"


def keyed() -> Iterator[tuple[str, Shape]]:
    """The programs by rule, check and, from the second on, a number."""
    seen: Counter[str] = Counter()
    for shape in [*SINGLE_DEVICE, *OTHER_REWRITES, *REPORTS]:
        key = f"{shape.rule}-{shape.check}"
        seen[key] += 1
        yield (key if seen[key] == 1 else f"{key}-{seen[key]}"), shape


SHAPES = dict(keyed())


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """All checks."""
    return load_catalogue(use_cache=False)


def files_of(shape: Shape) -> dict[str, str]:
    """The files of a program as it was written for a GPU."""
    text = on_gpu(shape).replace(f"  {MARK}", "")
    return {ENTRY: text} | ({"train.sh": shape.launcher} if shape.launcher else {})


def mended(
    files: dict[str, str], catalogue: Catalogue, checks: tuple[str, ...] = ()
) -> tuple[dict[str, str], RunResult]:
    """All files after the fixes of some checks (none named: of all), and what is found in them then."""
    done = fix_texts(files, {}, catalogue, [CODES[name] for name in checks] or None)
    return {**files, **{one.path: one.after.decode() for one in done.files}}, done.result


def changed(before: str, after: str) -> str:
    """The lines that go and those that come."""
    found = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=0)
    return "".join(f"{line}\n" for line in found if not line.startswith(("---", "+++", "@@")))


def test_every_program_is_either_mended_or_left_for_a_reason() -> None:
    assert sorted([*MADE, *LEFT]) == sorted(SHAPES)
    assert all(len(reason.split()) > 4 for reason in LEFT.values())


@pytest.mark.parametrize("key", MADE)
def test_the_fixes_of_a_check_make_these_changes(key: str, catalogue: Catalogue) -> None:
    files = files_of(SHAPES[key])
    checks = (SHAPES[key].check, *([ALONG[key]] if key in ALONG else []))
    after, result = mended(files, catalogue, checks)
    assert changed(files[ENTRY], after[ENTRY]) == MADE[key]
    assert SHAPES[key].check not in {found.name for found in result.findings}


@pytest.mark.parametrize("key", LEFT)
def test_what_is_left_to_a_person_stays_as_it_is_and_is_reported(key: str, catalogue: Catalogue) -> None:
    files = files_of(SHAPES[key])
    after, result = mended(files, catalogue, (SHAPES[key].check,))
    assert after == files
    assert SHAPES[key].check in {found.name for found in result.findings}


@pytest.mark.parametrize("key", [key for key in SHAPES if SHAPES[key].check != SYNTAX_ERROR.name])
def test_fixes_of_all_checks_come_to_rest(key: str, catalogue: Catalogue) -> None:
    once, _ = mended(files_of(SHAPES[key]), catalogue)
    again, _ = mended(once, catalogue)
    assert once != files_of(SHAPES[key])
    assert again == once


@pytest.mark.parametrize("rule", ROWS)
def test_the_table_says_whether_a_rule_is_made(rule: str) -> None:
    keys = [key for key, shape in SHAPES.items() if shape.rule == rule]
    made = {key in MADE for key in keys}
    expected = {(): "–", (False,): "manual", (True,): "automatic", (False, True): "partly"}[tuple(sorted(made))]
    assert ROWS[rule].fix.split(":")[0] == expected


@pytest.mark.parametrize("name", TRAPS)
def test_what_only_looks_like_it_is_left_alone(name: str, catalogue: Catalogue) -> None:
    trap = TRAPS[name]
    assert trap.rule in ROWS
    after, _ = mended({ENTRY: trap.text(trap.lookalikes)}, catalogue)
    assert gone(trap.lookalikes, after) == []


@pytest.mark.parametrize("name", [name for name, trap in TRAPS.items() if trap.real])
def test_what_it_looks_like_is_mended(name: str, catalogue: Catalogue) -> None:
    trap = TRAPS[name]
    after, _ = mended({ENTRY: trap.text(trap.real)}, catalogue)
    assert gone(trap.real, after)


def gone(parts: dict[str, str], after: dict[str, str]) -> list[str]:
    """The lines of parts that a mended program no longer has."""
    have = {line.strip() for line in after[ENTRY].split("\n")}
    return [line for line in lines(parts) if line not in have]


EXPORT = {
    "optimizer": """
    images = tf.placeholder(tf.float32, [1, None, None, 3])
    loss += tf.cond(tf.reduce_any(images > 0), lambda: tf.reduce_mean(images), lambda: 0.0)
    optimizer = tf.train.AdamOptimizer(1e-3)
    """,
    "run": "estimator.export_savedmodel('out', serving)",
}


@pytest.mark.parametrize("trains", [True, False], ids=["trains", "exports"])
def test_a_script_that_only_exports_keeps_its_control_flow(trains: bool, catalogue: Catalogue) -> None:
    parts = {**EXPORT, "run": f"estimator.train(input_fn, steps=10)\n{EXPORT['run']}"} if trains else EXPORT
    files = {ENTRY: filled(ESTIMATOR, ON_GPU[ESTIMATOR], ON_NPU[ESTIMATOR], parts)}
    after, result = mended(files, catalogue, ("v1-control-flow-with-dynamic-shape",))
    assert ("tf.enable_control_flow_v2()" in after[ENTRY]) == trains
    assert not result.findings

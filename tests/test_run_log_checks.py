"""Findings about messages of logs: every message is told by one check, every cause once."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.data.error_patterns import Pattern, patterns
from npulint.facts.model import Fact
from npulint.judge.catalogue.check import Check, Query
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings
from npulint.runs.read.logs import read

CHECKS = {one.name: one for one in load_catalogue().checks}
NPU = "2024-01-01 00:00:00.000000: I tf_adapter/kernels/geop_npu.cc:1] start\n"
TOLD = [one for one in patterns().values() if one.kind in ("fatal", "error", "warning", "context")]
WARNED = "train.py:{}: UserWarning: CAUTION: The operator 'aten::{}' is not currently supported on the NPU backend\n"


def asked(query: Query | None) -> list[Query]:
    return [] if query is None else [query, *(inner for part in (*query.all, *query.any) for inner in asked(part))]


def names(check: Check) -> set[str]:
    return {name for one in asked(check.find) if one.kind == "run_event" for name in one.names} - {"any", "**"}


def found(folder: Path, **texts: str) -> list[Finding]:
    """What checks of messages say of logs, by name and text."""
    for name, text in texts.items():
        (folder / f"{name}.log").write_text(text, encoding="utf-8")
    paths = tuple(str(folder / f"{name}.log") for name in texts)
    everything = run(Settings(paths=paths, cache=False, select=("NPU5",))).findings
    return [one for one in everything if asked(CHECKS[one.name].find)[-1].kind in ("run_event", "run_log")]


def said(folder: Path, **texts: str) -> list[str]:
    return [one.name for one in found(folder, **texts)]


def events(text: str) -> dict[str, Fact]:
    return {one.name: one for one in read(io.BytesIO(text.encode()), "train.log") if one.kind == "run_event"}


@pytest.mark.parametrize("pattern", TOLD, ids=lambda one: one.id)
def test_a_message_is_told_by_exactly_one_check(pattern: Pattern) -> None:
    assert [check.name for check in CHECKS.values() if pattern.id in names(check)] == [pattern.finding]


def test_what_is_no_trouble_is_told_by_no_check() -> None:
    quiet = {one.id for one in patterns().values()} - {one.id for one in TOLD}
    assert quiet and not any(names(check) & quiet for check in CHECKS.values())
    assert all(not patterns()[name].finding for name in quiet)


@pytest.mark.parametrize("pattern", [one for one in TOLD if one.check], ids=lambda one: one.id)
def test_the_check_of_the_source_joins_the_one_of_the_run(pattern: Pattern) -> None:
    source = CHECKS[pattern.check]
    assert source.family == "graph" or source.code in CHECKS[pattern.finding].joins


@pytest.mark.daily
@pytest.mark.parametrize("pattern", [one for one in TOLD if one.kind != "context"], ids=lambda one: one.id)
def test_a_log_with_one_message_has_one_finding(pattern: Pattern, tmp_path: Path) -> None:
    told = said(tmp_path, train=f"{NPU}begin\n{pattern.example}\n")
    alone = pattern.id != "LS-FAIRSEQ"  # that is told with its series
    assert told == [pattern.finding] * alone


def test_a_cause_is_told_once_at_its_first_line(tmp_path: Path) -> None:
    text = NPU + "".join(WARNED.format(n, f"op{n % 7}") for n in range(1, 15))
    (one,) = found(tmp_path, train=text)
    assert (one.name, one.span.line) == ("operators-fell-back-to-cpu", 2)
    assert "aten::op1, aten::op2, aten::op3, aten::op4, aten::op5, aten::op6, aten::op0. Log" in one.message
    assert "×14" in one.message


def test_subjects_are_named_while_they_fit(tmp_path: Path) -> None:
    text = NPU + "".join(WARNED.format(n, f"an_operator_with_a_long_name_{n}") for n in range(1, 9))
    (one,) = found(tmp_path, train=text)
    assert "aten::an_operator_with_a_long_name_5 (+3). Log" in one.message


def test_unknown_codes_are_told_together(tmp_path: Path) -> None:
    (one,) = found(tmp_path, train="EK0009: bad\nEK0012: bad\nEK0009: bad\n")
    assert one.name == "unexplained-error-code"
    assert "EK0009, EK0012" in one.message and "×3" in one.message
    assert said(tmp_path, train=f"{NPU}W40010: bad\n") == ["unexplained-warning-code"]


def test_wrappers_are_told_only_where_nothing_else_is(tmp_path: Path) -> None:
    wrapper = "F geop_npu.cc:1] GeOp11_0GEOP::::DoRunAsync Failed\nError Message is :\nE19999: Inner Error!\n"
    assert said(tmp_path, train=wrapper) == ["internal-error-only"]
    assert said(tmp_path, train=f"{wrapper}EL0004: Failed to allocate memory.\n") == ["device-memory-used-up"]
    assert said(tmp_path, train=f"{wrapper}EK0009: unknown\n") == ["unexplained-error-code"]
    assert said(tmp_path, one=wrapper, two="EL0004: Failed to allocate memory.\n") == ["device-memory-used-up"]
    failed = "taskId[1], node[a/b], precompile failed\nE19999: Inner Error!\n"
    assert said(tmp_path, train=NPU + failed) == ["kernel-not-built"]


@pytest.mark.parametrize("end", ["xxx (core dump)", ":1072] Check failed: swap"])
def test_a_crash_of_the_memory_optimizer_is_told_from_its_messages(tmp_path: Path, end: str) -> None:
    file = "tensorflow/core/grappler/optimizers/memory_optimizer.cc"
    assert said(tmp_path, train=f"{NPU}{file} {end}\n") == ["memory-optimization-off-failed"]
    assert said(tmp_path, train=f"{NPU}W {file}:900] nothing to do\n") == []


def test_harmless_lines_give_nothing(tmp_path: Path) -> None:
    quiet = [one.example for one in patterns().values() if one.kind in ("info", "note", "ignore", "context")]
    assert said(tmp_path, train=NPU + "\n".join(quiet)) == []


def test_a_rank_that_waited_is_told_where_no_rank_says_more(tmp_path: Path) -> None:
    waits = "EI0002: [PID: 1] 2024-11-28-1{}:59:30.645.648 The wait execution of the Notify register times out.\n"
    assert said(tmp_path, rank_0=waits.format(1), rank_1=waits.format(2)) == ["rank-waited-in-vain"]
    (first,) = found(tmp_path, rank_0=waits.format(2), rank_1=waits.format(1))
    assert first.path.endswith("rank_1.log")
    full = "EL0004: [PID: 2] 2024-11-28-11:58:00.000.000 Failed to allocate memory.\n"
    assert said(tmp_path, rank_0=waits.format(1), rank_1=full) == ["device-memory-used-up"]
    internal = "EL9999: [PID: 2] 2024-11-28-11:58:00.000.000 Inner Error!\n"
    assert said(tmp_path, rank_0=waits.format(1), rank_1=internal) == ["rank-waited-in-vain"]


def test_errors_without_a_known_message_are_not_lost(tmp_path: Path) -> None:
    line = "[ERROR] HCCL({0},python):2024-01-01-00:00:00.000.00{0} [a.cc:1]12 f: peer {0} is gone\n"
    (one,) = found(tmp_path, train=line.format(1) + line.format(2))
    assert (one.name, one.span.line) == ("error-in-process-log", 1)
    assert "peer 1 is gone" in one.message
    assert said(tmp_path, train=f"{line.format(1)}EL0004: full\n") == ["device-memory-used-up"]


@pytest.mark.parametrize(
    ("level", "lines", "told"), [("INFO", 10000, True), ("INFO", 9999, False), ("DEBUG", 20, True)]
)
def test_logs_of_every_detail(tmp_path: Path, level: str, lines: int, told: bool) -> None:
    text = f"[{level}] GE(1,python):2024-01-01-00:00:00.000.001 [a.cc:1] text\n" * lines
    assert said(tmp_path, train=text) == ["log-level-of-every-detail"] * told


def test_a_log_of_another_device_is_not_judged(tmp_path: Path) -> None:
    text = "".join(f"{one.example}\n" for one in patterns().values() if one.general)
    assert said(tmp_path, train=f"NVIDIA A100-SXM4-80GB\n{text}") == []


def test_a_log_of_an_unknown_device_is_judged_where_the_device_makes_no_difference(tmp_path: Path) -> None:
    assert said(tmp_path, train="step 1 loss: nan\n") == ["run-diverged"]
    assert said(tmp_path, train="RuntimeError: Address already in use\n") == ["port-taken"]
    assert said(tmp_path, train="ModuleNotFoundError: No module named 'flash_attn'\n") == []


def test_a_log_of_an_unknown_device_beside_a_migrated_project_is_its_output(tmp_path: Path) -> None:
    log = "OP_REQUIRES failed at lookup_table_op.cc:809 : Failed precondition: Table not initialized.\n"
    (tmp_path / "train.log").write_text(log)
    for imported, expected in (("npu_bridge", ["lookup-table-not-initialised"]), ("horovod", [])):
        (tmp_path / "train.py").write_text(f"import tensorflow as tf\nimport {imported}\n")
        paths = (str(tmp_path), str(tmp_path / "train.log"))
        result = run(Settings(paths=paths, cache=False, select=("NPU51",)))
        assert [one.name for one in result.findings] == expected


TRACE = """Traceback (most recent call last):
  File "/home/li/net/train.py", line 42, in main
    step(batch)
  File "/home/li/net/steps.py", line 7, in step
    dist.all_reduce(grad.t())
  File "/usr/lib/python3.8/site-packages/torch/distributed/distributed_c10d.py", line 2050, in all_reduce
    work = group.allreduce([tensor], opts)
RuntimeError: Tensors must be contiguous
"""


def test_a_failure_has_the_line_of_the_code_that_met_it() -> None:
    one = events(f"{NPU}{TRACE}[ERROR] 2024-08-18 (PID:1, Device:0, RankID:0) ERR02002 DIST invalid type\n")
    for name in ("PT-NONCONTIG", "ERR-CODE"):
        place = [one[name].get(key) for key in ("file", "source_line", "function")]
        assert place == ["/home/<user>/net/steps.py", 7, "step"]
    assert "RuntimeError: Tensors must be contiguous" in one["ERR-CODE"].get("quote")


def test_a_failure_before_its_traceback_has_the_line_too() -> None:
    one = events(f"EL0004: Failed to allocate memory.\n{'x' * 9}\n{TRACE}")["EL0004"]
    assert one.get("source_line") == 7
    far = events("EL0004: Failed to allocate memory.\n" + "x\n" * 200 + TRACE)["EL0004"]
    assert far.get("file") is None
    late = events(TRACE + "x\n" * 30 + "EL0004: Failed to allocate memory.\n")["EL0004"]
    assert late.get("file") is None


def test_frames_of_libraries_are_none_of_the_user() -> None:
    frame = 'Traceback (most recent call last):\n  File "{}", line 3, in f\n    g()\nValueError: EI0003: bad\n'
    foreign = (
        "/usr/lib64/python3.7/runpy.py",
        "/x/site-packages/a.py",
        "/usr/local/Ascend/opp/impl/a.py",
        "<string>.py",
    )
    for path in foreign:
        assert events(frame.format(path))["EI0003"].get("file") is None
    assert events(frame.format("D:\\net\\a.py"))["EI0003"].get("file") == "D:\\net\\a.py"


def test_a_warning_of_python_names_its_line() -> None:
    one = events(WARNED.format(57, "nonzero"))["PT-CPU-FALLBACK"]
    assert (one.get("file"), one.get("source_line"), one.get("subject")) == ("train.py", 57, "aten::nonzero")
    library = "/usr/lib/python3.8/site-packages/torch/x.py:57: UserWarning: CAUTION: The operator 'aten::a' is not "
    assert events(f"{library}currently supported on the NPU backend\n")["PT-CPU-FALLBACK"].get("file") is None


def test_a_failed_kernel_has_its_node() -> None:
    task = (
        "[ERROR] TEFUSION(1,python):2021 FinishedTask[0]: taskID[99:{}], status[1]\nRuntimeError: {{'errCode': '{}'}}\n"
    )
    node = "taskId[{}], node[{}], precompile failed\n"
    text = task.format(5, "E60024") + task.format(6, "EA0000") + node.format(6, "a/concat") + node.format(5, "b/conv")
    seen = events(text)
    assert (seen["E5/E6-SHAPE"].get("subjects"), seen["EA0000"].get("subjects")) == ("b/conv", "a/concat")
    assert seen["TF-PRECOMPILE-FAIL"].get("leads") == "no"


def test_memory_that_was_asked_for_is_quoted() -> None:
    below = "\n    Possible Cause: full\n    TraceBack (most recent call last):\n    a\n    fail, size:6861537792\n"
    assert "size:6861537792" in events(f"EL0004: Failed to allocate memory.{below}")["EL0004"].get("quote")


def test_what_a_message_quotes_cannot_break_out_of_its_code(tmp_path: Path) -> None:
    (one,) = found(tmp_path, train="EK0009: `rm` \x1b[31m\u202e`\n")
    assert "'rm'" in one.message and "\u202e" not in one.message

"""Artifacts of unusual size: a gigabyte is read in a minute and in little memory, and nothing that a file may hold
makes either grow.

Files have tens of megabytes; where NPULINT_TEST_NIGHTLY is set, a table and a log have a whole gigabyte.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import pytest

from npulint.facts.model import Fact
from npulint.runs.read import read_artifact
from npulint.runs.read.logs import lines as logs_lines
from npulint.runs.read.logs import read
from npulint.runs.read.series import SeriesWatcher
from tests.daily import parameters
from tests.fact_support import attrs_of

pytestmark = pytest.mark.slow

pytest.importorskip("resource")

MOST_MEMORY = 200 << 20
STUCK = 600  # seconds of the processor after which a run ends; a gigabyte takes less than a tenth of it
MB = 1 << 20
MODERATE = 16 * MB
ALL = bool(os.environ.get("NPULINT_TEST_NIGHTLY"))
MANY = 1_000_000 if ALL else 200_000

PROBE = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]),) * 2)
del sys.argv[1]
from npulint.__main__ import main
code = 0
try:
    code = main()
except SystemExit as end:
    code = end.code
own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
most = own.ru_maxrss << 10
try:  # that of the process alone: the other one may be that of who started it
    with open("/proc/self/status") as status:
        most = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
except OSError:
    pass
print(json.dumps([code, max(most, others.ru_maxrss << 10)]), file=sys.stderr)
"""


def checked(path: Path) -> str:
    """What `npulint check` says of a file; fails if that takes too much memory, or does not end."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(STUCK), "check", str(path), "--no-cache"],
        capture_output=True,
        text=True,
        cwd=path.parent,
        env={**os.environ, "NPULINT_CACHE_DIR": str(path.parent / "cache")},
    )
    code, most = json.loads(done.stderr.strip().rpartition("\n")[2])
    assert code in (0, 1), done.stderr
    assert most <= MOST_MEMORY, f"{most / MB:.0f} MB"
    return done.stdout


def steps_log() -> Iterator[str]:
    """A console log in which every step is a line."""
    yield "2021-11-02 10:11:12.345678: I tf_adapter/kernels/geop_npu.cc:390] [GEOP] graph 1\n"
    for step in range(40_000):
        loss, rate = 58 - step % 977 / 50, 220 + step % 17 / 2
        yield (
            f"epoch {step // 5000}, total_step {step}, total loss is {loss:.2f} , inference loss is {loss / 2:.2f}, "
            f"training accuracy is {step % 100 / 100:.6f}, time {rate:.3f} samples/sec\n"
        )


def scale_log() -> Iterator[str]:
    """A console log in which every line tells a loss scale."""
    yield "torch_npu 2.1\n"
    for step in range(20_000):
        yield (
            f" iteration {step:8}/ 5000000 | elapsed time per iteration (ms): {800 + step % 20:.1f} | "
            f"learning rate: 1.0E-04 | lm loss: {9 - step % 100 / 99:.6E} | loss scale: 65536.0 | "
            f"grad norm: {step % 7:.3f} | number of skipped iterations:   0 |\n"
        )


def plog() -> Iterator[str]:
    """A process log of CANN at level INFO."""
    for task in range(30_000):
        stamp = f"2021-11-02-10:{task // 60 % 60:02}:{task % 60:02}.{task % 1000:03}.001"
        yield (
            f"[INFO] GE(4000,python3):{stamp} [ge_executor.cc:{task % 900}]4001 ExecModel:task {task}, stream "
            f"{task % 40} notify record, event_id={task % 100}, address 0x{task * 4096:x}\n"
        )


def progress_log() -> Iterator[str]:
    """A progress bar that rewrites its line."""
    yield "torch_npu 2.1\n"
    for step in range(40_000):
        end = "\n" if step % 1000 == 999 else ""
        yield (
            f"\r{step % 1000 // 10:3}%|####      | {step % 1000}/1000 [00:{step % 60:02}<01:12, {step % 9 + 1}.31it/s, "
            f"loss={step % 71 / 10:.4f}]{end}"
        )


def op_summary() -> Iterator[str]:
    """A table of kernels."""
    yield (
        "Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),"
        "Task Wait Time(us),Block Dim,Mix Block Dim,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
        "Output Data Types,Output Formats,aicore_time(us),total_cycles,vec_time(us),vec_ratio,mac_time(us),mac_ratio\n"
    )
    types = ("MatMulV2", "Conv2D", "TransData", "Cast", "Add", "Mul", "ReduceSum", "ReLU", "Adam")
    for row in range(30_000):
        kind, took = types[row % 9], 1 + row * 7 % 300
        yield (
            f'4,{row % 60000},{row % 3 + 1},{row // 3000},model/block_{row % 90}/{kind}_{row},{kind},AI_CORE,"'
            f'{1736408883704643 + row * 37}.212\t",{took}.125,0.5,{row % 32 + 1},0,"""32,64,{56 + row % 4},56;64,64""",'
            'FLOAT16;FLOAT16,NC1HWC0;FRACTAL_Z,"""32,64,56,56""",FLOAT16,NC1HWC0,'
            f"{took}.1,{took * 1000},1.5,0.1,9.5,0.9\n"
        )


def step_trace() -> Iterator[str]:
    """The iterations of a graph."""
    yield (
        "Iteration ID,FP Start(us),BP End(us),Iteration End(us),Iteration Time(us),FP to BP Time(us),"
        "Iteration Refresh(us),Data Aug Bound(us),Model ID\n"
    )
    for row in range(30_000):
        at = 1736408883704643 + row * 9000
        yield f"{row},{at}.212,{at + 4000}.212,{at + 8000}.212,{8000 + row % 90}.5,4000.25,3900.125,{row % 90}.5,4\n"


def comparison() -> Iterator[str]:
    """A comparison of dumps."""
    yield (
        "Index,OpSequence,OpType,NPUDump,DataType,Address,GroundTruth,DataType,Address,TensorIndex,Shape,OverFlow,"
        "CosineSimilarity,MaxAbsoluteError,AccumulatedRelativeError,RelativeEuclideanDistance,KullbackLeiblerDivergence,"
        "StandardDeviation,MeanAbsoluteError,RootMeanSquareError,MaxRelativeError,MeanRelativeError,CompareFailReason\n"
    )
    for row in range(30_000):
        yield (
            f"{row},{row},Conv2D,model/layer_{row}/Conv2D,float16,NaN,model/layer_{row}/Conv2D,float32,NaN,"
            f'model/layer_{row}/Conv2D:output:0,"[32,64,56,56]",NO,0.99{row % 9999:04},0.001234,0.000123,0.000456,'
            f'0.000001,"(0.1;0.2),(0.1;0.2)",0.000111,0.000222,0.333,0.0004,\n'
        )


def made(path: Path, rows: Callable[[], Iterator[str]], size: int) -> Path:
    """A file of this size: the first row once, the others again and again."""
    first, *rest = rows()
    block = "".join(rest).encode()
    with path.open("wb") as file:
        file.write(first.encode())
        while file.tell() < size:
            file.write(block)
    return path


KINDS = {
    "train.log": steps_log,
    "scale.log": scale_log,
    "plog-1_20211102101112345.log": plog,
    "bar.log": progress_log,
    "op_summary_0_1.csv": op_summary,
    "step_trace_0_1.csv": step_trace,
    "result_20211102101112.csv": comparison,
}


@pytest.mark.parametrize("name", parameters(KINDS, str, per_group=1))
def test_a_large_file_needs_little(tmp_path: Path, name: str) -> None:
    whole = ALL and name in ("train.log", "op_summary_0_1.csv")
    size = (1 << 30) if whole else MODERATE
    path = made(tmp_path / name, KINDS[name], size)
    checked(path)
    path.unlink()


@pytest.mark.nightly
def test_a_packed_table_needs_little(tmp_path: Path) -> None:
    path = made(tmp_path / "op_summary_0_1.csv", op_summary, MODERATE)
    packed = tmp_path / "op_summary_0_1.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    path.unlink()
    assert "kernel table" in checked(packed)


def _one_line(file: io.BufferedWriter) -> None:
    file.write(b"torch_npu ")
    for _ in range(48):
        file.write(b"loss 1 " * 1000 + b"a" * (MB - 7000))


def _zeros(file: io.BufferedWriter) -> None:
    file.write(b"torch_npu 2.1\n" * 100)
    for _ in range(64):
        file.write(bytes(MB))


def _breaks(file: io.BufferedWriter) -> None:
    file.write(b"torch_npu 2.1\n")
    for _ in range(16):
        file.write(b"\n" * MB)


def _steps(file: io.BufferedWriter) -> None:
    file.write(b"torch_npu 2.1\n")
    words = [f"{chr(97 + one % 26)}{chr(97 + one // 26 % 26)}{chr(97 + one // 676 % 26)}" for one in range(1000)]
    for number in range(MANY):
        file.write(f"step {number} of {words[number % 997]}{words[number // 997 % 991]} loss: 0.5\n".encode())


def _columns(file: io.BufferedWriter) -> None:
    file.write(b"Name,Type,Accelerator Core,Start Time(us),Duration(us)" + b",a" * 1_000_000 + b"\n")
    for _ in range(8):
        file.write(b"n,t,AI_CORE,1,1" + b",a" * 1_000_000 + b"\n")


def _names(file: io.BufferedWriter) -> None:
    file.write(b"Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Input Shapes\n")
    for number in range(MANY):
        file.write(f"op{number},Type{number},AI_CORE,1,1,0,{number}\n".encode())


def _labels(file: io.BufferedWriter) -> None:
    file.write(b"Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)\n")
    for number in range(MANY):
        file.write(f"step{number},op,Add,AI_CORE,1,1,0\n".encode())


def _quotes(file: io.BufferedWriter) -> None:
    file.write(b"Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)\n")
    file.write(b'"' + b"n,Add,AI_CORE,1,1,0\n" * MANY)


BOMBS = {
    "line.log": _one_line,
    "zeros.log": _zeros,
    "breaks.log": _breaks,
    "steps.log": _steps,
    "kernel_details_columns.csv": _columns,
    "kernel_details_names.csv": _names,
    "kernel_details_labels.csv": _labels,
    "kernel_details_quotes.csv": _quotes,
}


@pytest.mark.parametrize("name", parameters(BOMBS, str))
def test_no_content_needs_much(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        BOMBS[name](file)
    checked(path)
    path.unlink()


def facts_of(text: str) -> list[Fact]:
    return read(io.BytesIO(text.encode()), "train.log", [SeriesWatcher()])


def test_a_huge_log_loses_nothing_that_matters(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = list(islice(steps_log(), 30_000))
    steps[25_000] = "epoch 4, total_step 25000, total loss is nan , time 220.000 samples/sec\n"
    steps[26_001] = "EI0002: The wait execution of the Notify register times out.\n"
    known = [f"step {step}, loss scale: {65536 if step < 9000 else 32768}.0\n" for step in range(12_000)]
    warned = ["W 1 Traverse function call for 12 and the rest\n"] + ["EZ9999: inner error\n"] * 5000
    text = "".join([*steps, *known, *warned])
    exact = facts_of(text)
    monkeypatch.setattr(logs_lines, "EXACT", 0)
    thinned = facts_of(text)
    assert [attrs_of(one) for one in thinned[:2]] == [attrs_of(one) for one in exact[:2]]
    names = [(one.kind, one.name) for one in exact]
    assert [(one.kind, one.name) for one in thinned] == names
    assert ("run_event", "EI0002") in names and ("run_event", "EZ9999") in names
    for one, other in zip(exact, thinned, strict=True):
        if one.name == "EZ9999":
            assert 0 <= one.get("total") - other.get("total") < 32
        if one.name == "loss_scale":
            assert (other.get("drops"), other.span) == (one.get("drops"), one.span)
        if one.name == "loss" and one.kind == "run_series":
            assert other.span.line == one.span.line == 25_001


def test_blocks_of_a_table_do_not_matter(tmp_path: Path) -> None:
    """Lines end where blocks of the reader do, or anywhere else; a line that is too long spoils no other."""
    header = "Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)\n"
    rows = [f"{'n' * (number % 700)},Add,AI_CORE,1,2,0\n" for number in range(2000)]
    rows[1000] = f"{'long' * MB},Add,AI_CORE,1,2,0\n"
    rows[1500] = "广,Add,AI_CORE,1,2,0\n"
    path = tmp_path / "kernel_details.csv"
    path.write_bytes(b"\xef\xbb\xbf" + (header + "".join(rows)).encode("gb18030"))
    found = read_artifact(str(path), "kernel_details.csv")
    assert isinstance(found, list)
    source = attrs_of(found[0])
    assert (source["rows"], source["malformed"], source["first_malformed"]) == (1999, 1, 1002)

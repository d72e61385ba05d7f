"""Tables of profilers, of comparisons and of scripts, with the headings that npulint knows."""

from __future__ import annotations

import functools
import gzip

from hypothesis import strategies as st

from npulint.data.run_columns import columns
from scripts.fuzzing.lines import NUMBERS
from scripts.fuzzing.mutation import MOST, encoded, mutated, nasty

_MORE = (
    ("step", "loss", "lr", "time"),
    ("Wall time", "Step", "Value"),
    ("epoch", "iter", "train_loss", "val/loss", "grad_norm", "loss_scale"),
    ("NPUDump", "GroundTruth", "CosineSimilarity", "MaxAbsoluteError", "CompareFailReason"),
    (
        "NPU Name",
        "Bench Name",
        "NPU Dtype",
        "Bench Dtype",
        "NPU Tensor Shape",
        "Cosine",
        "MaxAbsErr",
        "Result",
        "Err_message",
    ),
    ("LeftOp", "RightOp", "TensorIndex", "CosineSimilarity", "OpType", "MeanRelativeError"),
)
_NAMES = (
    *(
        "op_summary_0.csv",
        "kernel_details.csv",
        "op_statistic_1.csv",
        "step_trace_time.csv",
        "loss.csv",
        "result_1.csv",
    ),
    *(
        "api_statistic.csv",
        "cluster_step_trace_time.csv",
        "memory_record.csv",
        "operator_details.csv",
        "x.csv",
        "log.csv",
    ),
    "ASCEND_PROFILER_OUTPUT/operator_memory.csv",
)
_CELLS = st.one_of(
    NUMBERS,
    NUMBERS,
    st.sampled_from(
        ["N/A", "", "MatMulV2", "AI_CORE", "AI_CPU", "dynamic", '"1,2;3"', "FLOAT16;ND", "1\t", "0", "Step 1"]
    ),
    nasty,
)


@functools.cache
def _headings() -> tuple[tuple[str, ...], ...]:
    known = [tuple(column.spellings[0][0] for column in some if column.spellings) for some in columns().values()]
    return (*known, *_MORE)


@st.composite
def tables(draw: st.DrawFn) -> dict[str, bytes]:
    """A table under some name, perhaps packed."""
    heading = list(draw(st.sampled_from(_headings())))
    for _ in range(draw(st.integers(0, 2))):
        heading[draw(st.integers(0, len(heading) - 1))] = draw(st.one_of(nasty, st.sampled_from(heading)))
    separator = draw(st.sampled_from([",", ",", ",", "\t", ";"]))
    rows = [separator.join(heading)]
    for _ in range(draw(st.integers(0, 6))):
        row = [draw(_CELLS) for _ in heading]
        if draw(st.integers(0, 9)) == 0:
            row = row[: draw(st.integers(0, len(row)))] + row * draw(st.sampled_from([0, 1, 300]))
        line = separator.join(row)[:MOST]
        rows += [line] * min(draw(st.sampled_from([1, 1, 1, 40, 1500])), MOST // (len(line) + 1))
    end = draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
    data = encoded(end.join(rows) + end)[:MOST]
    if draw(st.integers(0, 3)) == 0:
        data = draw(mutated(data, data))
    name = draw(st.sampled_from(_NAMES))
    if draw(st.integers(0, 14)) == 0:
        name, packed = f"{name}.gz", gzip.compress(data, mtime=0)
        data = packed if draw(st.booleans()) else draw(mutated(packed, packed))
    return {name: data}

"""How a run ended, by its output: the process that failed first, and what it survived."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.runs.read.logs import read
from npulint.runs.read.logs.ending import RunEnd

TRACE = """Traceback (most recent call last):
  File "/workspace/train.py", line 12, in main
    step(batch)
  File "/usr/lib/python3.11/site-packages/torch/nn/modules/module.py", line 9, in _call_impl
    return forward_call(*args)
"""
STEPS = "step 1 loss 2.0\nstep 2 loss 1.9\n"


def end_of(text: str, path: str = "train.log") -> RunEnd:
    (end,) = [fact for fact in read(io.BytesIO(text.encode()), path) if isinstance(fact, RunEnd)]
    return end


def prefixed(prefix: str, text: str) -> str:
    return "".join(f"{prefix}{line}" for line in text.splitlines(keepends=True))


ENDS = {
    "a traceback": (f"{TRACE}KeyError: 'x'\n", "failed", "KeyError"),
    "an exception without a message": (f"{TRACE}AssertionError\n", "failed", "AssertionError"),
    "an exception of a package": (f"{TRACE}torch.OutOfMemoryError: NPU out of memory\n", "failed", "OutOfMemoryError"),
    "of a rank": (prefixed("[rank3]: ", f"{TRACE}KeyError: 'x'\n"), "failed", "KeyError"),
    "of an actor": (prefixed("(Worker pid=7) ", f"{TRACE}KeyError: 'x'\n"), "failed", "KeyError"),
    "in colours": (f"\x1b[31m{TRACE}\x1b[1mKeyError\x1b[0m: 'x'\n", "failed", "KeyError"),
    "marks below the source": (
        TRACE.replace("step(batch)\n", "step(batch)\n    ^^^^\n") + "OSError: no\n",
        "failed",
        "OSError",
    ),
    "survived": (f"{TRACE}KeyError: 'x'\n{STEPS}", "open", ""),
    "survived and finished": (f"{TRACE}KeyError: 'x'\n{STEPS}Training finished\n", "finished", ""),
    "survived by other ranks only": (
        f"{TRACE}KeyError: 'x'\n{STEPS}failed (exitcode: 1) local_rank: 0 (pid: 9) of binary: python\n",
        "failed",
        "KeyError",
    ),
    "the launcher only": (
        f"{STEPS}ChildFailedError: train.py FAILED exitcode : 1 (pid: 9)\n",
        "elsewhere",
        "ChildFailedError",
    ),
    "the launcher behind it": (
        f"{TRACE}KeyError: 'x'\n{TRACE}torch.distributed.elastic.multiprocessing.errors.ChildFailedError: \n",
        "failed",
        "KeyError",
    ),
    "a lost peer before it": (
        prefixed("[rank0]: ", f"{TRACE}ConnectionResetError: reset\n")
        + prefixed("[rank1]: ", f"{TRACE}KeyError: 'x'\n"),
        "failed",
        "KeyError",
    ),
    "killed": (f"{STEPS}run.sh: line 3: 812 Killed    python train.py\n", "signal", ""),
    "an exit code of a signal": (f"{STEPS}command terminated with exit code 137\n", "signal", ""),
    "segmentation fault": (f"{STEPS}Segmentation fault (core dumped)\n", "signal", ""),
    "interrupted": (f"{TRACE}KeyboardInterrupt\n", "signal", "KeyboardInterrupt"),
    "finished": (f"{STEPS}{{'train_runtime': 12.3, 'train_loss': 1.2}}\n", "finished", ""),
    "running": (STEPS, "open", ""),
    "nothing": ("", "open", ""),
    "exit code 0": (f"{STEPS}exit code 0\n", "open", ""),
}


@pytest.mark.parametrize("name", ENDS)
def test_the_end_of_a_run(name: str) -> None:
    text, expected, exception = ENDS[name]
    end = end_of(text)
    assert (end.name, end.exception) == (expected, exception)


def test_the_line_of_the_exception_and_of_the_code() -> None:
    end = end_of(f"{STEPS}{TRACE}KeyError: 'x'\n")
    assert (end.span.line, end.file, end.source_line, end.function) == (8, "/workspace/train.py", 12, "main")


def test_ranks_that_print_at_once() -> None:
    first, second = (
        prefixed(f"[rank{rank}]: ", f"{TRACE}{error}\n").splitlines()
        for rank, error in ((1, "KeyError: 1"), (2, "OSError"))
    )
    mixed = "".join(f"{line}\n" for pair in zip(first, second, strict=True) for line in pair)
    end = end_of(mixed)
    assert (end.exception, end.rank, end.failures) == ("KeyError", "1", 2)


def test_the_exception_that_led_to_another() -> None:
    chain = "\nDuring handling of the above exception, another exception occurred:\n\n"
    end = end_of(f"{TRACE}KeyError: 'x'\n{chain}{TRACE}ValueError: bad\n")
    assert (end.exception, end.cause, end.failures) == ("ValueError", "KeyError: 'x'", 1)
    assert end.quote == "ValueError: bad … KeyError: 'x'"


def test_the_signal_of_a_launcher() -> None:
    end = end_of(f"{STEPS}failed (exitcode: -9) local_rank: 3 (pid: 42) of binary: python\n")
    assert (end.signal, end.rank, end.exit_code) == ("SIGKILL", "3", -9)


def test_a_message_near_the_end_explains_it() -> None:
    assert end_of(f"{TRACE}KeyError: 'x'\n").explained == "no"
    assert end_of(f"{TRACE}RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n").explained == "yes"
    umbrella = "[ERROR] 2024-08-18-22:37:51 (PID:1, Device:0, RankID:0) ERR00100 PTA call acl api failed\n"
    assert end_of(f"{TRACE}RuntimeError: see above\n{umbrella}").explained == "unknown"
    assert end_of(f"{TRACE}ModuleNotFoundError: No module named 'sympy'\n{umbrella}").explained == "no"


@given(
    st.lists(st.sampled_from([*TRACE.splitlines(), "KeyError: 'x'", "", "step 1 loss 2", "exit code 1", "[rank1]: x"]))
)
def test_no_order_of_lines_is_an_error(lines: list[str]) -> None:
    assert end_of("\n".join(lines)).name in ("failed", "elsewhere", "signal", "finished", "open")

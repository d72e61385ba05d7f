"""MPI launches that become one process for each rank, and what these processes do in a shell."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Text
from npulint.fix.rank_loop import all_in_ranks
from npulint.fix.script import Script
from npulint.fix.sibling import plan
from npulint.fix.source import edited_text
from npulint.judge.findings import FixStep

PYTHON = """\
#!/bin/bash
echo "$RANK_ID $DEVICE_ID $ASCEND_DEVICE_ID $RANK_SIZE $RANK_TABLE_FILE ${SEED-none} $*" >> ranks.txt
case "$*" in
    *fail*) if [ "$RANK_ID" = 1 ]; then exit 7; fi; exec sleep 60 ;;
esac
"""


def converted(text: str) -> str:
    script = Script(text, "run.sh")
    return edited_text(text, all_in_ranks(script))


def run(folder: Path, text: str, table: str = "/etc/table.json") -> subprocess.CompletedProcess[str]:
    """Runs a script with a python that only notes what it gets."""
    (folder / "bin").mkdir(exist_ok=True)
    python = folder / "bin" / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    variables = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}
    if table:
        variables["RANK_TABLE_FILE"] = table
    return subprocess.run(["bash", "-c", text], cwd=folder, env=variables, capture_output=True, text=True, timeout=50)


def test_each_rank_is_a_process_with_a_device(tmp_path: Path) -> None:
    done = run(tmp_path, converted("mpirun -np 4 -x SEED=3 python -u train.py --lr 0.1\necho done $?\n"))
    lines = sorted((tmp_path / "ranks.txt").read_text().splitlines())
    assert lines == [f"{rank} {rank} {rank} 4 /etc/table.json 3 -u train.py --lr 0.1" for rank in range(4)]
    assert done.stdout == "done 0\n"


def test_the_failure_of_a_rank_ends_the_others_and_is_that_of_the_launch(tmp_path: Path) -> None:
    began = time.monotonic()
    done = run(tmp_path, converted("mpirun -np 3 python fail.py\necho status $?\n"))
    assert done.stdout == "status 7\n"
    assert time.monotonic() - began < 30  # the other ranks sleep for 60 seconds


def test_without_a_rank_table_nothing_starts(tmp_path: Path) -> None:
    done = run(tmp_path, converted("mpirun -np 2 python train.py\n"), table="")
    assert done.returncode != 0
    assert "the path of the rank table is needed" in done.stderr
    assert not (tmp_path / "ranks.txt").exists()


def test_output_goes_where_it_went(tmp_path: Path) -> None:
    run(
        tmp_path,
        converted("for n in 1 2; do\n    horovodrun -np $n -H localhost:2 python train.py > log$n 2>&1\ndone\n"),
    )
    assert sorted(line.split()[3] for line in (tmp_path / "ranks.txt").read_text().splitlines()) == ["1", "2", "2"]
    assert (tmp_path / "log2").exists()


@pytest.mark.parametrize(
    "text",
    [
        "mpirun -np 8 -H a:4,b:4 python train.py",
        "mpirun --hostfile hosts -np 8 python train.py",
        "mpirun -np 8 --rank-by core python train.py",
        "mpirun -np 8 python train.py | tee log",
        "mpirun -np 8 python train.py &",
        "SEED=1 mpirun -np 8 python train.py",
        "mpirun python train.py",
        "#!/bin/sh\nmpirun -np 8 python train.py",
        "mpirun -np $(nproc) python train.py",
        "mpirun -np 8 ./train",
        "test -d data && mpirun -np 8 python train.py",
    ],
)
def test_other_launches_are_refused(text: str) -> None:
    with pytest.raises(FixRefused):
        converted(text + "\n")


def test_a_copy_for_the_npu_has_the_ranks_or_is_not_written() -> None:
    step = FixStep("sibling", "run.sh", Span(), {"text": "export JOB_ID=1", "processes": "loop"})
    empty = Text("run_npu.sh", "shell", "", new=True)
    good, bad = (Text("run.sh", "shell", f"mpirun {more}-np 2 python train.py\n") for more in ("", "--hostfile x "))
    (edit,) = plan(step, good, lambda _: empty).edits
    assert edit.text.startswith("export JOB_ID=1\n(\n    export RANK_TABLE_FILE=")
    with pytest.raises(FixRefused):
        plan(step, bad, lambda _: empty)

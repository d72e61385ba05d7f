"""GPUs that jobs of Slurm request: in directives and commands, and what requests NPUs instead."""

from __future__ import annotations

import pytest

from npulint.facts.model import FileFacts, decode, encode
from npulint.read.shell.slurm import SlurmRequest
from npulint.read.shell_script import read_shell

CANN = "source /usr/local/Ascend/ascend-toolkit/set_env.sh\n"


def requests(text: str) -> list[SlurmRequest]:
    return [one for one in read_shell(text, "job.sh") if isinstance(one, SlurmRequest)]


@pytest.mark.parametrize(
    ("text", "part", "instead"),
    [
        ("#SBATCH --gres=gpu:8\n", "--gres=gpu", "--gres=npu"),
        ("#SBATCH --gres=gpu:a100:8\n", "--gres=gpu:a100", "--gres=npu"),
        ("#SBATCH --gres=gpu:${N}\n", "--gres=gpu", "--gres=npu"),
        ("#SBATCH -N 2 --gres gpu:8\n", "--gres gpu", "--gres npu"),
        ("#SBATCH --gpus-per-node=8\n", "--gpus-per-node=", "--gres=npu:"),
        ("#SBATCH --gpus=16\n", "--gpus=16", ""),
        ("srun -p $P --gres=gpu:${GPUS_PER_NODE} --ntasks=8 python train.py\n", "--gres=gpu", "--gres=npu"),
        ("srun -p $1 \\\n    --gres=gpu:8 \\\n    ${@:2}\n", "--gres=gpu", "--gres=npu"),
    ],
)
def test_what_names_gpus_and_what_requests_npus(text: str, part: str, instead: str) -> None:
    found = requests(text)
    assert [(one.part, one.instead, one.for_npu) for one in found] == [(part, instead, False)]
    assert requests(CANN + text)[0].for_npu


@pytest.mark.parametrize(
    "text",
    [
        "##SBATCH --gres=gpu:8\nsrun python train.py\n",
        "# sbatch --gres=gpu:8 run.sh\n",
        "#SBATCH --gres=npu:8\n",
        "#SBATCH --gres=gpumem:8\n",
        "srun python train.py --gpus 8\n",
        "deepspeed --num_gpus=8 train.py\n",
        "python train.py --gres=gpu:1\n",
    ],
)
def test_comments_and_options_of_programs_are_no_requests(text: str) -> None:
    assert requests(text) == []


def test_the_place_is_the_option() -> None:
    found = requests("#!/bin/bash\n#SBATCH -N 2 --gres=gpu:8\n")[0]
    assert (found.span.line, found.span.column, found.name) == (2, 14, "--gres=gpu:8")


def test_requests_are_kept_in_the_cache() -> None:
    facts = requests("#SBATCH --gres=gpu:8\n")
    kept = decode(encode(FileFacts("job.sh", "shell", facts=list(facts))))
    assert [one.name for one in kept.facts] == ["--gres=gpu:8"]

"""What files other than Python code say of a program: when it surely holds, may hold, and does not."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.commands.check.project_results import facts_of, loaded_files
from npulint.commands.check.temp_project import materialize
from npulint.core.cache import open_cache
from npulint.recognizers.programs import Program

TRAIN = "import torch\n\ntorch.nn.Linear(3, 3)(torch.ones(3)).sum().backward()\n"
RUN = "#!/bin/bash\nexport ASCEND_LAUNCH_BLOCKING={}\npython3 train.py\n"

# files besides train.py and other.py, the file asked for its variable -> how it holds when train.py is started
CASES: dict[str, tuple[dict[str, str], str, str]] = {
    "the only launcher": ({"run.sh": RUN.format(1)}, "run.sh", "surely"),
    "one of two launchers": ({"run.sh": RUN.format(1), "again.sh": RUN.format(0)}, "run.sh", "maybe"),
    "two launchers that agree": ({"run.sh": RUN.format(1), "again.sh": RUN.format(1)}, "run.sh", "surely"),
    "a launcher that starts the launcher": (
        {"all.sh": "export ASCEND_LAUNCH_BLOCKING=1\nbash run.sh\n", "run.sh": RUN.format(0)},
        "all.sh",
        "maybe",
    ),
    "a script that starts nothing": (
        {"env.sh": "export ASCEND_LAUNCH_BLOCKING=1\n", "run.sh": RUN.format(1)},
        "env.sh",
        "maybe",
    ),
    "an image": ({"Dockerfile": "FROM ubuntu\nENV ASCEND_LAUNCH_BLOCKING=1\n"}, "Dockerfile", "maybe"),
    "an image that starts it": (
        {"Dockerfile": 'FROM ubuntu\nENV ASCEND_LAUNCH_BLOCKING=1\nCMD ["python3", "train.py"]\n'},
        "Dockerfile",
        "maybe",
    ),
}


def _of_train(files: dict[str, str]) -> Program:
    with materialize(files) as (_, sources):
        read = facts_of(loaded_files(sources), open_cache(False))
    return next(program for program in assemble(".", read) if program.entry == "train.py")


@pytest.mark.parametrize(("files", "path", "answer"), CASES.values(), ids=CASES.keys())
def test_a_variable_of_a_file_holds_as_the_file_takes_part_in_the_start(
    files: dict[str, str], path: str, answer: str
) -> None:
    program = _of_train({"train.py": TRAIN, "other.py": TRAIN, **files})
    (fact,) = (fact for fact in program.index.named("environment", "ASCEND_LAUNCH_BLOCKING") if fact.path == path)
    assert program.how_runs(fact) == answer
    assert program.surely_runs(fact) == (answer == "surely")


@pytest.mark.parametrize(
    "files",
    [
        {"run.sh": RUN.format(1).replace("train", "other")},
        {"run.sh": "export ASCEND_LAUNCH_BLOCKING=1\nbash one.sh\n", "one.sh": RUN.format(0).replace("train", "other")},
        {"run.sh": "export ASCEND_LAUNCH_BLOCKING=1\nswift sft --model a --output_dir b\n"},
    ],
    ids=["itself", "by another launcher", "a training of a framework"],
)
def test_what_a_launcher_sets_that_starts_something_else_is_no_fact_of_a_program(files: dict[str, str]) -> None:
    program = _of_train({"train.py": TRAIN, "other.py": TRAIN, **files})
    facts = program.index.named("environment", "ASCEND_LAUNCH_BLOCKING")
    assert "run.sh" not in {fact.path for fact in facts}


@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("def main():\n    torch.cuda.synchronize()\n\nmain()\n", "surely"),
        ("def main(n):\n    if n:\n        torch.cuda.synchronize()\n\nmain(input())\n", "maybe"),
        ("def unused():\n    torch.cuda.synchronize()\n\nif __name__ == '__main__':\n    torch.manual_seed(1)\n", "no"),
    ],
    ids=["called", "under an unknown condition", "never called"],
)
def test_code_holds_as_the_program_reaches_it(code: str, answer: str) -> None:
    program = _of_train({"train.py": f"import torch\n\n{code}"})
    (fact,) = program.index.of_kind("cuda")
    assert program.how_runs(fact) == answer

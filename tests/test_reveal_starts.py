"""The starts of programs: how precisely they are read from command lines, launchers, Makefiles and Dockerfiles."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.model.execution.launchers import launcher_starts
from npulint.model.execution.project_files import ProjectFiles
from npulint.model.execution.starts import Start, StartError, start_of

SCRIPTS = ("train.py", "eval.py", "sub/other.py", "sub/train.py", "pkg/__init__.py", "pkg/__main__.py", "pkg/tool.py")


@pytest.fixture
def files(tmp_path: Path) -> ProjectFiles:
    for path in SCRIPTS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("", encoding="utf-8")
    return ProjectFiles(str(tmp_path))


def shown(start: Start) -> str:
    """A start in a line: the variables and the folder, the command line, and what prevents that it is followed."""
    variables = [f"{name}={text}" for name, text in start.environment]
    folder = [f"{start.folder}>"] if start.folder else []
    search = [f"({' '.join(one or '.' for one in start.search)})"] if start.search else []
    why = [f"[{start.unfollowed}]"] if start.unfollowed else []
    return " ".join([*variables, *folder, *search, start.command, *why])


COMMANDS = {
    "python train.py": "python train.py",
    "LR=3 BS='a b' python3.11 -u train.py --lr 0.1": "LR=3 BS=a b python train.py --lr 0.1",
    "python -m pkg.tool x y": "python -m pkg.tool x y",
    "python -m pkg x": "python -m pkg.__main__ x",
    "python ./sub/../train.py": "python train.py",
    "python train.py > log 2>&1 &": "python train.py",
    "python train.py --lr \"$LR\" --name 'x'": "python train.py --lr … --name x",
    "python train.py --lr $LR": "python train.py …",
    'python train.py "$@"': "python train.py …",
    "env LR=3 python train.py": "LR=3 python train.py",
    "LR=3 env -i python train.py": "python train.py",
    "LR=3 sudo python train.py": "python train.py",
    "PYTHONPATH=sub:/elsewhere python train.py": "PYTHONPATH=sub:/elsewhere (sub) python train.py",
    "PYTHONPATH=. python sub/other.py": "PYTHONPATH=. (.) python sub/other.py",
    "PYTHONPATH=$X/sub python train.py": "python train.py [PYTHONPATH]",
    "PYTHONPATH=$PYTHONPATH:sub python train.py": "(sub) python train.py",
    "python -O train.py": "python train.py [-O]",
    "python -W ignore -X dev train.py": "python train.py",
    "python -W error train.py": "python train.py [-W]",
    "PYTHONOPTIMIZE=1 python train.py": "PYTHONOPTIMIZE=1 python train.py [PYTHONOPTIMIZE]",
    "python2 train.py": "python train.py [python2]",
    "torchrun --nproc_per_node 8 train.py --lr 3": "python train.py --lr 3",
    "torchrun --nnodes=2 --rdzv_endpoint $HOST:29500 -m pkg.tool --lr 3": "python -m pkg.tool --lr 3",
    "python -m torch.distributed.run --nproc_per_node=8 train.py --lr 3": "python train.py --lr 3",
    "accelerate launch --config_file a.yaml --num_processes 2 train.py --lr 3": "python train.py --lr 3",
    "accelerate launch --multi_gpu -m pkg.tool 3": "python -m pkg.tool 3",
    "deepspeed --num_gpus 2 train.py --lr 3": "python train.py … --lr 3",
    "deepspeed --no_local_rank train.py --lr 3": "python train.py --lr 3",
    "python -m torch.distributed.launch --nproc_per_node=8 train.py --lr 3": "python train.py … --lr 3",
    "python -m torch.distributed.launch --use_env train.py --lr 3": "python train.py --lr 3",
    "mpirun -np 8 -x LR=3 python train.py 1": "LR=3 python train.py 1",
    "srun --export=NONE python train.py 1": "python train.py 1",
    "nohup timeout 100 python train.py 1": "python train.py 1",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_line_starts_a_program(command: str, files: ProjectFiles) -> None:
    assert shown(start_of(command, files)) == COMMANDS[command]


REFUSED = {
    "": "unreadable",
    "python 'train.py": "unreadable",
    "python train.py; python eval.py": "several-commands",
    "cd sub && python train.py": "several-commands",
    "python train.py | tee log": "several-commands",
    "python train.py\npython eval.py": "several-commands",
    '[ -n "$X" ] && python train.py': "several-commands",
    "ls": "no-python",
    "bash run.sh": "no-python",
    "python": "no-python",
    "python -c 'import train'": "no-python",
    "python $SCRIPT": "unknown-script",
    'python -m "$MODULE"': "unknown-script",
    "python missing.py": "no-script",
    "python other.py": "no-script",
    "python /elsewhere/train.py": "no-script",
    "python ../train.py": "no-script",
    "python pkg": "no-script",
    "python -m missing": "no-module",
    "python -m pytest train.py": "no-module",
    "python -m other": "no-module",
}


@pytest.mark.parametrize("command", REFUSED)
def test_what_starts_no_program_of_the_project_is_refused(command: str, files: ProjectFiles) -> None:
    with pytest.raises(StartError) as refused:
        start_of(command, files)
    assert refused.value.reason == REFUSED[command]


def test_an_absolute_path_may_lead_into_the_project(files: ProjectFiles) -> None:
    start = start_of(f"python {files.root}/sub/train.py", files)
    assert (start.script, start.named) == ("sub/train.py", f"{files.root}/sub/train.py")


SHELL = {
    "python train.py --lr 0.1\n": ["python train.py --lr 0.1"],
    'python train.py --lr "$LR"\n': ["python train.py --lr …"],
    "LR=0.1\nNAME='a b'\npython train.py $LR \"$NAME\"\n": ["python train.py 0.1 a b"],
    "LR=0.1\npython train.py $LR\nLR=0.2\npython train.py $LR\n": ["python train.py 0.1", "python train.py 0.2"],
    "if [ $X ]; then LR=0.2; python train.py $LR; fi\n": ["python train.py 0.2"],
    "export LR=3\npython train.py\n": ["LR=3 python train.py"],
    "ROOT=$(cd $(dirname $0)/.. && pwd)\ncd $ROOT/sub\npython train.py\n": ["sub> python sub/train.py"],
    "cd sub\npython train.py\n": ["sub> python sub/train.py"],
    'cd "$WHERE"\npython eval.py 1\n': ["python eval.py 1"],
    "export PYTHONPATH=$(pwd)/sub:$PYTHONPATH\npython train.py\n": ["(sub) python train.py"],
    "python /workspace/sub/other.py 1\n": ["python sub/other.py 1"],
    "bash -c 'python eval.py 1'\n": ["python eval.py 1"],
    "echo python eval.py\ncp eval.py old.py\n# python eval.py\n": [],
    "ssh host python eval.py 1\n": ["python eval.py …"],
    "alias python='python -O'\npython eval.py\n": ["python eval.py [alias]"],
    "python -c 'import pkg.tool'\n": ["python  [python -c]"],
    "python -c 'print(1)'\nbash other.sh\n./run\n": [],
}


@pytest.mark.parametrize("text", SHELL)
def test_a_shell_script_starts_programs(text: str, files: ProjectFiles) -> None:
    starts = launcher_starts(text, "scripts/run.sh", "shell", files)
    assert [shown(start) for start in starts] == SHELL[text]


def test_a_script_that_no_path_names_may_be_any(files: ProjectFiles) -> None:
    starts = launcher_starts('python "$SCRIPT" --lr 3\n', "run.sh", "shell", files)
    assert {start.script for start in starts} == set(SCRIPTS)
    assert {start.words for start in starts} == {("--lr", "3")}


def test_starts_have_the_line_of_the_launcher(files: ProjectFiles) -> None:
    starts = launcher_starts("set -e\n\npython train.py \\\n  1\nssh host python eval.py\n", "run.sh", "shell", files)
    assert [(start.path, start.line) for start in starts] == [("run.sh", 3), ("run.sh", 5)]


def test_lines_of_a_makefile_have_a_shell_of_their_own(files: ProjectFiles) -> None:
    text = (
        "LR = 0.1\nall:\n\tcd sub\n\tpython train.py 1\n\tcd sub && python train.py 2\nlr:\n\tpython train.py $(LR)\n"
    )
    starts = launcher_starts(text, "Makefile", "makefile", files)
    assert [shown(start) for start in starts] == [
        "python train.py 1",
        "sub> python sub/train.py 2",
        "python train.py …",  # `make LR=3` would set it
    ]
    assert [start.line for start in starts] == [4, 5, 7]


def test_a_dockerfile_starts_its_command(files: ProjectFiles) -> None:
    text = 'FROM python\nENV LR=3\nCMD ["python", "eval.py", "--name", "a b"]\n'
    starts = launcher_starts(text, "Dockerfile", "dockerfile", files)
    assert [shown(start) for start in starts] == ["python eval.py --name a b"]  # `docker run -e LR=4` would set it


def test_an_entry_point_of_a_dockerfile_may_get_further_arguments(files: ProjectFiles) -> None:
    starts = launcher_starts('FROM python\nENTRYPOINT ["python", "eval.py"]\n', "Dockerfile", "dockerfile", files)
    assert [shown(start) for start in starts] == ["python eval.py …"]


def test_the_working_folder_of_a_container_may_be_any(files: ProjectFiles) -> None:
    text = "FROM python\nWORKDIR /app/sub\nCMD python train.py\n"
    starts = launcher_starts(text, "Dockerfile", "dockerfile", files)
    assert [shown(start) for start in starts] == ["sub> python sub/train.py", "python train.py"]


def test_a_makefile_below_the_root_may_be_used_from_anywhere(files: ProjectFiles) -> None:
    starts = launcher_starts("all:\n\tpython train.py\n", "sub/Makefile", "makefile", files)
    assert [shown(start) for start in starts] == ["sub> python sub/train.py", "python train.py"]


@pytest.mark.parametrize("line", [".ONESHELL:", "export PYTHONPATH := sub"])
def test_what_changes_a_makefile_as_a_whole_is_not_followed(line: str, files: ProjectFiles) -> None:
    starts = launcher_starts(f"{line}\nall:\n\tpython train.py\n", "Makefile", "makefile", files)
    assert [(start.script, bool(start.unfollowed)) for start in starts] == [("train.py", True)]

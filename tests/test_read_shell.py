"""Launchers: environment, launches with their options, commands, packages; nothing is ever run."""

from __future__ import annotations

from textwrap import dedent
from typing import TypeVar

import msgspec
import pytest

from npulint.facts.model import Fact, FileFacts, Span, decode, encode
from npulint.read.launcher_facts import LaunchFact, ShellCommand, VariableRecord
from npulint.read.packages import Dependency
from npulint.read.shell_script import read_script, read_shell
from tests.growth import assert_linear

_F = TypeVar("_F", bound=Fact)


def read(text: str, kind: str = "") -> list[Fact]:
    return [fact for fact in read_shell(dedent(text), "test/train.sh") if not kind or fact.kind == kind]


def of_class(text: str, cls: type[_F]) -> list[_F]:
    return [fact for fact in read(text) if isinstance(fact, cls)]


def launch(text: str) -> LaunchFact:
    (fact,) = of_class(text, LaunchFact)
    return fact


def options(text: str) -> dict[str, str | None]:
    return launch(text).record.options


def environment(text: str) -> dict[str, str | None]:
    return {fact.name: fact.value for fact in of_class(text, VariableRecord)}


# -- environment


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("export RANK_SIZE=8", {"RANK_SIZE": "8"}),
        ("export A=1 B='two words' C=\"$A\"", {"A": "1", "B": "two words", "C": "1"}),
        ("A=1\nexport A", {"A": "1"}),
        ("export A", {"A": None}),
        ("A=1 python3 train.py", {"A": "1"}),
        ("A=1", {}),
        ("export A=1\nA=2", {"A": "2"}),
        ("declare -x A=1; typeset B=2; local C=3", {"A": "1"}),
        ("export -n A=1; export -f f; export -p", {}),
        ("env A=1 B=$X python3 train.py", {"A": "1", "B": None}),
        ("mpirun -np 8 -x A=1 -x B python3 train.py", {"A": "1"}),
        ("export PATH=/opt/bin:$PATH", {"PATH": None}),
        ("export A=$(date)", {"A": None}),
        ("export A=`date`", {"A": None}),
        ("export A=$((1+1))", {"A": None}),
        ("export A=$1", {"A": None}),
        ("export A=${B:-fast}", {"A": "fast"}),
        ("export A=${1:-fast}", {"A": "fast"}),
        ("export A=${B#x}", {"A": None}),
        ("# export A=1", {}),
        ("echo export A=1", {}),
        ("export A=1 # why", {"A": "1"}),
        ("export A=a#b", {"A": "a#b"}),
        ("export A=", {"A": ""}),
        ("export A=$'x y'", {"A": "x y"}),
        ("bash -c 'export A=1'", {"A": "1"}),
        ("cat > x <<EOF\nexport A=1\nEOF\nexport B=2", {"B": "2"}),
        ("cat <<-'EOF'\n\texport A=1\n\tEOF\nexport B=2", {"B": "2"}),
        ("echo 'a\nexport A=1\n'\nexport B=2", {"B": "2"}),
        ("export A=1\\\n2", {"A": "12"}),
    ],
)
def test_environment(text: str, found: dict[str, str | None]) -> None:
    assert environment(text) == found


def test_the_place_of_a_variable_is_its_word() -> None:
    (fact,) = read("if a; then\n  export RANK_SIZE=8 # eight\nfi\n", "environment")
    assert (fact.span.line, fact.span.column, fact.span.end_column) == (2, 10, 21)
    assert isinstance(fact, VariableRecord) and fact.via == "shell"


# -- launches


@pytest.mark.parametrize(
    ("text", "name", "script", "interpreter"),
    [
        ("python3 train.py", "train.py", "train.py", "python3"),
        ("python3.7 -u -W ignore train.py", "train.py", "train.py", "python3.7"),
        ("/usr/bin/python tools/train.py", "tools/train.py", "tools/train.py", "python"),
        ("python3 ${cur}/../train.py", "${cur}/../train.py", "train.py", "python3"),
        ('python3 "$cur/src/train.py"', "$cur/src/train.py", "src/train.py", "python3"),
        ("python3 a/../b/train.py", "a/../b/train.py", "b/train.py", "python3"),
        ("python3 $1", "$1", None, "python3"),
        ("python3 ${name}_train.py", "${name}_train.py", None, "python3"),
        ("${PY} -u train.py", "train.py", "train.py", "python"),
        ("PY=python3\n$PY train.py", "train.py", "train.py", "python3"),
        ("python -m pkg.train", "pkg.train", "pkg/train.py", "python"),
        ("nohup python3 train.py > log 2>&1 &", "train.py", "train.py", "python3"),
        ("nohup ${bind_core} python3 train.py", "train.py", "train.py", "python3"),
        ("taskset -c 0-11 python3 train.py", "train.py", "train.py", "python3"),
        ("timeout 100 python3 train.py", "train.py", "train.py", "python3"),
        ("A=1 time python3 train.py", "train.py", "train.py", "python3"),
        ("cd x && python3 train.py", "train.py", "train.py", "python3"),
        ("bash run.sh 8", "run.sh", "run.sh", "bash"),
        ("source ./env.sh", "./env.sh", "env.sh", "bash"),
        ("./run.sh", "./run.sh", "run.sh", ""),
        ("bash -c 'python3 train.py'", "train.py", "train.py", "python3"),
        ("msprof --application='python3 train.py' --output=x", "train.py", "train.py", "python3"),
        ("nvprof -o x python3 train.py", "train.py", "train.py", "python3"),
        ("cmd='python3 train.py'\neval $cmd", "train.py", "train.py", "python3"),
        ("x=$(python3 train.py)", "train.py", "train.py", "python3"),
        ("x=`python3 train.py`", "train.py", "train.py", "python3"),
        ("(cd x; python3 train.py)", "train.py", "train.py", "python3"),
        ("f() { python3 train.py; }", "train.py", "train.py", "python3"),
        ("function f { python3 train.py; }", "train.py", "train.py", "python3"),
        ("time { python3 train.py; }", "train.py", "train.py", "python3"),
        ("python3 \\\n  train.py", "train.py", "train.py", "python3"),
    ],
)
def test_launch(text: str, name: str, script: str | None, interpreter: str) -> None:
    fact = launch(text)
    assert (fact.name, fact.record.script, fact.interpreter) == (name, script, interpreter)


_FOLDERS = {
    "where it was started": ("python3 a.py", ""),
    "one up": ("cd ..\npython3 a.py", ".."),
    "step by step": ("cd ..\ncd model\npython3 a.py", "../model"),
    "from a computed folder": ("here=`pwd`\ncd $here/../src\npython3 a.py", "*/../src"),
    "in a list of commands": ("cd src && python3 a.py", "src"),
    "back again": ("cd src\ncd -\npython3 a.py", "*"),
    "in a branch": ('if [ "$1" ]; then\n  cd src\nfi\npython3 a.py', "*"),
    "in a text": ("cd src\nbash -c 'python3 a.py'", "src/"),
}


@pytest.mark.parametrize(("text", "folder"), _FOLDERS.values(), ids=_FOLDERS.keys())
def test_folder_that_a_script_is_started_in(text: str, folder: str) -> None:
    (found,) = [fact for fact in of_class(text, LaunchFact) if fact.name == "a.py"]
    assert found.record.folder == folder


_ROUNDS = {
    "words": ("for i in 0 1 2; do\n  python3 a.py\ndone", 3),
    "a range": ("for i in {0..7}\ndo\n  python3 a.py\ndone", 8),
    "a sequence": ("for i in $(seq 0 7); do python3 a.py; done", 8),
    "a sequence from one": ("for i in `seq 4`; do python3 a.py; done", 4),
    "counting": ("for ((i = 0; i < 8; i++))\ndo\n  python3 a.py &\ndone", 8),
    "counting to a variable": ("N=4\nfor((i=0;i<=$N;i++));do python3 a.py; done", 5),
    "counting to the caller's number": ("for ((i = 0; i < $1; i++)); do python3 a.py; done", 0),
    "the caller's words": ("for i in $*; do python3 a.py; done", 0),
    "as long as a condition holds": ("while true; do python3 a.py; done", 0),
    "behind a loop": ("for i in 0 1 2; do\n  echo $i\ndone\npython3 a.py", 0),
    "the outer loop": ("for i in 1 2; do\n  for j in 1 2 3; do python3 a.py; done\ndone", 2),
}


@pytest.mark.parametrize(("text", "rounds"), _ROUNDS.values(), ids=_ROUNDS.keys())
def test_rounds_of_the_loop_around_a_launch(text: str, rounds: int) -> None:
    assert launch(text).record.rounds == rounds


def test_places_of_options() -> None:
    record = launch('python3 a.py --x=1 \\\n  --y "a b" --z\n').record
    assert record.places == {"x": Span(1, 14, 1, 19), "y": Span(2, 3, 2, 12), "z": Span(2, 13, 2, 16)}
    assert (record.apart, record.flags) == (("y",), ("z",))


@pytest.mark.parametrize(
    "text",
    [
        "echo python3 train.py",
        'echo "python3 train.py"',
        "# python3 train.py",
        "python3 -c 'import train'",
        "python3 - <<EOF\ntrain.py\nEOF",
        "python3 --version",
        "source activate py37",
        "sed -i s/a/b/ train.py",
        "cp train.py x.py",
        "cat <<EOF\npython3 train.py\nEOF",
        "pip install torch",
    ],
)
def test_no_launch(text: str) -> None:
    assert read(text, "launch") == []


@pytest.mark.parametrize(
    ("text", "launcher", "given"),
    [
        ("mpirun -np 8 --bind-to none python3 train.py", "mpirun", {"np": "8", "bind_to": "none"}),
        ("horovodrun -np 4 -H h:4 python3 train.py", "horovodrun", {"np": "4", "H": "h:4"}),
        ("torchrun --nproc_per_node=8 train.py --a 1", "torchrun", {"nproc_per_node": "8"}),
        ("accelerate launch --config_file c.yaml train.py", "accelerate", {"config_file": "c.yaml"}),
        ("deepspeed --num_gpus 8 train.py", "deepspeed", {"num_gpus": "8"}),
        (
            "python3 -m torch.distributed.launch --nproc_per_node=$N train.py --amp",
            "torch.distributed.launch",
            {"nproc_per_node": None},
        ),
        ("torchrun --nproc_per_node=8 -m pkg.train", "torchrun", {"nproc_per_node": "8"}),
        ("D='--nproc_per_node 8'\ntorchrun $D train.py", "torchrun", {"nproc_per_node": "8"}),
        ("nohup mpirun -n 2 taskset -c 1 python train.py &", "mpirun", {"n": "2"}),
    ],
)
def test_launchers(text: str, launcher: str, given: dict[str, str | None]) -> None:
    fact = launch(text)
    assert (fact.launcher, fact.record.launcher_options) == (launcher, given)
    assert fact.name in ("train.py", "pkg.train")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("python3 t.py --a=1 --b 2 -c 3", {"a": "1", "b": "2", "c": "3"}),
        ("python3 t.py --amp --lr 0.1", {"amp": "true", "lr": "0.1"}),
        ("python3 t.py --lr -1 --amp", {"lr": "-1", "amp": "true"}),
        ("python3 t.py --batch-size 8", {"batch_size": "8"}),
        ("python3 t.py --a='x y' --b \"p q\"", {"a": "x y", "b": "p q"}),
        ("python3 t.py --a=$x --b=${y}/z --c `date`", {"a": None, "b": None, "c": None}),
        ("python3 t.py --a= --b=''", {"a": "", "b": ""}),
        ("python3 t.py \\\n  --a=1 \\\n  --b=2 \\\n", {"a": "1", "b": "2"}),
        ("python3 t.py --a=1 > log 2>&1 &", {"a": "1"}),
        ("python3 t.py --a=1 1>${log} 2>&1", {"a": "1"}),
        ("python3 t.py --a=1 2>/dev/null | tee log", {"a": "1"}),
        ("python3 t.py train --a=1", {"a": "1"}),
        ("python3 t.py --a=1 --a=2", {"a": "2"}),
        ("python3 t.py --a=1; echo --b=2", {"a": "1"}),
        ("ARGS='--a=1 --b 2'\npython3 t.py $ARGS", {"a": "1", "b": "2"}),
        ('ARGS=(\n --a 1 # one\n --b\n)\npython3 t.py "${ARGS[@]}"', {"a": "1", "b": "true"}),
        ("A=(--a 1)\nA+=(--b 2)\npython3 t.py ${A[*]}", {"a": "1", "b": "2"}),
        ("A='--a 1'\nA+=' --b 2'\npython3 t.py $A", {"a": "1", "b": "2"}),
        ("A='p q'\npython3 t.py --a=\"$A\"", {"a": "p q"}),
        ('python3 t.py "$@" --a=1', {"a": "1"}),
        ("python3 t.py --a=1\r\n", {"a": "1"}),
        ("\ufeffpython3 t.py --a=1", {"a": "1"}),
        ("python3 t.py --a=$('x) y' z) --b=1", {"a": None, "b": "1"}),  # a command ends behind its quotes
        ("python3 t.py --a=$() --b=1", {"a": None, "b": "1"}),
        ("python3 t.py --a=$((1)) --b=1", {"a": None, "b": "1"}),
    ],
)
def test_options(text: str, found: dict[str, str | None]) -> None:
    assert options(text) == found


def test_the_place_of_a_launch_is_its_interpreter_and_script() -> None:
    span = launch("\nnohup python3 \\\n   train.py --a=1\n").span
    assert (span.line, span.column, span.end_line, span.end_column) == (2, 7, 3, 12)


# -- what variables come to


@pytest.mark.parametrize(
    ("before", "value"),
    [
        ("x=1", "1"),
        ("x=1\nx=2", "2"),
        ("y=1\nx=$y", "1"),
        ('y=a; x="${y}_b"', "a_b"),
        ("x=$1", None),
        ("x=`pwd`", None),
        ("x=$(pwd)", None),
        ("", None),
        ("x=1\nif a; then x=2; fi", None),
        ("x=1\nif a; then x=1; fi", "1"),
        ("if a; then x=1; else x=2; fi", None),
        ("x=1\n[ -f y ] && x=2", None),
        ("x=1\ntest -f y || x=2", None),
        ("x=1\ncase $y in a) x=2;; esac", None),
        ("x=1\nfor i in 1 2; do x=$i; done", None),
        ("x=1\nread x", None),
        ("x=1\nlet x=x+1", None),
        ("x=1\n((x++))", None),
        ("for x in 1 2; do :; done", None),
        ("x=1\nf() { x=2; }", None),
        ("x=1\nx=${x}0", "10"),
        ("x[0]=1", None),
    ],
)
def test_a_variable_has_a_value_when_one_plain_assignment_reaches_its_use(before: str, value: str | None) -> None:
    assert options(f"{before}\npython3 t.py --x=$x") == {"x": value}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("if a; then\n x=1\n python3 t.py --x=$x\nfi", "1"),
        ("x=0\nif a; then x=1; else python3 t.py --x=$x; fi", None),
        ("x=0\nwhile a; do python3 t.py --x=$x; x=$((x+1)); done", None),
        ("for i in 1 2; do x=$i; python3 t.py --x=$x; done", None),
        ("f() { local x=1; python3 t.py --x=$x; }", "1"),
        ("x=1\nf() { python3 t.py --x=$x; }", "1"),
        ("python3 t.py --x=$x\nx=1", None),
    ],
    ids=[
        "same branch",
        "other branch",
        "changed later in the loop",
        "loop variable",
        "local",
        "global in a function",
        "too late",
    ],
)
def test_the_way_to_the_use_counts(text: str, value: str | None) -> None:
    assert options(text) == {"x": value}


LAUNCHER = """
    precision_mode="allow_mix_precision"
    data_path=""
    batch_size=64
    for para in $*
    do
        if [[ $para == --precision_mode* ]];then
            precision_mode=`echo ${para#*=}`
        elif [[ $para == --data_path* ]];then
            data_path=`echo ${para#*=}`
        fi
    done
    if [ x"${modelarts_flag}" != x ];
    then
        batch_size=32
    fi
    python3 train.py --precision_mode=${precision_mode} --data=${data_path} --batch=${batch_size} --lr=0.1
"""


def test_a_default_that_the_caller_may_change_is_known_and_marked() -> None:
    record = launch(LAUNCHER).record
    assert record.options == {"precision_mode": "allow_mix_precision", "data": None, "batch": None, "lr": "0.1"}
    assert record.defaults == ("precision_mode",)


@pytest.mark.parametrize(
    "text",
    [
        "mode=fp16\nwhile [ $# -gt 0 ]; do case $1 in --mode) mode=$2; shift;; esac; done\n",
        "mode=fp16\nwhile getopts m: o; do case $o in m) mode=$OPTARG;; esac; done\n",
        "mode=${1:-fp16}\n",
        "mode=${MODE:-fp16}\n",
        "mode=fp16\nfor a; do mode=${a#*=}; done\n",
    ],
    ids=["shift", "getopts", "positional", "environment", "for without in"],
)
def test_every_way_to_take_an_argument_leaves_the_default(text: str) -> None:
    record = launch(text + "python3 t.py --mode=$mode").record
    assert (record.options, record.defaults) == ({"mode": "fp16"}, ("mode",))


# -- guards


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        ("python3 t.py", False),
        ("if a; then python3 t.py; fi", True),
        ("if a; then :; else python3 t.py; fi", True),
        ("if a; then :; fi; python3 t.py", False),
        ("if python3 t.py; then :; fi", False),
        ("if a; then :; elif b; then python3 t.py; fi", True),
        ("for i in 1 2; do python3 t.py; done", True),
        ("for ((i=0;i<8;i++)); do python3 t.py; done", True),
        ("for((i=$A;i<$((B+C));i++));\n do\n python3 t.py; done", True),
        ("while a; do python3 t.py; done", True),
        ("while a; do b; done < x; python3 t.py", False),
        ("case $1 in\n a|b) python3 t.py;;\nesac", True),
        ("case $1 in (a) x;; *) y;; esac\npython3 t.py", False),
        ("[ -f x ] && python3 t.py", True),
        ("[[ -f x && $y =~ ^(a|b) ]] && python3 t.py", True),
        ("[[ -f x || a < b ]]\npython3 t.py", False),
        ("cd x && python3 t.py", False),
        ("command -v x &> /dev/null && python3 t.py", True),
        ("command -p x && python3 t.py", False),
        ("which x && python3 t.py", True),
        ("cd x || exit 1\npython3 t.py", False),
        ("a || python3 t.py", True),
        ("a &&\n python3 t.py", False),
        ("test -f x &&\n\n python3 t.py", True),
        ("if a; then f() { python3 t.py; }; fi", False),
        ("{ python3 t.py; }", False),
        ("if a; then if b; then :; fi; python3 t.py; fi", True),
    ],
)
def test_guarded(text: str, guarded: bool) -> None:
    assert launch(text).guarded is guarded


# -- commands and packages


def commands(text: str) -> list[str]:
    return [fact.name for fact in read(text, "command")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("nvidia-smi -L | wc -l", ["nvidia-smi", "wc"]),
        ("/usr/local/bin/npu-smi info", ["npu-smi"]),
        ("n=$(nvidia-smi -L | wc -l)", ["nvidia-smi", "wc"]),
        ('echo "`nvidia-smi`"', ["nvidia-smi"]),
        ("nohup nvprof python3 t.py", ["nohup", "nvprof", "python3"]),
        ("cd x; export A=1; echo y; [ a ]", []),
        ("if nvidia-smi; then :; fi", ["nvidia-smi"]),
        ("! nvidia-smi", ["nvidia-smi"]),
        ("nvidia-smi() { :; }\nnvidia-smi", []),
        ("$tool x", []),
        ("sed -i 's/a/b/;s/c/d/' x", ["sed"]),
        ("awk 'BEGIN{printf \"%.2f\\n\",'${a}'*'${b}'}'", ["awk"]),
    ],
)
def test_commands(text: str, found: list[str]) -> None:
    assert commands(text) == found


def test_a_command_keeps_its_line() -> None:
    (fact,) = of_class("nvidia-smi \\\n  --query-gpu=name  > x", ShellCommand)
    assert fact.line == "nvidia-smi --query-gpu=name"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pip3 install torch==1.8.1 'torch_npu>=1.8'", {"torch": "==1.8.1", "torch-npu": ">=1.8"}),
        ("python3 -m pip install -i https://example.com apex", {"apex": ""}),
        ("pip install -r requirements.txt ./x.whl --user", {}),
        ("pip uninstall torch", {}),
    ],
)
def test_packages(text: str, found: dict[str, str]) -> None:
    assert {fact.name: fact.version for fact in of_class(text, Dependency)} == found


# -- robustness


@pytest.mark.parametrize(
    ("text", "line"),
    [("a\necho 'x\ny", 2), ('echo "x', 1), ("x=$(a\n", 1), ("x=${a\n", 1), ("x=`a", 1), ("x=(a", 1)],
)
def test_what_never_ends_is_a_problem_at_its_beginning(text: str, line: int) -> None:
    _, (problem,) = read_script(text, "x.sh")
    assert (problem.reason, problem.fatal, problem.span.line) == ("syntax-error", False, line)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "&& || ;; ) } fi done esac",
        "<>(",
        "case",
        "for",
        "function",
        "((",
        "$",
        "export",
        "=1",
        "a=(b=(c))",
        "\\",
    ],
)
def test_odd_scripts_are_read(text: str) -> None:
    assert isinstance(read(text), list)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "$(",
        "${",
        "(",
        "((",
        "`",
        '"\\',
        "if a;",
        "case x in ",
        "<<E ",
        "x=(",
        "f(){ ",
        "a=$a$a;",
        "export A=$A;",
        "a&&",
    ],
)
def test_hostile_repetition_takes_linear_time_and_no_recursion(unit: str) -> None:
    assert_linear(lambda count: unit * count, lambda text: read_script(text, "x.sh"), 2000)


def test_facts_can_be_stored() -> None:
    facts = read("export A=1\n" + dedent(LAUNCHER))
    back = decode(encode(FileFacts("test/train.sh", "shell", facts=facts))).facts
    assert {type(fact) for fact in back} >= {LaunchFact, VariableRecord}
    assert list(map(msgspec.structs.astuple, back)) == list(map(msgspec.structs.astuple, facts))


def test_a_line_of_a_text_may_look_like_a_comment() -> None:
    facts, problems = read_script(
        'PROMPT="solve it, answer after ####.\n#### 42"\npython3 train.py --prompt "$PROMPT"\n', "x.sh"
    )
    assert not problems
    assert [fact.record.script for fact in facts if isinstance(fact, LaunchFact)] == ["train.py"]

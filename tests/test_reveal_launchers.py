"""The starts that are read from launchers, compared with what the launchers do when a shell executes them: every
program that is really started has to be one of the starts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from npulint.running.launchers import launcher_starts
from npulint.running.project_files import ProjectFiles
from npulint.running.starts import Start
from tests.tools import needed

RECORDER = """#!{python} -S
import json, os, sys
words = sys.argv[1:]
with open(os.environ["RECORD"], "a") as file:
    file.write(json.dumps([words, os.getcwd(), dict(os.environ)]) + "\\n")
"""
# What else a launcher may call: programs that start the one behind their own options.
BEHIND_OPTIONS = """#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    *.py) exec python "$@" ;;
    -m) exec python "$@" ;;
    python) exec "$@" ;;
    *) shift ;;
  esac
done
"""

LAUNCHERS: dict[str, str] = {
    "words": "python train.py --lr 0.1 --name 'a b' --text \"c d\" --x=y\n",
    "a variable of the caller": 'python train.py --lr "$LR" --bs 8\n',
    "an unquoted variable of the caller": "python train.py --lr $LR --bs 8\n",
    "all arguments": 'python train.py --lr 0.1 "$@"\n',
    "all arguments unquoted": "python train.py $* --bs 8\n",
    "one argument": 'python train.py "$1"\n',
    "own variables": "LR=0.1\nNAME='a b'\npython train.py --lr $LR --name \"$NAME\" --other $NAME\n",
    "a variable set twice": "LR=0.1\npython train.py $LR\nLR=0.2\npython train.py $LR\n",
    "a variable set in a branch": 'LR=0.1\nif [ -n "$LR2" ]; then LR=0.2; fi\npython train.py $LR\n',
    "a variable set behind a condition": '[ -n "$LR2" ] && LR=0.3\npython train.py "$LR"\n',
    "a variable set in a subshell": "LR=0.1\n(LR=0.2; python train.py $LR)\npython train.py $LR\n",
    "a variable set in a pipe": "LR=0.1\necho 0.3 | while read LR; do python train.py $LR; done\npython train.py $LR\n",
    "a variable set in a block of a pipe": "LR=0.1\n{ LR=0.2; echo; } | cat\npython train.py $LR\n",
    "a variable set in a function": "LR=0.1\nset_lr() { LR=0.2; }\nset_lr\npython train.py $LR\n",
    "a variable used in a function": "run() { python train.py --lr $LR; }\nLR=0.1\nrun\nLR=0.2\nrun\n",
    "a local variable": "LR=0.1\nrun() { local LR=0.2; python train.py $LR; }\nrun\npython train.py $LR\n",
    "a variable that is read": "LR=0.1\nread LR <<< 0.7\npython train.py $LR\n",
    "a variable of a sourced file": "LR=0.1\n. ./settings.env\npython train.py $LR\n",
    "a variable set by eval": "LR=0.1\neval 'LR=0.4'\npython train.py $LR\n",
    "a variable set by a default": ": ${LR:=0.1}\npython train.py $LR\n",
    "a default": 'python train.py ${LR:-0.1} "${BS:-8}"\n',
    "a variable of variables": "A=1\nB=$A$A\nC=\"$B x\"\npython train.py $B \"$C\"\n",
    "an unset variable": "LR=0.1\nunset LR\npython train.py --lr $LR --bs 1\n",
    "an appended variable": "ARGS='--lr 0.1'\nARGS+=' --bs 8'\npython train.py $ARGS\n",
    "an array": "ARGS=(--lr 0.1 --name 'a b')\npython train.py \"${ARGS[@]}\"\npython train.py ${ARGS[*]}\n",
    "arithmetic": "N=$((1 + 2))\npython train.py $N $((N * 2))\n((N++))\npython train.py $N\n",
    "a counted variable": "N=1\nfor i in 1 2; do python train.py $N; N=$((N + 1)); done\n",
    "an incremented variable": "N=1\necho $((N++))\npython train.py $N\n",
    "a changed separator": "X=a,b\nIFS=,\npython train.py $X\n",
    "a loop": "for lr in 0.1 0.2; do python train.py --lr $lr; done\n",
    "a pattern": "python train.py *.py s*.env [t]rain.py\n",
    "a bracket in an option": "python train.py --devices=[0,1] devices=[0,1]\n",
    "braces": "python train.py {a,b} {1..3} x{1,2}y\n",
    "a home folder": "python train.py ~/data --d=~/data\n",
    "escapes": "python train.py $'a\\tb' a\\ b 'a\\nb' \"a\\\"b\" \"a\\nb\"\n",
    "a command line in a variable": "CMD='python train.py --lr 3'\n$CMD\n",
    "a command line in a variable, evaluated": "CMD=\"python train.py --lr 3 --x '$LR'\"\neval \"$CMD\"\n",
    "a command in a text": "bash -c 'python train.py --lr 3'\n",
    "a command in a text with a variable": 'bash -c "python train.py --lr $LR"\n',
    "a command in a here-document": "bash <<END\npython train.py --lr 3\nEND\n",
    "a command that is printed for a shell": "echo python train.py --lr 3 | bash\n",
    "a command for each line": "echo 0.3 | xargs python train.py --lr\n",
    "a substituted command": "OUT=$(python train.py --lr 3)\necho $OUT `python eval.py 4`\n",
    "a substituted word": "python train.py --lr $(echo 3 4) --name \"$(echo a b)\"\n",
    "an interpreter in a variable": "PYTHON=python\n$PYTHON train.py 1\n${PY:-python} train.py 2\n",
    "a script in a variable": "SCRIPT=train.py\npython $SCRIPT 1\nfor s in eval.py sub/other.py; do python $s 2; done\n",
    "a script of the caller": 'python "${1:-train.py}" 1\npython ${SCRIPT:-eval.py} --lr 3\n',
    "options of the interpreter": "OPTIONS=-u\npython -u train.py 1\npython -W ignore train.py 2\npython $OPTIONS train.py 3\n",
    "optimised": "python -O train.py 1\nPYTHONOPTIMIZE=1 python train.py 2\n",
    "modules": "python -m pkg.tool 1\npython -m pkg 2\n",
    "a folder": "cd sub\npython other.py 1\npython ../train.py 2\ncd ..\npython train.py 3\n",
    "a folder in a subshell": "(cd sub && python other.py 1)\npython train.py 2\n",
    "a folder in a branch": '[ -d nowhere ] && cd nowhere\npython train.py 1\nif [ -d sub ]; then cd sub; fi\npython other.py 1\n',
    "a folder in a loop": "for d in sub; do cd $d; python other.py 1; cd ..; done\npython train.py\n",
    "a folder of the caller": 'cd "${WHERE:-sub}"\npython other.py 1\n',
    "the folder of the script": 'cd "$(dirname "$0")/.."\npython train.py 1\n',
    "the root by the script": 'ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)\npython $ROOT/train.py 1\ncd $ROOT/sub\npython other.py 2\n',
    "the working folder": "HERE=$(pwd)\ncd sub\npython $HERE/train.py 1\npython $PWD/other.py 2\n",
    "variables for one program": "LR=3 BS=\"$X\" python train.py 1\nenv LR=4 python train.py 2\nLR=5 env LR=6 python train.py 3\n",
    "variables for all programs": "export LR=3\nexport BS\nBS=4\npython train.py 1\nLR=4\npython train.py 2\nunset LR\npython train.py 3\n",
    "variables taken away": "export LR=3\nenv -u LR python train.py 1\nenv -i PATH=\"$PATH\" RECORD=\"$RECORD\" python train.py 2\n",
    "a variable exported in a branch": 'if [ -n "$X" ]; then export LR=3; fi\npython train.py\n',
    "a search path": "export PYTHONPATH=sub:$PYTHONPATH\npython train.py 1\nPYTHONPATH=$PWD/pkg python train.py 2\n",
    "a search path that is not known": 'PYTHONPATH="$WHERE/sub" python train.py 1\n',
    "wrappers": "nohup nice -n 5 python train.py 1\ntimeout 50 python train.py 2 &\nwait\n",
    "launchers": "torchrun --nproc_per_node 2 train.py 1\naccelerate launch --mixed_precision bf16 train.py 2\nmpirun -np 2 python train.py 3\n",
    "another script": "bash other.sh 7\nsource other.sh 8\n",
    "functions with arguments": 'run() { python train.py "$1" --all "$@"; }\nrun 1 2\nrun "a b"\n',
    "continued lines": "python train.py \\\n  --lr 0.1 \\\n  --bs 8  # a comment\n",
    "redirections": "python train.py 1 > /dev/null 2>&1\npython train.py 2 >> /dev/null | cat\n",
    "conditions": 'case "$1" in\n  a) python train.py 1 ;;\n  *) python eval.py 2 ;;\nesac\npython train.py 3 || python eval.py 4\n',
    "a positional reset": "set -- 1 2\npython train.py \"$@\" \"$2\"\n",
    "an indirect variable": "A=B\nB=3\npython train.py ${!A} \"${A}x\" \"${B#3}\" ${#A}\n",
    "a block in the background": "LR=0.1\n{ LR=0.2; } & wait\npython train.py $LR\n",
    "a variable for a function": "LR=0.1\nrun() { python train.py $LR; }\nLR=0.2 run\nrun\n",
    "functions in functions": "outer() { inner() { LR=0.3; }; }\nLR=0.1\nouter\ninner\npython train.py $LR\n",
    "a function in a subshell": "LR=0.1\nset_lr() { LR=0.2; }\n(set_lr; python train.py $LR)\npython train.py $LR\n",
    "a formatted variable": "LR=0.1\nprintf -v LR '%s' 0.5\npython train.py $LR\n",
    "an integer variable": "declare -i N=1+2\npython train.py $N\nN=3+4\npython train.py $N\n",
    "a variable in capitals": "declare -u NAME=abc\npython train.py $NAME\n",
    "options of the launcher": "LR=0.1\nwhile getopts l: o; do LR=$OPTARG; done\nshift $((OPTIND - 1))\npython train.py $LR $1\n",
    "let": "N=1\nlet N=N+4\npython train.py $N\n",
    "a loop of numbers": "for ((i = 0; i < 2; i++)); do python train.py $i; done\npython train.py $i\n",
    "a loop over lines": "LR=0.1\nwhile read -r line; do LR=0.2; python train.py $LR $line; done < settings.env\npython train.py $LR\n",
    "a variable after its use in a loop": "LR=0.1\nfor i in 1 2; do python train.py $LR; LR=0.2; done\n",
    "a text with variables": "LR=0.1\nbash <<END\npython train.py $LR\nEND\n",
    "a text without variables": "LR=0.1\nbash <<'END'\nLR=0.7\npython train.py $LR\nEND\n",
    "prefixes": "exec 3>/dev/null\ntime python train.py 1\n! python train.py 2\ncommand python train.py 3\nexec python train.py 4\n",
    "all variables exported": "set -a\nLR=3\n. ./settings.env\nset +a\npython train.py $LR\n",
    "an export taken back": "export LR=3\nexport -n LR\npython train.py\n",
    "a declared export": "declare -x LR=3\ntypeset -x BS=4\nreadonly LR\npython train.py $LR $BS\n",
    "an export in a function": "setup() { export LR=3; }\n[ -n \"$X\" ] && setup\npython train.py\n",
    "an export in a subshell": "(export LR=3; python train.py 1)\npython train.py 2\n",
    "a trap": "LR=0.1\ntrap 'LR=0.9' USR1\nkill -USR1 $$\npython train.py $LR\n",
    "an alias": "shopt -s expand_aliases\nalias python='python -O'\npython train.py 1\n",
    "a function called python": "python() { command python -u \"$@\" --more; }\npython train.py 1\n",
    "a substitution with blanks": "A='1  2'\npython train.py $A\"x\"$A x$A\n",
    "blanks around a value": "A=' 1 '\npython train.py x$A $A\n",
    "an empty value": "A=\npython train.py $A \"$A\" --x=$A ''\n",
    "a pattern in a value": "A='*.env'\npython train.py $A \"$A\"\n",
    "a backslash in a value": "A='a\\b'\npython train.py $A \"$A\"\n",
    "quotes in a value": "A='\"a b\"'\npython train.py $A\n",
    "a tilde in an assignment": "A=~/x\nB=x:~/y\npython train.py $A $B\n",
    "a script that ends before": "python train.py 1\nexit 0\npython eval.py 2\n",
    "one line": "cd sub && python other.py 1 && cd - && python train.py 2; python train.py 3\n",
    "a folder stack": "pushd sub > /dev/null\npython other.py 1\npopd > /dev/null\npython train.py 2\n",
    "the folder in a function": "go() { cd sub; }\ngo\npython other.py 1\n",
    "a search for scripts": "find . -name 'eval.py' -exec python {} 1 \\;\nfor s in *.py; do python $s; done\n",
    "a comment": "# python train.py 1\npython train.py 2 # python eval.py 3\necho 'python eval.py'\n",
    "a carriage return": "python train.py 1 \r\npython train.py 2\r\n",
}
CALLERS: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    ((), {}),
    (("a b", "--lr=9"), {"LR": "5 6", "LR2": "1", "X": "x y", "WHERE": "sub"}),
    (("eval.py",), {"LR": "", "SCRIPT": "sub/other.py", "BS": "*"}),
)
PLACES = {"in the root": "run.sh", "in a folder": "scripts/run.sh"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with scripts that only record how they are started."""
    root = tmp_path / "project"
    for path in ("train.py", "eval.py", "sub/other.py", "pkg/__init__.py", "pkg/__main__.py", "pkg/tool.py"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("", encoding="utf-8")
    (root / "settings.env").write_text("LR=0.9\n", encoding="utf-8")
    (root / "other.sh").write_text('python train.py "$1"\n', encoding="utf-8")
    (root / "scripts").mkdir()
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("python", "python3"):
        (programs / name).write_text(RECORDER.format(python=sys.executable), encoding="utf-8")
    for name in ("torchrun", "accelerate", "mpirun"):
        (programs / name).write_text(BEHIND_OPTIONS, encoding="utf-8")
    for program in programs.iterdir():
        program.chmod(0o755)
    return root


def executed(root: Path, launcher: str, words: tuple[str, ...], environment: dict[str, str]) -> list[tuple[list[str], str, dict[str, str]]]:
    """The command lines of Python that a launcher executes: words, folder and environment of each."""
    record = root.parent / "record"
    record.write_text("", encoding="utf-8")
    path = f"{root.parent / 'bin'}:{os.environ['PATH']}"
    subprocess.run(
        [needed("bash"), launcher, *words],
        cwd=root,
        env={"PATH": path, "HOME": "/home/someone", "RECORD": str(record), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return [json.loads(line) for line in record.read_text(encoding="utf-8").splitlines()]


def covers(start: Start, words: list[str], folder: str, environment: dict[str, str], root: Path) -> bool:
    """Whether a start says what really happened, as far as it says anything."""
    is_optimised = "-O" in words[:1] or environment.get("PYTHONOPTIMIZE")
    while words and words[0] in ("-u", "-O", "-W", "ignore"):
        words = words[1:]
    here = os.path.relpath(folder, root)
    if words[0] == "-m":
        base = os.path.normpath(os.path.join(here, words[1].replace(".", "/")))
        paths, named, given = [f"{base}.py", f"{base}/__main__.py"], None, words[2:]
    else:
        paths, named, given = [os.path.normpath(os.path.join(folder, words[0]))], words[0], words[1:]
        paths = [os.path.relpath(path, root) for path in paths]
    if start.script not in paths:
        return False
    if start.unfollowed or is_optimised:
        return bool(start.unfollowed)
    if (start.folder or ".") != here or (start.named not in (None, named) and not start.module):
        return False
    if any(environment.get(name) != text for name, text in start.environment):
        return False
    own = [os.path.normpath(os.path.join(folder, one)) for one in environment.get("PYTHONPATH", "").split(":") if one]
    if [str(root / one) for one in start.search] != own:
        return False
    if start.is_open:
        return True
    return len(start.words) == len(given) and all(
        one is None or one == other for one, other in zip(start.words, given, strict=True)
    )


def is_of_project(words: list[str], folder: str, root: Path) -> bool:
    """Whether a command line starts a program of the project."""
    if not words or "-m" in words[:2]:
        return bool(words)
    scripts = [Path(folder, word) for word in words[:3] if word.endswith(".py")]
    return bool(scripts) and scripts[0].exists() and scripts[0].resolve().is_relative_to(root)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("name", LAUNCHERS)
def test_every_program_that_a_launcher_starts_is_one_of_its_starts(name: str, place: str, project: Path) -> None:
    (project / place).write_text(LAUNCHERS[name], encoding="utf-8")
    files = ProjectFiles(str(project))
    starts = [
        start
        for path, kind in files.launchers
        for start in launcher_starts(files.launcher_text(path) or "", path, kind, files)
    ]
    count = 0
    for words, environment in CALLERS:
        for given, folder, variables in executed(project, place, words, environment):
            count += 1
            if is_of_project(given, folder, project):
                assert any(covers(start, given, folder, variables, project) for start in starts), (given, starts)
    assert count, "the launcher starts nothing"

"""Changes single places of the code, runs tests on each change, and tells which changes no test notices.

    python -m scripts.mutants [--seed S] [--count N] [--modules GLOB ...] [--stage ARGUMENTS ...]

The tests of the stages run one after the other (in a copy of the last commit) until one fails; a stage is the arguments
of pytest as one word. By default the first stage is what usually notices, the second the daily run, the third the
night's: a change that only the third notices shows what the daily run does not protect. Exit code 1 if a change is
noticed by none of them, or by the last one alone."""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ("npulint/model/**/*.py", "npulint/judge/evaluate/*.py", "npulint/commands/training_config/**/*.py")
_TABLES = "tests/test_seed_rows.py tests/test_seed_rows_pairs.py tests/test_mutations.py tests/test_small_mutations.py"
_FIRST = "tests/test_assemble_*.py tests/test_evaluate_*.py tests/test_training_*.py tests/test_checks.py " + _TABLES
STAGES = (
    f"{_FIRST} -m 'not nightly'",
    "-m 'not nightly and not browser'",
    f"{_TABLES} tests/test_fix_runs_programs.py -m nightly",
)
_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


class Mutant(msgspec.Struct, frozen=True):
    """A changed place: the file below the project, its line, the kind of change, and the text of the changed file."""

    path: str
    line: int
    kind: str
    text: str


def mutants_of(path: str, source: str) -> list[Mutant]:
    """All changes of one file, in the order of the syntax tree."""
    tree = ast.parse(source)
    count = sum(1 for _ in _changes(tree))
    mutants = []
    for number in range(count):
        changed = copy.deepcopy(tree)
        line, kind, apply = next(change for index, change in enumerate(_changes(changed)) if index == number)
        apply()
        mutants.append(Mutant(path, line, kind, ast.unparse(ast.fix_missing_locations(changed))))
    return mutants


def _changes(tree: ast.Module) -> Iterator[tuple[int, str, Change]]:
    """What can be changed in a tree: the line, the kind, and a function that changes the tree."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _SWAPPED:
            yield node.lineno, "comparison", Change(node, "ops", [_SWAPPED[type(node.ops[0])]()])
        elif isinstance(node, ast.BoolOp):
            yield node.lineno, "and/or", Change(node, "op", _SWAPPED[type(node.op)]())
        elif isinstance(node, ast.BinOp) and type(node.op) in _SWAPPED:
            yield node.lineno, "plus/minus", Change(node, "op", _SWAPPED[type(node.op)]())
        elif isinstance(node, (ast.If, ast.IfExp, ast.While)):
            yield node.lineno, "condition", Change(node, "test", ast.UnaryOp(ast.Not(), node.test))
        elif isinstance(node, ast.Return) and node.value is not None and not _is_none(node.value):
            yield node.lineno, "return None", Change(node, "value", ast.Constant(None))
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            yield node.lineno, "constant", Change(node, "value", not node.value)
        elif isinstance(node, ast.Constant) and type(node.value) is int and hasattr(node, "lineno"):
            yield node.lineno, "constant", Change(node, "value", node.value + 1)


class Change:
    """Replaces one field of a node."""

    def __init__(self, node: ast.AST, field: str, value: object) -> None:
        self._node, self._field, self._value = node, field, value

    def __call__(self) -> None:
        setattr(self._node, self._field, self._value)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def chosen(root: Path, globs: Sequence[str], seed: int, count: int) -> list[Mutant]:
    """So many changes of the files that match, the same ones for the same seed and code."""
    draw = random.Random(seed)
    paths = sorted({path.relative_to(root).as_posix() for glob in globs for path in root.glob(glob)})
    mutants = [mutant for path in paths for mutant in _drawn(root, path, draw)]
    return draw.sample(mutants, min(count, len(mutants)))


def _drawn(root: Path, path: str, draw: random.Random) -> list[Mutant]:
    """Some changes of a file, more of a long one."""
    source = (root / path).read_text("utf-8")
    mutants = mutants_of(path, source)
    return draw.sample(mutants, min(len(mutants), 1 + source.count("\n") // 40))


def noticed(tree: Path, mutant: Mutant, stages: Sequence[str]) -> int:
    """The number of the first stage whose tests fail for a change, from 1; 0 if none does."""
    target = tree / mutant.path
    original = target.read_text("utf-8")
    target.write_text(mutant.text, "utf-8")
    try:
        return next((number for number, stage in enumerate(stages, 1) if _fails(tree, stage)), 0)
    finally:
        target.write_text(original, "utf-8")


def _fails(tree: Path, stage: str) -> bool:
    words = [one for word in shlex.split(stage) for one in _expanded(tree, word)]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *words]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 2, 3):  # 2 and 3: collecting fails, too
        raise RuntimeError(f"pytest {' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode != 0


def _expanded(tree: Path, word: str) -> list[str]:
    return sorted(path.relative_to(tree).as_posix() for path in tree.glob(word)) if "*" in word else [word]


def main(argv: Sequence[str] | None = None) -> int:
    """Try the changes and print one line for each."""
    parser = argparse.ArgumentParser(prog="scripts.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--modules", nargs="+", default=list(ENGINE), help="patterns of files below the project")
    parser.add_argument("--stage", nargs="+", default=list(STAGES), help="arguments of pytest, as one word")
    args = parser.parse_args(argv)
    stages: list[int] = []
    with tempfile.TemporaryDirectory(prefix="npulint-mutants-") as folder:
        tree = Path(folder)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        for mutant in chosen(tree, args.modules, args.seed, args.count):
            stages.append(noticed(tree, mutant, args.stage))
            word = f"stage {stages[-1]}" if stages[-1] else "not noticed"
            print(f"{word}: {mutant.path}:{mutant.line} {mutant.kind}", flush=True)
    weak = sum(stage in (0, len(args.stage)) for stage in stages)
    print(f"{len(stages) - weak} of {len(stages)} changes are noticed before the last stage")
    return 1 if weak else 0


if __name__ == "__main__":
    sys.exit(main())

"""``npulint reveal``: what holds for the starts of a project, and how it is shown."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from npulint.model.execution.answers import Seen, merged
from npulint.model.execution.project_files import Probe
from npulint.model.execution.reveal import Revealed, reveal
from tests.surface_support import Answer, call

LONG = "x = 1\n" * 3_000  # steps
DOCUMENTS = Path(__file__).parent.parent / "docs"
PARSER = """import argparse
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.1)
p.add_argument("--bs", type=int, default=8)
args = p.parse_args()
"""


def written(root: Path, files: dict[str, str]) -> str:
    """The folder with these files."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode("utf-8", "surrogateescape"))
    return str(root)


def answers(found: Revealed) -> dict[str, object]:
    """The answers by place: the possible values, None for an unknown one, or the word for a line."""
    shown: dict[str, object] = {}
    for answer in found.answers:
        value = answer.runs if answer.probe.kind == "runs" else answer.values if answer.is_certain else None
        shown[f"{answer.probe.path}:{answer.probe.line}"] = value
    return shown


# -- several starts

STARTS: dict[str, tuple[dict[str, str], dict[str, object]]] = {
    "a script and its launcher": (
        {
            "train.py": f"{PARSER}reveal_value(args.lr)\nreveal_value(args.bs)\nreveal_runs()\n",
            "run.sh": "python train.py --lr 3",
        },
        {"train.py:6": [0.1, 3.0], "train.py:7": [8], "train.py:8": "yes"},
    ),
    "a word that is unknown": (
        {"train.py": f"{PARSER}reveal_value(args.lr)\nreveal_value(args.bs)\n", "run.sh": 'python train.py --lr "$LR"'},
        {"train.py:6": None, "train.py:7": [8]},
    ),
    "words that may be several": (
        {
            "train.py": f"{PARSER}reveal_value(args.bs)\nreveal_runs()\nx = 1\nreveal_value(x)\n",
            "run.sh": "python train.py $ARGS",
        },
        {"train.py:6": None, "train.py:7": "maybe", "train.py:9": [1]},
    ),
    "a probe that other scripts do not reach": (
        {
            "train.py": "import shared\nreveal_value(1)\nreveal_runs()\n",
            "shared.py": "x = 2\n",
            "other.py": "import shared\n",
        },
        {"train.py:2": [1], "train.py:3": "maybe"},
    ),
    "a module of two scripts": (
        {
            "a.py": "import shared\nshared.use(1)\n",
            "b.py": "import shared\nshared.use(2)\n",
            "shared.py": "def use(x):\n    reveal_value(x)\n",
        },
        {"shared.py:2": [1, 2]},
    ),
    "a line that no start executes": (
        {"train.py": "if False:\n    reveal_runs()\n    reveal_value(1)\n"},
        {"train.py:2": "no", "train.py:3": None},
    ),
    "a script that fails": (
        {"train.py": "reveal_runs()\nraise ValueError\nreveal_value(1)\n"},
        {"train.py:1": "yes", "train.py:3": None},
    ),
    "a script that takes too many steps": (
        {
            "train.py": "reveal_value(1)\n",
            "long.py": "import train\n" + LONG,
        },
        {"train.py:1": None},
    ),
    "a script that takes too many steps, and cannot reach the probe": (
        {"train.py": "reveal_value(1)\n", "long.py": LONG},
        {"train.py:1": [1]},
    ),
    "a launcher whose start is not followed": (
        {"train.py": "reveal_value(1)\nreveal_runs()\n", "run.sh": "python -O train.py"},
        {"train.py:1": None, "train.py:2": "maybe"},
    ),
    "a launcher of another script": (
        {"train.py": "reveal_value(1)\n", "eval.py": "x = 1\n", "run.sh": "python -O eval.py"},
        {"train.py:1": [1]},
    ),
    "code that a launcher executes": (
        {"train.py": "reveal_value(1)\n", "run.sh": "python -c 'import train; train.main()'"},
        {"train.py:1": None},
    ),
    "a file that cannot be parsed": (
        {"train.py": "reveal_value(1)\n", "broken.py": "def f(:\n"},
        {"train.py:1": [1]},
    ),
    "an import of a file that cannot be parsed": (
        {"train.py": "try:\n    import broken\nexcept SyntaxError:\n    reveal_runs()\n", "broken.py": "def f(:\n"},
        {"train.py:4": "maybe"},
    ),
}


@pytest.mark.parametrize("name", STARTS)
def test_an_answer_holds_for_all_starts(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("npulint.model.execution.machine.MOST_STEPS", 2_000)
    files, expected = STARTS[name]
    assert answers(reveal(written(tmp_path, files))) == expected


def test_starts_that_do_not_reach_a_probe_say_nothing_of_its_value() -> None:
    probe = Probe("a.py", 1, "value")
    assert merged(probe, [Seen(False), Seen(True, [1])]).values == [1]
    assert not merged(probe, [Seen(True, [1]), Seen(True, None, reason="$X")]).is_certain
    assert merged(probe, [Seen(True, [1]), Seen(True, [1.0, True, 1])]).values == [1, 1.0, True]
    assert merged(probe, [Seen(False)]).reason == "unreached"


@pytest.mark.parametrize(
    ("each", "expected"),
    [(("yes", "yes"), "yes"), (("no", "no"), "no"), (("yes", "no"), "maybe"), (("yes", "maybe"), "maybe")],
)
def test_starts_agree_whether_a_line_runs(each: tuple[str, ...], expected: str) -> None:
    assert merged(Probe("a.py", 1, "runs"), [Seen(True, runs=word) for word in each]).runs == expected


# -- one start

ONE = {
    "argv[0] as it is written": ("python ./train.py x", "import sys\nreveal_value(sys.argv)\n", [["./train.py", "x"]]),
    "variables": ("LR=3 python train.py", 'import os\nreveal_value(os.environ["LR"])\n', ["3"]),
    "another folder on the path": ("PYTHONPATH=lib python train.py", "import own\nreveal_value(own.X)\n", [7]),
    "a module of a package": ("python -m pkg.tool", "", [8]),
    "a package": ("python -m pkg", "", [9]),
    "data": ("python train.py", 'import json\nreveal_value(json.load(open("a/config.json"))["x"])\n', [1.5]),
    "text": ("python train.py", 'reveal_value(open("note.txt").read())\n', ["a\n"]),
    "a file that is there": ("python train.py", 'import os\nreveal_value(os.path.exists("note.txt"))\n', [True]),
}


@pytest.mark.parametrize("name", ONE)
def test_a_start_decides(name: str, tmp_path: Path) -> None:
    command, text, values = ONE[name]
    files = {"train.py": text, "lib/own.py": "X = 7\n", "a/config.json": '{"x": 1.5}', "note.txt": "a\n"}
    files |= {"pkg/__init__.py": "", "pkg/tool.py": "reveal_value(8)\n", "pkg/__main__.py": "reveal_value(9)\n"}
    found = answers(reveal(written(tmp_path, files), command))
    assert [value for value in found.values() if value is not None] == [values]


def test_ignored_modules_are_imported_as_python_does(tmp_path: Path) -> None:
    files = {".gitignore": "own.py\n", "own.py": "X = 7\n", "train.py": "import own\nreveal_value(own.X)\n"}
    (tmp_path / ".git").mkdir()
    assert answers(reveal(written(tmp_path, files))) == {"train.py:2": [7]}


@pytest.mark.parametrize(
    ("folder", "file"), [("", "setup.py"), ("src/", "pyproject.toml"), ("code/", "code/setup.cfg")]
)
def test_a_package_that_the_project_installs_is_found_from_any_folder(folder: str, file: str, tmp_path: Path) -> None:
    package = "def double(x):\n    reveal_value(x)\n    return 2 * x\n"
    files = {"scripts/train.py": "from own import double\nreveal_value(double(4))\n", file: ""}
    found = answers(
        reveal(written(tmp_path, {**files, f"{folder}own/__init__.py": package}), "python scripts/train.py")
    )
    assert found == {"scripts/train.py:2": [8], f"{folder}own/__init__.py:2": [4]}


def test_files_outside_of_the_project_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("s3cret")
    text = "".join(
        f'reveal_value(open("{path}").read())\n' for path in ("link.txt", "../secret.txt", "a/out/secret.txt")
    )
    root = written(tmp_path / "project", {"train.py": text, "a/b.txt": ""})
    os.symlink("../secret.txt", Path(root, "link.txt"))
    os.symlink(tmp_path, Path(root, "a", "out"))
    result = reveal(root)
    assert list(answers(result).values()) == [None, None, None] and "s3cret" not in str(result)


def test_steps_are_the_places_of_the_value_oldest_first(tmp_path: Path) -> None:
    text = "import own\nx = own.X\ny = x\nreveal_value(y)\n"
    found = reveal(written(tmp_path, {"train.py": text, "own.py": "X = 1\n"}), "python train.py")
    assert found.answers[0].steps == (("own.py", 1), ("train.py", 2), ("train.py", 3))


# -- hostile files

HOSTILE = {
    "syntax": ("broken.py", "def f(:\n", "broken.py:1: syntax error"),
    "brackets": ("deep.py", "[" * 5000 + "]" * 5000 + "\n", "deep.py:1: syntax error: too many nested parentheses"),
    "bytes": ("bytes.py", "x = '\udce9\udcff'\n", "bytes.py: unknown encoding"),
    "nothing": ("nul.py", "x = 1\0\n", "nul.py: unknown encoding: NUL byte"),
    "size": ("large.py", "#" * 2_000_001, "large.py: too large"),
    "a launcher": ("run.sh", 'python eval.py "\n', ""),
    "data": ("data.json", "[" * 100_000, ""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_costs_itself_only(name: str, tmp_path: Path) -> None:
    path, text, expected = HOSTILE[name]
    root = written(tmp_path, {"train.py": "x = 1\nreveal_value(x)\nreveal_runs()\n", path: text})
    answer = call("reveal", root, "--start", "python train.py")
    assert answer.code == 0 and answer.out.splitlines()[0] == "train.py:2: 1" and "always runs" in answer.out
    assert expected in answer.err and "Traceback" not in answer.err
    every = call("reveal", root)
    assert every.code == 0 and every.out.splitlines()[0] == "train.py:2: 1" and "Traceback" not in every.err


def test_a_program_that_is_nested_deeply_is_not_followed(tmp_path: Path) -> None:
    root = written(tmp_path, {"train.py": f"x = {'+'.join('1' * 60_000)}\nreveal_value(x)\n"})
    answer = call("reveal", root)
    assert answer.code == 0 and "train.py" in answer.err and "Traceback" not in answer.err
    assert ": 60000" not in answer.out


@pytest.mark.parametrize("value", ["10**6000", "{10**6000: 1}", '"\\ud800"', 'float("nan")', "[1] * 3000", "b'a'"])
def test_every_value_can_be_shown(value: str, tmp_path: Path) -> None:
    root = written(tmp_path, {"train.py": f"reveal_value({value})\n"})
    for form in ("text", "json"):
        answer = call("reveal", root, "--format", form)
        assert answer.code == 0 and answer.err == "" and answer.out.count("\n") == 1


# -- the command


def asked(tmp_path: Path, *words: str, **files: str) -> Answer:
    return call("reveal", written(tmp_path, {f"{name}.py": text for name, text in files.items()}), *words)


def test_each_line_of_json_is_an_answer(tmp_path: Path) -> None:
    text = "import os\nx = os.environ.get('X')\nreveal_value(x)\nreveal_value((1, {2}))\nreveal_runs()\n"
    lines = asked(tmp_path, "--format", "json", train=text).out.splitlines()
    records: list[dict[str, Any]] = [json.loads(line) for line in lines]
    unknown = {"path": "train.py", "line": 3, "kind": "value", "certain": False, "values": [], "reason": "$X"}
    assert records == [
        {**unknown, "steps": [{"path": "train.py", "line": 2}]},
        {**unknown, "line": 4, "certain": True, "values": [[1, [2]]], "reason": "", "steps": []},
        {"path": "train.py", "line": 5, "kind": "runs", "answer": "yes", "reason": "", "steps": []},
    ]


def test_without_probes_it_says_how_to_write_them(tmp_path: Path) -> None:
    assert "reveal_value(args.lr)" in asked(tmp_path, train="x = 1\n").out
    answer = asked(tmp_path, "--format", "json", train="x = 1\n")
    assert (answer.code, answer.out) == (0, "") and "reveal_runs()" in answer.err


REFUSED = {
    ("--start", "python missing.py"): "the project has no script missing.py",
    ("--start", "python -m missing"): "the project has no module missing",
    ("--start", "python 'train.py"): "a quote in it never ends",
    ("--start", "cd x && python train.py"): "more than one command",
    ("--start", "ls"): "starts no Python program",
    ("--format", "xml"): "--format",
    ("--start", "python $X"): "depends on a variable",
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_wrong_use_ends_with_2(words: tuple[str, str], tmp_path: Path) -> None:
    answer = asked(tmp_path, *words, train="reveal_runs()\n")
    assert answer.code == 2 and answer.out == "" and REFUSED[words] in answer.err


def test_a_project_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("")
    for path, text in ((tmp_path / "train.py", "not a folder"), (tmp_path / "none", "does not exist")):
        answer = call("reveal", str(path))
        assert answer.code == 2 and text in answer.err
    assert call("reveal").code == 2


def test_starts_that_are_not_followed_are_named(tmp_path: Path) -> None:
    files = {"train.py": "reveal_value(1)\n", "run.sh": "set -e\npython -O train.py\n"}
    answer = call("reveal", written(tmp_path, files))
    assert answer.err.startswith("run.sh:2: `python train.py` is not followed to its end: -O changes how Python")
    assert (
        "--start" in answer.err and answer.out == "train.py:1: unknown, `python train.py` is not followed to its end\n"
    )
    chinese = call("reveal", str(tmp_path), "--lang", "zh")
    assert "未能跟踪" in chinese.err and chinese.out.startswith("train.py:1：未知")


def test_control_characters_of_values_are_escaped(tmp_path: Path) -> None:
    answer = asked(tmp_path, train="reveal_value('\\x1b[31m')\n")
    assert "\x1b" not in answer.out and answer.code == 0


# -- the page


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_examples_of_the_page_are_what_is_printed(
    lang: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (DOCUMENTS / lang / "reveal.md").read_text(encoding="utf-8")
    monkeypatch.chdir(written(tmp_path, {"train.py": re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]}))
    examples = re.findall(r'```console\n\$ npulint reveal \. --start "(.*?)"\n(.*?)```', page, re.DOTALL)
    assert len(examples) == 2
    for start, output in examples:
        assert call("reveal", ".", "--start", start, "--lang", lang).out == output

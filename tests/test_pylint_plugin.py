"""The pylint plugin, with the real pylint."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from npulint.data.pylint_numbers import FIRST, numbers, recorded
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings
from scripts.pylint_numbers import codes
from tests.linter_plugins import NAMES, PLACES, TRAIN, Place, needs, places, run, written

_TEMPLATE = "--msg-template={path}|{line}|{symbol}|{obj}|{msg_id}"
_OPTIONS = ("--load-plugins=npulint.pylint_plugin", "--disable=all", "--enable=npulint", "--score=n", _TEMPLATE)
_BY_SYMBOL = {(path, line, f"npu-{NAMES[code]}") for path, line, code in PLACES}


def _pylint(folder: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    needs("pylint")
    return run("pylint", folder, *_OPTIONS, "--disable=I", *words, text=text)


def _rows(result: subprocess.CompletedProcess[str]) -> list[list[str]]:
    assert not result.stderr, result.stderr
    return [line.split("|") for line in result.stdout.splitlines() if "|" in line]


def _reported(result: subprocess.CompletedProcess[str]) -> set[Place]:
    return {(Path(path).name, int(line), symbol) for path, line, symbol, *_ in _rows(result)}


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_messages_are_the_findings_of_npulint(tmp_path: Path, jobs: str) -> None:
    result = _pylint(written(tmp_path), "train.py", "net.py", f"--jobs={jobs}")
    assert places(tmp_path) == PLACES
    assert _reported(result) == _BY_SYMBOL
    assert result.returncode == 2 | 4  # an error and a warning
    assert {(row[2], row[3], row[4][0]) for row in _rows(result)} == {
        ("npu-nccl-backend-to-migrate", "build", "W"),
        ("npu-cuda-not-migrated", "", "E"),
    }


@pytest.mark.slow
def test_a_folder_and_a_module_are_read_as_a_whole(tmp_path: Path) -> None:
    folder = written(tmp_path)
    assert _reported(_pylint(folder, "--recursive=y", ".")) == _BY_SYMBOL
    assert _reported(_pylint(folder, "net")) == {
        ("net.py", 7, "npu-nccl-backend-to-migrate"),
        ("net.py", 8, "npu-cuda-not-migrated"),  # its first place in what pylint was given
    }


@pytest.mark.slow
def test_messages_are_disabled_by_symbol_and_by_code(tmp_path: Path) -> None:
    folder = written(tmp_path)
    words = ("--disable=npu-nccl-backend-to-migrate,NPU2100", "train.py", "net.py")
    result = _pylint(folder, *words)
    assert (_rows(result), result.returncode) == ([], 0)


@pytest.mark.slow
def test_comments_of_both_tools_and_the_configuration_of_npulint_apply(tmp_path: Path) -> None:
    marked = TRAIN.replace("x.cuda()), y)", "x.cuda()), y)  # pylint: disable=npu-cuda-not-migrated")
    folder = written(tmp_path, train_py=marked, npulint_toml='ignore = ["nccl-backend-to-migrate"]\n')
    assert _rows(_pylint(folder, "train.py", "net.py")) == []
    kept_back = _pylint(folder, "train.py", "net.py", "--enable=suppressed-message")
    assert _reported(kept_back) == {("train.py", 9, "suppressed-message")}
    own = TRAIN.replace("x.cuda()), y)", "x.cuda()), y)  # npulint: ignore[cuda-not-migrated] runs on GPUs")
    written(tmp_path, train_py=own)
    assert not {one for one in _reported(_pylint(folder, "train.py", "net.py")) if one[0] == "train.py"}


@pytest.mark.slow
def test_notes_are_shown_when_pylint_enables_them(tmp_path: Path) -> None:
    text = TRAIN.replace("Adagrad", "SGD")
    folder = written(tmp_path, train_py=text)
    result = _pylint(folder, "train.py", "net.py", "--enable=npu-unfused-optimizer")
    assert _reported(result) == {*_BY_SYMBOL, ("train.py", 7, "npu-unfused-optimizer")}


@pytest.mark.slow
def test_an_unsaved_file_is_read_from_standard_input(tmp_path: Path) -> None:
    folder = written(tmp_path)
    text = TRAIN.replace("import torch\n", "import torch\nimport math\n")
    assert ("train.py", 10, "npu-cuda-not-migrated") in _reported(
        _pylint(folder, "--from-stdin", "train.py", text=text)
    )


@pytest.mark.slow
def test_a_wrong_configuration_is_a_message(tmp_path: Path) -> None:
    folder = written(tmp_path, npulint_toml='select = ["no-such-check"]\n')
    result = _pylint(folder, "train.py", "--msg-template={symbol}|{msg}")
    [(symbol, message)] = _rows(result)
    assert symbol == "npu-not-checked" and "no-such-check" in message


@pytest.mark.slow
def test_a_check_of_the_project_has_its_own_symbol(tmp_path: Path) -> None:
    check = (Path(__file__).parent.parent / "checks" / "pytorch" / "anomaly-detection-left-on.yaml").read_text()
    code = next(line for line in check.splitlines() if line.startswith("code:"))
    (tmp_path / "own" / "pytorch").mkdir(parents=True)
    (tmp_path / "own" / "pytorch" / "my-rule.yaml").write_text(check.replace(code, "code: NPU2499"))
    text = TRAIN.replace("import torch\n", "import torch\nimport torch_npu\n")  # otherwise what is slow is a note
    text = text.replace("model = ", "torch.autograd.set_detect_anomaly(True)\nmodel = ")
    folder = written(tmp_path, train_py=text, npulint_toml='checks = ["own"]\nselect = ["my-rule"]\n')
    assert _reported(_pylint(folder, "train.py")) == {("train.py", 7, "npu-my-rule")}


def test_npulint_runs_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("pylint")
    from pylint.lint import Run

    from npulint.commands.check import pipeline
    from npulint.hosts import linter_findings

    paths: list[tuple[str, ...]] = []

    def counted(settings: Settings, **more: Any) -> RunResult:
        paths.append(settings.paths)
        return pipeline.run(settings, **more)

    monkeypatch.setattr(linter_findings, "run", counted)
    monkeypatch.chdir(written(tmp_path))
    monkeypatch.setenv("PYLINTHOME", str(tmp_path))
    Run([*_OPTIONS, "--jobs=1", "train.py", "net.py"], exit=False)
    assert paths == [("train.py", "net.py")]


def test_every_check_has_a_number() -> None:
    missing = codes().difference(recorded())
    assert not missing, f"run `python -m scripts.pylint_numbers`: {sorted(missing)}"
    assert len(set(recorded())) == len(recorded())


def test_checks_of_projects_get_numbers_behind() -> None:
    given = numbers([*codes(), "NPU2999", "NPU2998"])
    assert sorted(given.values()) == list(range(FIRST + 10, FIRST + 10 + len(recorded()) + 2))
    assert given["NPU2998"] < given["NPU2999"] == max(given.values())

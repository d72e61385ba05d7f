"""Where files import a framework and no training program is recognised, reports say so, and what is seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from npulint.core.texts import say
from npulint.hosts.cli.main import main

_LAYERS = "import tensorflow as tf\n\ndef dense(x, n):\n    return tf.matmul(x, tf.get_variable('w', [4, n]))\n"
_HELPER = "import math\nimport torch\nimport tensorflow as tf\n"


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "layers.py").write_text(_LAYERS, encoding="utf-8")
    (tmp_path / "lib" / "other.py").write_text(_HELPER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def report(capsys: pytest.CaptureFixture[str], form: str) -> str:
    main(["check", ".", "--no-cache", "--lang", "en", "--format", form])
    return capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_reports_name_what_was_seen(library: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    text = report(capsys, form)
    assert "no training program was recognised" in text.lower()
    assert "tensorflow is imported by 2 files, the first lib/layers.py:1" in text
    assert "torch is imported by 1 file, lib/other.py:2" in text
    assert "othing to migrate" not in text


@pytest.mark.parametrize("form", ["concise", "text"])
def test_the_headline_does_not_say_that_nothing_is_to_be_migrated(
    library: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    assert "No training program was recognised\nNo findings in 2 files\n" in report(capsys, form)


def test_json_lists_what_was_seen(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(report(capsys, "json"))["frameworks_seen"] == [
        {"framework": "tensorflow", "files": 2, "path": "lib/layers.py", "line": 1, "use": "import"},
        {"framework": "torch", "files": 1, "path": "lib/other.py", "line": 2, "use": "import"},
    ]
    assert '{"kind":"framework","framework":"torch","files":1,' in report(capsys, "jsonl")


def test_launchers_and_configurations_that_were_not_understood_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ds.json").write_text('{"zero_optimization": {"stage": 2}}', encoding="utf-8")
    (tmp_path / "run.sh").write_text("torchrun --nproc_per_node 8 pretrain.py --deepspeed x\n", encoding="utf-8")
    text = report(capsys, "text")
    assert "1 configuration file of DeepSpeed was not recognised as a training: ds.json:1" in text
    assert "pretrain.py is started by 1 launcher, run.sh:1, and is not among the files" in text
    assert "othing to migrate" not in text


def test_the_verdict_of_the_page_is_its_own(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert f'<h2 id="verdict-word">{say("en", "verdict.unrecognised")}</h2>' in report(capsys, "html")


def test_a_training_program_says_it_all(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (library / "train.py").write_text("import torch\n\nloss.backward()\noptimizer.step()\n", encoding="utf-8")
    assert "frameworks_seen" not in json.loads(report(capsys, "json"))


def test_without_any_framework_nothing_is_to_be_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("import math\n", encoding="utf-8")
    assert "nothing to migrate" in report(capsys, "text")
    assert "frameworks_seen" not in report(capsys, "json")


def test_training_code_that_no_script_starts_is_named(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    step = "import torch\n\ndef fit(model, x):\n    model(x.cuda()).sum().backward()\n"
    (library / "lib" / "loop.py").write_text(step, encoding="utf-8")
    (library / "tests").mkdir()
    (library / "tests" / "test_loop.py").write_text(step, encoding="utf-8")
    text = report(capsys, "text")
    assert "1 file has training code, but no script that starts it was recognised" in text
    assert "1 file has training code, but no script that starts it was recognised: lib/loop.py:4" in text
    assert "No training program was recognised;" not in text

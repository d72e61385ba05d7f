"""The flake8 plugin, with the real flake8."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.linter_plugins import PLACES, ROOT, TRAIN, Place, needs, places, run, written

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FORMAT = "--format=%(path)s|%(row)d|%(code)s|%(text)s"


@pytest.fixture
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with what an installed npulint tells flake8: its entry point, as pyproject.toml has it."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["flake8.extension"]
    place = tmp_path_factory.mktemp("installed")
    folder = place / "npulint-0.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: npulint\nVersion: 0.0\n")
    entries = "".join(f"{name} = {value}\n" for name, value in declared.items())
    (folder / "entry_points.txt").write_text(f"[flake8.extension]\n{entries}")
    return str(place)


def _flake8(installed: str, folder: Path, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    needs("flake8")
    result = run("flake8", folder, _FORMAT, *words, text=text, path=installed)
    assert not result.stderr, result.stderr
    return result


def _reported(result: subprocess.CompletedProcess[str]) -> set[Place]:
    rows = (line.split("|") for line in result.stdout.splitlines())
    return {(Path(path).name, int(line), code) for path, line, code, _ in rows if code.startswith("NPU")}


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_violations_are_the_findings_of_npulint(tmp_path: Path, installed: str, jobs: str) -> None:
    result = _flake8(installed, written(tmp_path), f"--jobs={jobs}", ".")
    assert _reported(result) == PLACES == places(tmp_path)
    assert (
        "The training code is written for CUDA (2 places in 2 files); no NPU code found. [cuda-not-migrated]"
        in result.stdout
    )
    assert result.returncode == 1


@pytest.mark.slow
def test_codes_are_selected_and_ignored_as_those_of_other_plugins(tmp_path: Path, installed: str) -> None:
    marked = TRAIN.replace("x.cuda()), y)", "x.cuda()), y)  # noqa: NPU2100")
    folder = written(tmp_path)
    assert _reported(_flake8(installed, folder, "--select=NPU2182")) == {one for one in PLACES if one[0] == "net.py"}
    assert _reported(_flake8(installed, folder, "--select=E,W")) == set()
    assert _reported(_flake8(installed, folder, "--extend-ignore=NPU")) == set()
    ignored = "--per-file-ignores=net.py:NPU2182"
    assert _reported(_flake8(installed, written(tmp_path, train_py=marked), ignored)) == set()


@pytest.mark.slow
def test_configuration_of_npulint_and_of_flake8_applies(tmp_path: Path, installed: str) -> None:
    folder = written(tmp_path, npulint_toml='ignore = ["nccl-backend-to-migrate"]\n')
    (folder / ".flake8").write_text("[flake8]\nextend-ignore = NPU210\n")
    assert _reported(_flake8(installed, folder)) == set()
    (folder / "npulint.toml").write_text('select = ["no-such-check"]\n')
    wrong = _flake8(installed, folder, "train.py")
    assert _reported(wrong) == {("train.py", 1, "NPU0000")} and "no-such-check" in wrong.stdout


@pytest.mark.slow
def test_an_unsaved_file_is_read_from_standard_input(tmp_path: Path, installed: str) -> None:
    text = TRAIN.replace("import torch\n", "import torch\nimport math\n")
    result = _flake8(installed, written(tmp_path), "--stdin-display-name=train.py", "-", text=text)
    assert _reported(result) == {("train.py", 10, "NPU2100")}


def test_the_engine_is_not_imported_before_it_is_needed() -> None:
    code = (
        "import sys, npulint.hosts.flake8_plugin; "
        "print([n for n in sys.modules if n in ('npulint.pipeline', 'npulint.config', 'flake8', 'pylint')])"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "[]\n"


def test_npulint_itself_needs_neither_linter() -> None:
    code = "import sys, npulint.hosts.cli.main, npulint.api; print({'flake8', 'pylint', 'astroid'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout == "set()\n"
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert not [one for one in needed if one.startswith(("flake8", "pylint", "astroid"))]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_guide_shows_what_the_linters_print(tmp_path: Path, installed: str, lang: str) -> None:
    needs("pylint")
    needs("flake8")
    guide = (ROOT / "docs" / lang / "linters.md").read_text(encoding="utf-8")
    shown = re.findall(r"(?ms)^<!-- transcript -->\n```console\n\$ (\S+) ([^\n]+)\n(.*?)^```", guide)
    assert [linter for linter, _, _ in shown] == ["pylint", "flake8"]
    for linter, words, output in shown:
        found = run(linter, written(tmp_path), *words.split(), path=installed, lang=lang)
        assert found.stdout == output

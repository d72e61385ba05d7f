"""Which releases of packages fit together: the recorded matrix, what a project installs, `npulint versions`."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import msgspec
import pytest
from packaging.specifiers import SpecifierSet

from npulint.data.version_matrix import (
    adapted,
    has_adapter,
    known_releases,
    lacks_aarch64,
    nearest_adapted,
    packages_with_needs,
    releases_of,
)
from npulint.hosts.cli.host import system
from npulint.hosts.cli.main import main
from npulint.read.dependency import read_dependency
from npulint.read.packages import Dependency, PythonVersion, RequirementsFile
from npulint.read.shell_script import read_shell
from npulint.recognizers.versions.specifiers import specifier_of
from npulint.recognizers.versions.stacks import stacks, unmatched

CODES = "NPU3161,NPU3165,NPU3166,NPU3167,NPU3168,NPU3169,NPU3183,NPU3184"


def conflicts(folder: Path, files: dict[str, str], codes: str = CODES) -> list[tuple[str, str, int]]:
    """Code, path and line of each finding about versions."""
    for name, text in {"train.py": "import torch\n\nmodel = torch.nn.Linear(3, 3)\n", **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    output = io.StringIO()
    host = msgspec.structs.replace(system(), stdout=output)
    main(["check", "--format=json", "--no-cache", "--preview", f"--select={codes}", str(folder)], host)
    found = json.loads(output.getvalue())["findings"]
    return [(one["code"], os.path.relpath(one["path"], folder), one["line"]) for one in found]


def test_every_recorded_need_is_a_version_specifier() -> None:
    for package in packages_with_needs():
        for release, needs in releases_of(package).items():
            for other, texts in needs.items():
                name = other.removeprefix("recommended ")
                assert all(specifier_of(text, name) is not None for text in texts), (package, release, other)


def test_torch_npu_needs_the_torch_of_its_own_number() -> None:
    for release, needs in releases_of("torch-npu").items():
        assert release.startswith(needs["torch"][0].removeprefix("=="))
    assert {"1.8.1", "2.7.1", "2.9.0"} <= set(known_releases("torch"))


@pytest.mark.parametrize(
    ("written", "package", "allowed", "refused"),
    [
        ("=3.9", "python", "3.9", "3.10"),
        ("3.9.18", "python", "3.9", "3.10"),
        ("~=3.10.4", "python", "3.10", "3.11"),
        (">=3.9,<3.12", "python", "3.11", "3.12"),
        ("==8.2.RC1", "cann", "8.2rc1", "8.3rc1"),
        ("==8.0.RC2.2", "cann", "8.0rc2.post2", "8.0rc2"),
    ],
)
def test_specifiers_of_pip_and_conda(written: str, package: str, allowed: str, refused: str) -> None:
    found = specifier_of(written, package)
    assert found is not None
    assert found.contains(allowed, prereleases=True) and not found.contains(refused, prereleases=True)


def test_wheels_for_aarch64() -> None:
    assert lacks_aarch64("decord", SpecifierSet("")) == "decord2"
    assert lacks_aarch64("triton", SpecifierSet("==3.3.1")) == "triton-ascend"
    assert lacks_aarch64("triton", SpecifierSet("==3.5.0")) is None
    assert lacks_aarch64("triton", SpecifierSet(">=3.0")) is None
    assert lacks_aarch64("numpy", SpecifierSet("")) is None


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("torch==2.1.0\ntorch-npu==2.1.0.post3\n", True),
        ("torch_npu==2.1.0\ntorch==2.1\n", True),
        ("torch==2.1.0+cpu\ntorch-npu==2.1.0\n", True),
        ("torch==2.1.0\ntorch-npu==2.4.0\n", False),
        ("torch==2.1.2\ntorch-npu==2.1.0\n", False),
        ("torch==1.11.0\ntorch-npu===1.8.1rc3\n", False),
        ("torch<2.4\ntorch-npu==2.4.0\n", False),
        ("torch>=2.1\ntorch-npu==2.4.0\n", True),
        ("torch==2.*\ntorch-npu==2.4.0\n", True),
        ("torch-npu==2.4.0\n", True),
    ],
)
def test_torch_and_torch_npu_belong_together(text: str, fits: bool, tmp_path: Path) -> None:
    found = conflicts(tmp_path, {"requirements.txt": text})
    assert [code for code, _, _ in found] == ([] if fits else ["NPU3161"])


def test_requirements_that_an_image_installs_belong_to_it(tmp_path: Path) -> None:
    image = "FROM quay.io/ascend/cann:8.0.0-910b-ubuntu22.04-py3.9\nRUN pip install -r /app/requirements/npu.txt\n"
    files = {
        "docker/Dockerfile": image,
        "requirements/npu.txt": "-r more.txt\ntorch==2.9.0\n",
        "requirements/more.txt": "torch-npu==2.9.0\n",
    }
    place = ("requirements/more.txt", 1)
    assert conflicts(tmp_path, files) == [("NPU3165", *place), ("NPU3166", *place)]


def test_extras_are_installed_apart(tmp_path: Path) -> None:
    text = (
        '[project]\nname = "a"\n[project.optional-dependencies]\ngpu = ["vllm==0.9.1"]\nnpu = ["vllm-ascend==0.11.0"]\n'
    )
    assert conflicts(tmp_path, {"pyproject.toml": text}) == []
    both = text.replace('npu = ["', 'npu = ["vllm==0.9.1", "')
    assert conflicts(tmp_path, {"pyproject.toml": both}) == [("NPU3167", "pyproject.toml", 5)]


def test_one_fitting_alternative_is_enough(tmp_path: Path) -> None:
    text = "torch==2.1.0; python_version < '3.10'\ntorch==2.7.1; python_version >= '3.10'\ntorch-npu==2.7.1.post2\n"
    assert conflicts(tmp_path, {"requirements.txt": text}) == []


def test_environments_without_npu_packages_are_not_judged(tmp_path: Path) -> None:
    assert conflicts(tmp_path, {"requirements.txt": "torch==2.7.1\ntorchvision==0.21.0\ndecord==0.6.0\n"}) == []


def test_unknown_and_open_versions_say_nothing(tmp_path: Path) -> None:
    text = "torch>=2.1\ntorch-npu\nvllm-ascend==99.0\nvllm==0.9.1\ntorchvision\n"
    assert conflicts(tmp_path, {"requirements.txt": text}) == []


def test_the_declared_cann_counts(tmp_path: Path) -> None:
    files = {"requirements.txt": "torch==2.9.0\ntorch-npu==2.9.0\n", "npulint.toml": '[target]\ncann = "8.0.0"\n'}
    assert conflicts(tmp_path, files) == [("NPU3165", "requirements.txt", 2)]


def test_what_shell_commands_install() -> None:
    text = """uv pip install torch==2.7.1 -i https://index/simple
pip install -r needs.txt -c limits.txt
pip install https://host/torch_npu-2.1.0.post3-cp39-cp39-linux_aarch64.whl
conda create -n train -y python=3.9
"""
    found = read_shell(text, "a.sh")
    packages = [(one.name, one.version, one.other_index) for one in found if isinstance(one, Dependency)]
    assert packages == [("torch", "==2.7.1", True), ("torch-npu", "==2.1.0.post3", True)]
    assert [one.name for one in found if isinstance(one, RequirementsFile)] == ["needs.txt"]
    assert [one.version for one in found if isinstance(one, PythonVersion)] == ["=3.9"]


def test_extras_of_setup_are_groups() -> None:
    text = "setup(install_requires=['torch'], extras_require={'npu': ['torch-npu==2.1.0']})\n"
    found = [one for one in read_dependency(text, "setup.py") if isinstance(one, Dependency)]
    assert [(one.name, one.group) for one in found] == [("torch", ""), ("torch-npu", "npu")]


def test_stacks_fit_all_that_is_given() -> None:
    found = list(stacks({"torch": "==2.7.1", "python": "==3.11", "cann": "==8.5.0"}))
    assert [one.releases["torch-npu"][0] for one in found] == ["2.7.1.post8", "2.7.1.post4", "2.7.1.post2", "2.7.1"]
    assert all(one.releases["torchvision"] == ["0.22.1"] for one in found)
    assert {one.releases["torch"][0] for one in stacks({"vllm-ascend": "==0.11.0"})} == {"2.7.1"}


def test_a_release_without_torch_npu_has_nearest_ones() -> None:
    assert [(one.package, one.version, one.nearest) for one in unmatched({"torch": "==2.1.2", "python": "==3.9"})] == [
        ("torch", "2.1.2", ("2.1.0", "2.2.0"))
    ]
    assert [one.nearest for one in unmatched({"torch": "==0.4"})] == [("1.8.1",)]
    assert [(one.version, len(one.nearest)) for one in unmatched({"torch": "<1"})] == [("<1", 1)]
    assert unmatched({"torch": "==2.7.1", "python": "==3.8"}) == []  # each of them is recorded, but not together
    assert unmatched({"torch": ">=0.4,<0.5"}) == []


@pytest.mark.parametrize(
    ("word", "lang", "told"),
    [
        ("torch==2.1.2", "en", "No torch_npu is recorded for torch 2.1.2; the nearest recorded releases of torch are"),
        ("torch==2.1.2", "zh", "没有与 torch 2.1.2 配套的 torch_npu 记录；最接近的 torch 版本为 2.1.0、2.2.0。"),
        ("torch_npu==2.1.2", "en", "torch_npu 2.1.2 is not recorded; the nearest recorded releases are 2.1.0.post"),
        ("torch==0.4", "en", "the nearest recorded release of torch is 1.8.1."),
    ],
)
def test_the_nearest_release_is_named(word: str, lang: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["versions", word, "--lang", lang]) == 1
    assert told in capsys.readouterr().out
    assert main(["versions", word, "--lang", lang, "--format", "json"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out) == []
    assert told in shown.err


def test_versions_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["versions", "torch==2.7.1", "--lang", "en"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["torch_npu", "torch"] and lines[-3].split()[:2] == ["2.7.1", "2.7.1"]
    assert main(["versions", "--target", "torch=2.9", "--format", "json"]) == 0
    assert {row["torch"][0] for row in json.loads(capsys.readouterr().out)} == {"2.9.0", "2.9.1"}
    assert main(["versions", "torch==0.4", "--lang", "zh"]) == 1
    assert "没有" in capsys.readouterr().out
    assert main(["versions", "numpy==1"]) == 2


@pytest.mark.parametrize("release", ["2.1.2", "2.0.0", "2.2.2", "2.3.0", "2.4.1", "2.5.0", "2.7.0", "1.9.1", "2.1.0"])
def test_check_and_versions_say_the_same_of_a_release_of_torch(release: str) -> None:
    pin = f"=={release}"
    missing = unmatched({"torch": pin})
    assert has_adapter("torch", pin) is (not missing)
    assert [one.nearest for one in missing] == ([] if has_adapter("torch", pin) else [nearest_adapted("torch", pin)])


def test_every_release_with_an_adapter_is_in_a_stack() -> None:
    patched = {"1.5.0"}  # without a package
    assert all(any(stacks({"torch": f"=={release}"})) for release in set(adapted("torch")) - patched)


_TRAIN = """import torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    criterion(model(x), y).backward()
    optimizer.step()
"""


def test_a_pin_without_torch_npu_is_reported_once_by_what_needs_it_most(tmp_path: Path) -> None:
    files = {
        "convert.py": 'import torch\n\ntorch.save(torch.load("a.pt"), "b.pt")\n',
        "requirements.txt": "torch==2.1.2\n",
    }
    codes = "NPU31U0,NPU31U2"
    assert conflicts(tmp_path, {**files, "train.py": _TRAIN}, codes) == [("NPU31U0", "requirements.txt", 1)]
    assert conflicts(tmp_path, files | {"train.py": ""}, codes) == [("NPU31U2", "requirements.txt", 1)]

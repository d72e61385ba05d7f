"""What a project asks to be installed, however it says so."""

from __future__ import annotations

import pytest

from npulint.read.dependency import read_dependency
from npulint.read.launcher_facts import LaunchFact, VariableRecord
from npulint.read.packages import Dependency
from npulint.read.requirement import conda_requirement, requirement


def wanted(text: str, path: str) -> list[tuple[str, str]]:
    return [(fact.name, fact.version) for fact in read_dependency(text, path) if isinstance(fact, Dependency)]


def environment(text: str) -> dict[str, str | None]:
    return {f.name: f.value for f in read_dependency(text, "Dockerfile") if isinstance(f, VariableRecord)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("torch", ("torch", "")),
        ("torch==1.8.1", ("torch", "==1.8.1")),
        ("Torch_NPU >= 1.8, < 2", ("torch-npu", ">=1.8,<2")),
        ("tensorflow-gpu~=1.15.0 ; python_version < '3.8'", ("tensorflow-gpu", "~=1.15.0")),
        ("horovod[tensorflow]==0.19.5  # for 8p", ("horovod", "==0.19.5")),
        ("requests (>=2.0)", ("requests", ">=2.0")),
        ("apex @ git+https://example.com/apex.git", ("apex", "")),
        ("git+https://example.com/a.git#egg=Tf_Slim", ("tf-slim", "")),
        ("torch==1.8.0+cu111", ("torch", "==1.8.0+cu111")),
        ("numpy!=1.19.*", ("numpy", "!=1.19.*")),
        ("./local.whl", None),
        ("", None),
        ("a b c", None),
        ("x" * 600, None),
    ],
)
def test_one_requirement(text: str, found: tuple[str, str] | None) -> None:
    assert requirement(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("tensorflow-gpu=1.15", ("tensorflow-gpu", "=1.15")),
        ("conda-forge::horovod==0.19", ("horovod", "==0.19")),
        ("numpy=1.16.4=py37_0", ("numpy", "=1.16.4")),
        ("pytorch>=1.8", ("pytorch", ">=1.8")),
        ("_libgcc_mutex", ("-libgcc-mutex", "")),
    ],
)
def test_one_conda_specification(text: str, found: tuple[str, str]) -> None:
    assert conda_requirement(text) == found


def test_requirements_skip_options_and_keep_places() -> None:
    text = "# base\n-r other.txt\n--index-url https://example.com\n  torch==1.8.1 \\\n    --hash=sha256:00\n-e git+https://x/y#egg=apex\n"
    facts = read_dependency(text, "proj/requirements.txt")
    places = [(fact.name, fact.span.line, fact.span.column) for fact in facts]
    assert places == [("other.txt", 2, 4), ("torch", 4, 3), ("apex", 6, 4)]
    assert {fact.get("via") for fact in facts} == {"requirements"}


def test_pyproject_in_all_its_tables() -> None:
    text = """
[project]
dependencies = ["torch>=2.1", "numpy"]
[project.optional-dependencies]
npu = ["torch-npu==2.1.0"]
[dependency-groups]
dev = ["pytest", {include-group = "x"}]
[tool.poetry.dependencies]
python = "^3.8"
tensorflow = "1.15.0"
horovod = {version = "^0.19", optional = true}
[tool.poetry.group.gpu.dependencies]
cupy = "*"
"""
    assert wanted(text, "pyproject.toml") == [
        ("torch", ">=2.1"),
        ("numpy", ""),
        ("torch-npu", "==2.1.0"),
        ("pytest", ""),
        ("tensorflow", "1.15.0"),
        ("horovod", "^0.19"),
        ("cupy", ""),
    ]
    assert read_dependency(text, "pyproject.toml")[0].span.line == 3


def test_pipfile() -> None:
    assert wanted('[packages]\ntorch = "==1.8.1"\n[dev-packages]\npytest = "*"\n', "Pipfile") == [
        ("torch", "==1.8.1"),
        ("pytest", ""),
    ]


def test_setup_py_is_read_and_not_run() -> None:
    text = (
        "from setuptools import setup\n"
        "DEPS = ['tensorflow-gpu==1.15',\n        'tf_slim']\n"
        "raise SystemExit\n"
        "setup(name='torch', install_requires=DEPS, extras_require={'gpu': ['cupy>=8']}, packages=['x'])\n"
    )
    facts = read_dependency(text, "setup.py")
    assert [(fact.name, fact.span.line) for fact in facts] == [("tensorflow-gpu", 2), ("tf-slim", 3), ("cupy", 5)]


def test_setup_cfg() -> None:
    text = (
        "[metadata]\nname = torch\n[options]\ninstall_requires =\n    torch>=1.8\n    # note\n    numpy\n"
        "packages = find:\n[options.extras_require]\ngpu = cupy\n[options.entry_points]\nx =\n    y\n"
    )
    assert wanted(text, "setup.cfg") == [("torch", ">=1.8"), ("numpy", ""), ("cupy", "")]


def test_conda_environment_with_a_pip_part() -> None:
    text = (
        "name: tf\nchannels:\n  - conda-forge\ndependencies:\n  - python=3.7\n  - tensorflow-gpu=1.15.0=h0d30ee6_0\n"
        "  - pip:\n    - horovod==0.19.5\n    - 'tf-slim'\n  - numpy  # late\nprefix: /x\n"
    )
    assert wanted(text, "environment.yml") == [
        ("tensorflow-gpu", "=1.15.0"),
        ("horovod", "==0.19.5"),
        ("tf-slim", ""),
        ("numpy", ""),
    ]


DOCKERFILE = """FROM nvidia/cuda:10.0
ARG CARDS=8
ENV RANK_SIZE=8 JOB_ID="10087" TABLE=$HOME/x.json
ENV ASCEND_GLOBAL_LOG_LEVEL 3
ENV LD_LIBRARY_PATH /usr/lib:$LD_LIBRARY_PATH
RUN --mount=type=cache,target=/root apt-get update && \\
    # torch of the GPU image
    pip install torch==1.8.1 'apex' \\
      -r requirements.txt
COPY train.py /train.py
CMD ["python3", "train.py", "--precision_mode=allow_mix_precision"]
"""


def test_dockerfile_environment_in_both_forms() -> None:
    assert environment(DOCKERFILE) == {
        "RANK_SIZE": "8",
        "JOB_ID": "10087",
        "TABLE": None,
        "ASCEND_GLOBAL_LOG_LEVEL": "3",
        "LD_LIBRARY_PATH": None,
    }
    vias = {f.via for f in read_dependency(DOCKERFILE, "Dockerfile") if isinstance(f, VariableRecord)}
    assert vias == {"dockerfile"}


def test_dockerfile_commands_packages_and_launch_keep_their_places() -> None:
    facts = {(fact.kind, fact.name): fact for fact in read_dependency(DOCKERFILE, "x/Dockerfile.npu")}
    torch = facts["dependency", "torch"]
    assert (torch.span.line, torch.span.column, torch.get("version")) == (8, 17, "==1.8.1")
    assert ("dependency", "apex") in facts
    assert facts["command", "apt-get"].span.line == 6
    launch = facts["launch", "train.py"]
    assert isinstance(launch, LaunchFact) and launch.span.line == 11
    assert launch.record.options == {"precision_mode": "allow_mix_precision"}
    assert facts["environment", "RANK_SIZE"].span.column == 5


@pytest.mark.parametrize(
    "path", ["requirements.txt", "pyproject.toml", "Pipfile", "setup.py", "setup.cfg", "environment.yml", "Dockerfile"]
)
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00",
        "[" * 50_000,
        "(" * 50_000,
        "- " * 50_000,
        "RUN [\nENV\nENV =\nENV A\n",
        "a=" * 50_000,
        "]\n=\n[options]\n=x",
    ],
    ids=["empty", "nul", "brackets", "parentheses", "dashes", "cut", "one line", "punctuation"],
)
def test_hostile_text_gives_nothing_and_no_crash(path: str, text: str) -> None:
    assert all(fact.kind in ("dependency", "environment", "command") for fact in read_dependency(text, path))


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ("--index-url https://download.pytorch.org/whl/cu118\ntorch\n", "requirements.txt", [("118", 1, 13)]),
        ("torch\n-f https://x.org/whl/cu111/torch_stable.html\n", "requirements.txt", [("111", 2, 4)]),
        ("# https://x.org/whl/cu118\ntorch\n", "requirements.txt", []),
        ("--index-url https://x.org/whl/cpu\n", "requirements.txt", []),
        ("https://x.org/cube/torch.whl\n", "requirements.txt", []),
        ('[[tool.uv.index]]\nurl = "https://x.org/whl/cu121"\n', "pyproject.toml", [("121", 2, 8)]),
        ("RUN pip install torch --index-url https://x.org/whl/cu121\n", "Dockerfile", [("121", 1, 35)]),
        ('"""Use https://x.org/whl/cu121"""\nprint(\n    "https://x.org/whl/cu121"\n)\n', "setup.py", []),
        ('URL = "https://x.org/whl/cu121"\nprint(URL)\n', "setup.py", [("121", 1, 8)]),
        ('URL = "https://x.org/whl/cu121"\n(\n', "setup.py", [("121", 1, 8)]),
    ],
)
def test_indexes_of_cuda_builds(text: str, path: str, found: list[tuple[str, int, int]]) -> None:
    facts = [fact for fact in read_dependency(text, path) if fact.kind == "package_index"]
    assert [(fact.get("cuda"), fact.span.line, fact.span.column) for fact in facts] == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("FROM nvidia/cuda:11.8.0-devel", [("nvidia/cuda:11.8.0-devel", "yes")]),
        ("from --platform=linux/amd64 pytorch/pytorch:2.1-cuda12.1 AS b", [("pytorch/pytorch:2.1-cuda12.1", "yes")]),
        ("FROM ${BASE}", [("${BASE}", "no")]),
        ("FROM ubuntu:22.04", [("ubuntu:22.04", "no")]),
        ("# FROM nvidia/cuda", []),
        ("RUN echo FROM nvidia/cuda", []),
    ],
)
def test_base_images(line: str, found: list[tuple[str, str]]) -> None:
    facts = [fact for fact in read_dependency(line + "\n", "Dockerfile") if fact.kind == "base_image"]
    assert [(fact.name, fact.get("cuda")) for fact in facts] == found

"""Fixes in requirements, conda environments and Dockerfiles, byte for byte."""

from __future__ import annotations

import pytest

from npulint.facts.model import Fact, Span
from npulint.fix.lines import plan
from npulint.fix.model import FixRefused, Text
from npulint.fix.source import edited_text
from npulint.judge.findings import FixStep
from npulint.read.dependency import read_dependency


def fact_of(text: str, path: str, name: str) -> Fact:
    """The first fact of that name."""
    return next(fact for fact in read_dependency(text, path) if fact.name == name)


def fixed(source: str, path: str, name: str, verb: str, **words: str) -> str:
    """The text after one step at the fact of that name."""
    kind = "dockerfile" if path == "Dockerfile" else "dependency"
    step = FixStep(verb, path, fact_of(source, path, name).span, words)
    return edited_text(source, plan(step, Text(path, kind, source)).edits)


def refusal(source: str, path: str, name: str, verb: str, **words: str) -> str:
    with pytest.raises(FixRefused) as raised:
        fixed(source, path, name, verb, **words)
    return raised.value.reason


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("numpy\npynvml\ntorch\n", "numpy\ntorch\n"),
        ("numpy\npynvml", "numpy"),
        ("pynvml", ""),
        ("pynvml==11.0  # the GPU\n", ""),
        ("pynvml==11.0 \\\n    --hash=sha256:00 \\\n    --hash=sha256:11\n    # via x\ntorch\n", "torch\n"),
        ("  pynvml\n# next\n", "# next\n"),
    ],
)
def test_a_requirement_is_deleted(text: str, left: str) -> None:
    assert fixed(text, "requirements.txt", "pynvml", "delete", what="line") == left


def test_an_item_of_a_conda_environment_is_deleted() -> None:
    text = "dependencies:\n  - python=3.7\n  - cudatoolkit=10.0\n  # pip's\n  - pip:\n    - nvgpu\n    - numpy\n"
    assert fixed(text, "environment.yml", "cudatoolkit", "delete", what="line") == text.replace(
        "  - cudatoolkit=10.0\n", ""
    ).replace("  # pip's\n", "")
    assert fixed(text, "environment.yml", "nvgpu", "delete", what="line") == text.replace("    - nvgpu\n", "")
    alone = text.replace("    - numpy\n", "")
    assert refusal(alone, "environment.yml", "nvgpu", "delete", what="line") == "joined"


def test_several_on_a_line_are_not_deleted() -> None:
    text = '[project]\nname = "a"\ndependencies = ["torch", "pynvml"]\n'
    assert refusal(text, "pyproject.toml", "pynvml", "delete", what="line") == "joined"


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Tensorflow_GPU==1.15.0\n", "tensorflow==1.15.0\n"),
        (
            "tensorflow-gpu[x]==1.15.0 ; python_version<'3'  # tensorflow-gpu\n",
            "tensorflow[x]==1.15.0 ; python_version<'3'  # tensorflow-gpu\n",
        ),
        ("tensorflow-gpu-x==1\ntensorflow-gpu==1.15.0\n", "tensorflow-gpu-x==1\ntensorflow==1.15.0\n"),
    ],
)
def test_a_package_gets_another_name(text: str, after: str) -> None:
    assert fixed(text, "requirements.txt", "tensorflow-gpu", "retext", part="tensorflow-gpu", to="tensorflow") == after


def test_parts_and_versions_are_written_anew() -> None:
    text = "torch==1.8.0+cu111  # not torch==1.9+cu111\n"
    assert fixed(text, "requirements.txt", "torch", "retext", part="+cu111", to="") == text.replace("+cu111", "", 1)
    assert refusal(text, "requirements.txt", "torch", "retext", part="+cu112", to="") == "place"
    after = "torch==2.1.0  # not torch==1.9+cu111\n"
    assert fixed(text, "requirements.txt", "torch", "value", **{"with": "==2.1.0"}) == after
    text = 'torch [x] >=1.8 ; python_version > "3.6"\n'
    assert fixed(text, "requirements.txt", "torch", "value", **{"with": "$old,<2"}) == text.replace(">=1.8", ">=1.8,<2")
    assert refusal("torch\n", "requirements.txt", "torch", "insert", text="x", where="before") == "verb"


def test_a_package_gets_a_line_of_its_own() -> None:
    for text, after in (("torch\nnumpy\n", "torch\nx\nnumpy\n"), ("numpy\ntorch", "numpy\ntorch\nx")):
        assert fixed(text, "requirements.txt", "torch", "insert", text="x", where="after") == after
    hashed = "torch==2.1 \\\n    --hash=sha256:0\n"
    assert refusal(hashed, "requirements.txt", "torch", "insert", text="x", where="after") == "joined"


def test_the_commands_of_a_dockerfile_are_changed() -> None:
    text = (
        "FROM ubuntu\n"
        "ENV CUDA_A=1 B=2\n"
        "ENV CUDA_C 3\n"
        "ENV CUDA_D=4\n"
        "RUN pip install torch==1.8.0+cu111 numpy && \\\n"
        "    # a comment\n"
        "    export CUDA_E=5 && \\\n"
        "    make\n"
        "RUN CUDA_F=6 make\n"
        'CMD ["python", "-m", "torch.distributed.launch", "train.py"]\n'
    )

    def of(name: str, verb: str = "delete", **words: str) -> str:
        return fixed(text, "Dockerfile", name, verb, **(words or {"what": "statement"}))

    assert of("CUDA_A") == text.replace(" CUDA_A=1", "")
    assert of("CUDA_C") == text.replace("ENV CUDA_C 3\n", "")
    assert of("CUDA_C", "rename_part", part="CUDA_C", to="NPU_C") == text.replace("CUDA_C 3", "NPU_C 3")
    assert of("CUDA_D") == text.replace("ENV CUDA_D=4\n", "")
    assert of("CUDA_D", "value", **{"with": "5"}) == text.replace("CUDA_D=4", "CUDA_D=5")
    assert of("CUDA_E") == text.replace("export CUDA_E=5 && \\\n    ", "")
    assert of("CUDA_F") == text.replace("CUDA_F=6 ", "")
    assert of("torch", "retext", part="+cu111", to="") == text.replace("+cu111", "")


def test_a_list_of_words_keeps_its_marks() -> None:
    text = 'CMD ["python", "-m", "torch.distributed.launch", "--use_env", "train.py"]\n'
    place = next(fact.span for fact in read_dependency(text, "Dockerfile") if fact.kind == "launch")
    source = Text("Dockerfile", "dockerfile", text)
    step = FixStep("retext", "Dockerfile", place, {"part": "torch.distributed.launch", "to": "torch.distributed.run"})
    assert edited_text(text, plan(step, source).edits) == text.replace("launch", "run")
    with pytest.raises(FixRefused, match="place"):
        plan(FixStep("drop", "Dockerfile", place, {"name": "use_env"}), source)


def test_what_is_not_there_is_refused() -> None:
    step = FixStep("delete", "requirements.txt", Span(9, 1, 9, 2), {"what": "line"})
    with pytest.raises(FixRefused, match="place"):
        plan(step, Text("requirements.txt", "dependency", "torch\n"))

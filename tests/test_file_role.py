"""Files that take no part in the training: what they are for, and what becomes of findings in them."""

from __future__ import annotations

import pytest

from tests.project_support import Project

_TRAIN = """\
import torch
from torch.utils.data import DataLoader

model = torch.nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in DataLoader(rows, 8, drop_last=True):
    model(x.cuda()).sum().backward()
    optimizer.step()
"""
_SERVE = """\
import torch
import torch.distributed as dist
from fastapi import FastAPI

app = FastAPI()
dist.init_process_group("nccl")
model = torch.load("best.pth").cuda()
"""
_CUDA_IMAGE = "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\nRUN pip install torch\n"
_NPU_IMAGE = "FROM ascendai/cann:8.0.rc1-910b-ubuntu22.04\nRUN pip install torch torch-npu\n"


def _severities(project: Project, files: dict[str, str], code: str, *words: str) -> dict[str, str]:
    """The severity of the findings of a check, by file."""
    answer = project.write(files).run("check", "--format", "json", "--no-cache", *words)
    return {one["path"]: one["severity"] for one in answer.findings if one["code"] == code}


_FP8 = f"import msamp\n{_TRAIN}"


@pytest.mark.parametrize(
    ("folder", "severities"),
    [
        pytest.param("benchmarks", {"benchmarks/one.py": "warning"}, id="benchmarks: one warning for all"),
        pytest.param("tests", {}, id="tests: none, they are skipped"),
    ],
)
def test_a_script_that_stops_at_its_own_import(project: Project, folder: str, severities: dict[str, str]) -> None:
    files = {"train.py": _TRAIN, f"{folder}/one.py": _FP8, f"{folder}/two.py": _FP8}
    assert _severities(project, files, "NPU2158") == severities


@pytest.mark.parametrize(
    ("path", "severities"),
    [
        pytest.param("examples/sft.yaml", {"examples/sft.yaml": "warning"}, id="an example"),
        pytest.param("tests/sft.yaml", {}, id="tests"),
        pytest.param("docs/sft.yaml", {}, id="documentation"),
    ],
)
def test_a_configuration_in_a_folder(project: Project, path: str, severities: dict[str, str]) -> None:
    text = "stage: sft\nfinetuning_type: lora\ntemplate: qwen\noptim: paged_adamw_8bit\n"
    assert _severities(project, {"train.py": _TRAIN, path: text}, "NPU7106") == severities


@pytest.mark.parametrize(
    ("files", "severities"),
    [
        pytest.param({"Dockerfile": _CUDA_IMAGE}, {"Dockerfile": "warning"}, id="the only image"),
        pytest.param({"docker-cuda/Dockerfile": _CUDA_IMAGE}, {}, id="named for CUDA"),
        pytest.param({"Dockerfile.gpu": _CUDA_IMAGE}, {}, id="named for GPUs"),
        pytest.param(
            {"docker/a/Dockerfile": _CUDA_IMAGE, "docker/npu/Dockerfile": _NPU_IMAGE},
            {},
            id="beside an image for Ascend",
        ),
        pytest.param(
            {"Dockerfile": _CUDA_IMAGE, "Dockerfile.te": _CUDA_IMAGE},
            {"Dockerfile": "warning"},
            id="a variant",
        ),
        pytest.param(
            {"deploy/Dockerfile": "FROM nvcr.io/nvidia/tritonserver:24.01-py3\n"},
            {"deploy/Dockerfile": "note"},
            id="an image that serves",
        ),
        pytest.param({".ci/Dockerfile": _CUDA_IMAGE}, {}, id="an image for CI"),
    ],
)
def test_images_that_are_not_for_training(project: Project, files: dict[str, str], severities: dict[str, str]) -> None:
    assert _severities(project, {"train.py": _TRAIN, **files}, "NPU3162") == severities


def test_findings_in_files_of_one_role_are_one(project: Project) -> None:
    images = {f"deploy/{number}/Dockerfile": _CUDA_IMAGE for number in range(3)}
    answer = project.write({"train.py": _TRAIN, **images}).run("check", "--format", "json", "--no-cache")
    (found,) = [one for one in answer.findings if one["code"] == "NPU3162"]
    assert {found["path"], *(one["path"] for one in found["related"])} == set(images)


@pytest.mark.parametrize(
    ("files", "severities"),
    [
        pytest.param({"train.py": _TRAIN, "server.py": _SERVE}, {"server.py": "note"}, id="a server beside training"),
        pytest.param({"server.py": _SERVE}, {"server.py": "warning"}, id="nothing trains"),
        pytest.param(
            {"train.py": "import server\n" + _TRAIN, "server.py": _SERVE},
            {"server.py": "warning"},
            id="training uses it",
        ),
        pytest.param({"train.py": _TRAIN, "tpu.py": "import torch_xla\n" + _SERVE}, {}, id="a script for TPUs"),
        pytest.param({"train.py": _TRAIN, "runtime/gpu/model.py": _SERVE}, {}, id="a runtime on GPUs"),
        pytest.param({"train.py": _TRAIN, "runtime/model.py": _SERVE}, {"runtime/model.py": "note"}, id="a runtime"),
        pytest.param({"train.py": _TRAIN, "ms.py": "import mindspore\n" + _SERVE}, {}, id="a script for MindSpore"),
        pytest.param(
            {"train.py": "import lib.mindspore.net\n" + _TRAIN, "lib/mindspore/net.py": _SERVE},
            {},
            id="a back end on top of MindSpore that training imports",
        ),
    ],
)
def test_code_that_no_training_reaches_is_demoted(
    project: Project, files: dict[str, str], severities: dict[str, str]
) -> None:
    found = _severities(project, files, "NPU2182")
    assert {path: severity for path, severity in found.items() if path != "train.py"} == severities


@pytest.mark.parametrize(
    ("path", "listed"),
    [
        pytest.param("train.py", True, id="a training program"),
        pytest.param("tests/train.py", False, id="a test that trains"),
        pytest.param("test/train.py", False, id="a folder of tests"),
        pytest.param("gen_docs.py", False, id="a script that writes documentation"),
        pytest.param("bench.py", True, id="a benchmark that trains"),
    ],
)
def test_tests_get_no_readiness_checklist(project: Project, path: str, listed: bool) -> None:
    answer = project.write({path: _TRAIN}).run("check", "--format", "json", "--no-cache")
    assert [bool(one.get("checklist")) for one in answer.document["programs"]] == [listed]


def test_launchers_in_the_test_folder_of_a_model_start_its_training(project: Project) -> None:
    files = {
        "train.py": "import torch_npu\n" + _TRAIN.replace("cuda", "npu"),
        "test/train_full_1p.sh": "export ASCEND_LAUNCH_BLOCKING=1\nexport ASCEND_DEVICE_ID=0\npython3 train.py\n",
        "tests/st/run.sh": "export ASCEND_LAUNCH_BLOCKING=1\nexport ASCEND_DEVICE_ID=0\npython3 train.py\n",
    }
    assert _severities(project, files, "NPU3321") == {"test/train_full_1p.sh": "warning", "tests/st/run.sh": "note"}


def test_a_project_in_a_larger_tree_is_judged_by_its_folder(project: Project) -> None:
    files = {"benchmarks/serving/requirements.txt": "torch\n", "benchmarks/serving/run.py": _SERVE}
    assert _severities(project, files, "NPU2182", ".") == {"benchmarks/serving/run.py": "note"}
    assert _severities(project, files, "NPU2182", "benchmarks/serving") == {"benchmarks/serving/run.py": "warning"}


def test_a_program_that_is_only_looked_for_is_not_started(project: Project) -> None:
    files = {"train.py": _TRAIN, "run.sh": "command -v nvidia-smi\npython3 train.py\n", "gpu.sh": "nvidia-smi\n"}
    assert _severities(project, files, "NPU3403") == {"gpu.sh": "note"}


_PORTED = """\
import torch
import torch_npu

model = torch.nn.Linear(3, 3).npu()
model(torch.ones(3, 3).npu()).sum().backward()
"""
_ON_GPUS = "import torch\n\nif __name__ == '__main__':\n    model = torch.load('best.pth').to('cuda:0')\n"


def test_code_in_a_folder_for_gpus_is_for_them_where_the_project_supports_the_npu(project: Project) -> None:
    files = {"train.py": _PORTED, "engine/gpu/run.py": _ON_GPUS, "engine/fast/run.py": _ON_GPUS}
    assert _severities(project, files, "NPU2402") == {"engine/fast/run.py": "note"}


def test_a_finding_about_a_program_leaves_out_what_only_another_script_runs(project: Project) -> None:
    measure = """
def measure(model):
    return model

def main():
    torch.cuda.synchronize()

if __name__ == "__main__":
    main()
"""
    files = {
        "train.py": "from check import measure\n" + _TRAIN,
        "check.py": "import argparse\nimport torch\n" + measure,
    }
    answer = project.write(files).run("check", "--format", "json", "--no-cache")
    (found,) = [one for one in answer.findings if one["code"] == "NPU2100"]
    assert (found["path"], {one["path"] for one in found["related"]}) == ("train.py", {"train.py"})


_EVALUATE = """\
import tensorflow.compat.v1 as tf

tf.load_op_library("./pool_op.so")
tf.import_graph_def(tf.GraphDef.FromString(open("classify.pb", "rb").read()))
with tf.Session() as sess:
    print(sess.run("pool:0", {"images:0": rows}))
"""


def test_a_tensorflow_script_beside_training_with_pytorch_is_no_training(project: Project) -> None:
    evaluate = """\
import tensorflow.compat.v1 as tf

scores = tf.load_op_library("./score_op.so").score()
with tf.Session() as sess:
    print(sess.run(scores))
"""
    files = {"train.py": _TRAIN, "score.py": evaluate}
    assert _severities(project, {"score.py": evaluate}, "NPU1419", "score.py") == {"score.py": "warning"}
    assert _severities(project, files, "NPU1419") == {"score.py": "note"}


def test_an_evaluation_with_its_own_requirements_is_no_training(project: Project) -> None:
    files = {"scripts/train.py": _TRAIN, "requirements.txt": "torch\n"}
    files |= {"evaluations/evaluator.py": _EVALUATE, "evaluations/requirements.txt": "tensorflow-gpu>=2.0\n"}
    assert _severities(project, files, "NPU1419", "evaluations") == {"evaluations/evaluator.py": "warning"}
    assert _severities(project, files, "NPU1419", ".") == {"evaluations/evaluator.py": "note"}


def test_a_launcher_next_to_one_for_the_npu_is_for_gpus(project: Project) -> None:
    launcher = "export NCCL_DEBUG=INFO\npython3 train.py\n"
    files = {"train.py": _TRAIN, "train.sh": launcher}
    assert _severities(project, files, "NPU3402") == {"train.sh": "note"}
    assert _severities(project, {**files, "train_npu.sh": "python3 train.py\n"}, "NPU3402") == {}

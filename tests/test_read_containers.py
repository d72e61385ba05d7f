"""Containers that scripts, Compose files and Kubernetes manifests start, and steps of Dockerfiles without effect."""

from __future__ import annotations

import textwrap

import pytest

from npulint.data.container_images import chip_of, software_of
from npulint.discover.file_filter import describes_containers
from npulint.facts.model import Fact
from npulint.read.chip_names import CannPackage, cann_packages
from npulint.read.configuration import read_configuration
from npulint.read.containers.facts import GpuRequest, StartedContainer
from npulint.read.dockerfile import ImageStep, image_steps
from npulint.read.shell_script import read_shell
from npulint.read.source import DecodedSource, decode
from tests.project_support import Project

_NODES = "--device=/dev/davinci_manager --device=/dev/devmm_svm --device=/dev/hisi_hdc"
_DRIVER = "-v /usr/local/Ascend/driver:/usr/local/Ascend/driver:ro"
_TRAIN = """\
import torch
import torch_npu

model = torch.nn.Linear(3, 3).npu()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for x in loader:
    model(x.npu()).sum().backward()
    optimizer.step()
"""


def _containers(facts: list[Fact]) -> list[StartedContainer]:
    return [fact for fact in facts if isinstance(fact, StartedContainer)]


def _of_manifest(text: str) -> list[Fact]:
    source = decode(textwrap.dedent(text).encode(), "job.yaml", False)
    assert isinstance(source, DecodedSource)
    return read_configuration(source, "job.yaml").facts


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("docker run -it team/train:1 bash", {"name": "team/train:1", "npus": "none"}, id="plain"),
        pytest.param("docker run -itw /work team/train:1", {"name": "team/train:1"}, id="a value behind joined flags"),
        pytest.param("docker run -v/data:/data team/train:1", {"name": "team/train:1"}, id="a value without a blank"),
        pytest.param("sudo docker run --rm --name a team/train:1", {"name": "team/train:1"}, id="behind sudo"),
        pytest.param("podman run team/train:1", {"name": "team/train:1"}, id="podman"),
        pytest.param("docker run $IMAGE bash", {"name": "*", "npus": "none"}, id="a computed image"),
        pytest.param(
            "docker run $OPTIONS team/train:1", {"name": "team/train:1", "npus": "unknown"}, id="computed options"
        ),
        pytest.param('docker run "$@" team/train:1', {"npus": "unknown"}, id="the arguments of the script"),
        pytest.param("docker run --privileged=true a:1", {"npus": "all"}, id="privileged"),
        pytest.param("docker run -v /dev:/dev a:1", {"npus": "all"}, id="all device files"),
        pytest.param("docker run --runtime=ascend a:1", {"npus": "runtime"}, id="Ascend Docker Runtime"),
        pytest.param("docker run -e ASCEND_VISIBLE_DEVICES=0 a:1", {"npus": "runtime"}, id="its variable"),
        pytest.param(
            "docker run --device=/dev/davinci0:/dev/davinci0:rwm a:1", {"npus": "devices"}, id="a device file"
        ),
        pytest.param(f"docker run --device /dev/davinci0 {_NODES} a:1", {"missing_nodes": "-"}, id="complete"),
        pytest.param(
            "docker run --device /dev/davinci0 --device /dev/davinci_manager --device /dev/hisi_hdc a:1",
            {"missing_nodes": "/dev/devmm_svm"},
            id="one is missing",
        ),
        pytest.param(
            "docker run --device /dev/davinci0 --device /dev/davinci_manager --device /dev/ummu a:1",
            {"missing_nodes": "-"},
            id="those of the 950",
        ),
        pytest.param(f"docker run --device /dev/davinci0 {_DRIVER} a:1", {"driver": "yes"}, id="the driver"),
        pytest.param("docker run --device /dev/davinci0 -v $DATA:$DATA a:1", {"driver": "no"}, id="computed data"),
        pytest.param(
            "docker run --device /dev/davinci0 -v $DRIVER:$DRIVER a:1", {"driver": "unknown"}, id="its variable"
        ),
        pytest.param(
            "docker run --device /dev/davinci0 --mount type=bind,source=/usr/local/Ascend,target=/usr/local/Ascend a:1",
            {"driver": "yes", "hidden": "/usr/local/Ascend"},
            id="the folder around it",
        ),
        pytest.param("docker run --ipc host a:1", {"shared_memory": "host"}, id="memory of the host"),
        pytest.param("docker run --shm-size=64g a:1", {"shared_memory": "given"}, id="memory of a size"),
        pytest.param("docker run a:1", {"shared_memory": "default"}, id="memory by default"),
        pytest.param("docker run a:1 python train.py", {"program": True}, id="a program"),
        pytest.param("docker run a:1 bash", {"program": False}, id="a shell"),
    ],
)
def test_a_container_of_a_command(line: str, expected: dict[str, object]) -> None:
    (found,) = _containers(read_shell(line, "run.sh"))
    assert {name: getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize("line", ["docker ps", "docker run --rm", "docker run -it --name a", "echo docker run a:1 b c"])
def test_a_command_without_a_container(line: str) -> None:
    assert not _containers(read_shell(line, "run.sh"))


def test_what_a_container_runs_is_a_start() -> None:
    facts = read_shell("docker run -v $PWD:/work a:1 torchrun --nproc_per_node=8 train.py --lr 0.1", "run.sh")
    assert [fact.name for fact in facts if fact.kind == "launch"] == ["train.py"]


def test_commands_of_several_lines_and_variables_are_followed() -> None:
    text = textwrap.dedent("""\
        DEVICES="--device /dev/davinci0 --device /dev/davinci1"
        docker run $DEVICES \\
            --gpus all \\
            cann:8.5.0-910b-x bash
        """)
    facts = read_shell(text, "run.sh")
    (container,) = _containers(facts)
    assert (container.npus, container.several, container.chip, container.span.line) == ("devices", True, "910B", 4)
    (request,) = [fact for fact in facts if isinstance(fact, GpuRequest)]
    assert (request.name, request.span.line, request.software) == ("--gpus all", 3, "ascend")


def test_services_of_compose_with_merged_settings() -> None:
    facts = _of_manifest("""\
        x-common: &common
          devices: [/dev/davinci0, /dev/davinci_manager, /dev/devmm_svm, /dev/hisi_hdc]
          volumes: ["/usr/local/Ascend/driver:/usr/local/Ascend/driver"]
          shm_size: 16gb
        services:
          npu:
            <<: *common
            build: {args: {BASE: "quay.io/ascend/cann:8.5.0-910b-ubuntu22.04-py3.11"}}
            command: python train.py
          gpu:
            image: team/train:2
            gpus: all
        """)
    npu, gpu = _containers(facts)
    assert (npu.npus, npu.missing_nodes, npu.driver, npu.shared_memory, npu.software) == (
        *("devices", "-", "yes", "given"),
        "ascend",
    )
    assert npu.program
    assert (gpu.gpus, gpu.beside_npu, gpu.shared_memory) == ("gpus: all", True, "default")


_POD = """\
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: a}
        ---
        apiVersion: batch.volcano.sh/v1alpha1
        kind: Job
        spec:
          tasks:
            - template:
                spec:
                  containers:
                    - image: team/train:1
                      command: [torchrun, train.py]
                      resources: {limits: {RESOURCE: 8}}
                      volumeMounts: [{name: shm, mountPath: /dev/shm}]
"""


@pytest.mark.parametrize(
    ("resource", "npus", "gpus"),
    [("huawei.com/Ascend910", "runtime", "-"), ("nvidia.com/gpu", "none", "nvidia.com/gpu"), ("cpu", "none", "-")],
)
def test_pods_of_any_kind_of_resource_in_any_document(resource: str, npus: str, gpus: str) -> None:
    (found,) = _containers(_of_manifest(_POD.replace("RESOURCE", resource)))
    assert (found.npus, found.gpus, found.shared_memory, found.program) == (npus, gpus, "host", True)


@pytest.mark.parametrize(
    ("resource", "image", "fits"),
    [
        ("huawei.com/Ascend310P", "quay.io/ascend/cann:8.5.0-910b-ubuntu22.04-py3.11", "no"),
        ("huawei.com/Ascend310P-2c", "quay.io/ascend/cann:8.5.0-910b-ubuntu22.04-py3.11", "no"),
        ("huawei.com/Ascend910", "quay.io/ascend/cann:8.5.0-a3-ubuntu22.04-py3.11", "yes"),
        ("huawei.com/Ascend310", "quay.io/ascend/cann:8.5.0-910b-ubuntu22.04-py3.11", "unknown"),
        ("huawei.com/Ascend310P", "team/train:1", "unknown"),
    ],
)
def test_the_requested_npus_fit_the_image(resource: str, image: str, fits: str) -> None:
    manifest = _POD.replace("RESOURCE", resource).replace("team/train:1", image)
    (found,) = _containers(_of_manifest(manifest))
    assert (found.resource, found.resource_fits) == (resource, fits)


def test_a_variable_from_an_annotation_passes_no_npu() -> None:
    variable = "env: [{name: ASCEND_VISIBLE_DEVICES, valueFrom: {fieldRef: {fieldPath: a}}}]"
    (found,) = _containers(_of_manifest(_POD.replace("resources: {limits: {RESOURCE: 8}}", variable)))
    assert found.npus == "none"


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("services:\n  a:\n    image: b\n", True),
        ("apiVersion: v1\nspec:\n  containers:\n  - image: b\n", True),
        ("services:\n  lr: 0.1\n", False),
        ("model:\n  containers: 3\n", False),
        ("apiVersion: v1\nkind: Service\n", False),
    ],
)
def test_files_that_describe_containers(text: str, described: bool) -> None:
    assert describes_containers(text.encode()) is described


def test_a_template_is_no_problem(project: Project) -> None:
    chart = "apiVersion: v1\nspec:\n  containers:\n{{- range .Values.all }}\n  - image: {{ .image }}\n{{- end }}\n"
    answer = project.write({"train.py": _TRAIN, "chart/job.yaml": chart}).run("check", "--format", "json", "--no-cache")
    assert not [one for one in answer.findings if one["path"].endswith("job.yaml")]


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        pytest.param(
            "RUN source /usr/local/Ascend/ascend-toolkit/set_env.sh", ["environment-lost"], id="sourced alone"
        ),
        pytest.param("RUN source /a/set_env.sh && pip install a", [], id="sourced for the rest of the step"),
        pytest.param("RUN pip install a && \\\n\n    . /a/set_env.sh", ["environment-lost"], id="sourced at the end"),
        pytest.param("RUN export HCCL_CONNECT_TIMEOUT=600", ["environment-lost"], id="an export"),
        pytest.param("RUN export http_proxy=a", [], id="an export of another kind"),
        pytest.param("RUN source /a/set_env.sh\nENV LD_LIBRARY_PATH=/a/lib64", [], id="set with ENV"),
        pytest.param("RUN source /a/set_env.sh\nRUN echo 'source /a/set_env.sh' >> ~/.bashrc", [], id="in the profile"),
        pytest.param("RUN python3 -c 'import torch_npu'", ["driver-at-build"], id="an import"),
        pytest.param(
            'RUN --mount=type=cache,target=/a python -c "import torch; torch.npu.set_device(0)"',
            ["driver-at-build"],
            id="flags",
        ),
        pytest.param("RUN python -c 'import torch_npu' || true", [], id="it may fail"),
        pytest.param("RUN python -c 'import torch'", [], id="another import"),
        pytest.param("ENV LD_LIBRARY_PATH=/a/devlib\nRUN python -c 'import torch_npu'", [], id="with stubs"),
        pytest.param("RUN echo \"python -c 'import torch_npu'\" > /test.sh", [], id="written to a file"),
        pytest.param("CMD python -c 'import torch_npu'", [], id="when it starts"),
        pytest.param("RUN npu-smi info", ["driver-at-build"], id="npu-smi"),
    ],
)
def test_steps_of_an_image(steps: str, names: list[str]) -> None:
    found = image_steps(f"FROM ubuntu:22.04\n{steps}\n", "Dockerfile")
    assert [one.name for one in found if isinstance(one, ImageStep)] == names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("RUN bash Ascend-cann-toolkit_8.2.RC1_linux-aarch64.run --full", [("toolkit", True, "")]),
        ("COPY Ascend-cann-kernels-910b_8.2.RC1_linux-aarch64.run /tmp", [("kernels", False, "910B")]),
        ("RUN ./Ascend-cann-A3-ops_8.5.0_linux-aarch64.run --install", [("kernels", True, "910C")]),
        (
            "conda install -y ascend::cann-toolkit ascend::cann-kernels-910b",
            [("toolkit", True, ""), ("kernels", True, "910B")],
        ),
        ("chmod +x Ascend-cann-*.run", [("any", False, "")]),
        ("echo Ascend-cann-toolkit_8.run --install", []),
        ("# Ascend-cann-toolkit_8.run --install", []),
    ],
)
def test_packages_of_cann(text: str, found: list[tuple[str, bool, str]]) -> None:
    packages = [one for one in cann_packages(text, "Dockerfile") if isinstance(one, CannPackage)]
    assert [(one.name, one.installed, one.chip) for one in packages] == found


@pytest.mark.parametrize(
    ("image", "software", "chip"),
    [
        ("quay.io/ascend/vllm-ascend:v0.11.0-310p-openeuler", "ascend", "310P"),
        ("swr.cn-south-1.myhuaweicloud.com/ascendhub/cann:8.0.0-910-ubuntu22.04", "ascend", "910A"),
        ("llamafactory:npu-a3-ubuntu", "ascend", "910C"),
        ("pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime", "cuda", ""),
        ("team/pytorch:nvcr-24.05", "cuda", ""),
        ("team/train-a3:latest", "other", ""),
        ("python:3.11", "other", ""),
    ],
)
def test_images(image: str, software: str, chip: str) -> None:
    assert (software_of(image), chip_of(image)) == (software, chip)


def _codes(project: Project, files: dict[str, str]) -> set[str]:
    answer = project.write({"train.py": _TRAIN, **files}).run("check", "--format", "json", "--no-cache")
    return {one["code"] for one in answer.findings if one["code"][4:6] in ("1K", "4K")}


_ON_NPU = f"docker run --ipc=host --device=/dev/davinci0 {_NODES} {_DRIVER} team/train:1 python train.py\n"
_ON_GPU = "docker run --ipc=host --gpus all team/train:1 python train.py\n"


@pytest.mark.parametrize(
    ("files", "codes"),
    [
        pytest.param({"start.sh": _ON_GPU}, {"NPU31K0"}, id="GPUs only"),
        pytest.param({"start.sh": _ON_GPU, "start_npu.sh": _ON_NPU}, set(), id="a script for each device"),
        pytest.param(
            {"start.sh": f"if [ $1 = gpu ]; then\n{_ON_GPU}else\n{_ON_NPU}fi\n"}, set(), id="a branch for each"
        ),
        pytest.param(
            {"cuda/start.sh": _ON_GPU, "npu/Dockerfile": "FROM quay.io/ascend/cann:8.5.0-910b-x\n"},
            set(),
            id="a folder",
        ),
    ],
)
def test_variants_for_gpus_beside_those_for_the_npu(project: Project, files: dict[str, str], codes: set[str]) -> None:
    assert _codes(project, files) == codes

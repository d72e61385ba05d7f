"""What a port of a PyTorch project leaves to a person: all that is still to be done, once, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.commands.port.model import PortPlan
from tests.port_support import planned, texts

STEP = """optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(model(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""
TRAIN = "import torch\n\nmodel = torch.nn.Linear(3, 3).cuda()\n" + STEP


def left(plan: PortPlan) -> dict[str, str]:
    """The files of what is left, by check."""
    return {one.finding.name: one.finding.path.rpartition("/")[2] for one in plan.left}


def statuses(plan: PortPlan) -> dict[str, str]:
    return {one.entry.rpartition("/")[2]: one.status for one in plan.programs}


def test_a_job_of_slurm_gets_a_copy_that_requests_npus_and_is_not_left(tmp_path: Path) -> None:
    job = "#!/bin/bash\n#SBATCH --gres=gpu:8\nexport CUDA_VISIBLE_DEVICES=0,1\nsrun --gres=gpu:8 python train.py\n"
    plan = planned(tmp_path, {"train.py": TRAIN, "job.sh": job})
    copy = texts(plan)["job_npu.sh"]
    assert "#SBATCH --gres=npu:8\n" in copy and "srun --gres=npu:8 python train.py\n" in copy
    assert "job.sh" not in left(plan).values() and "job_npu.sh" not in left(plan).values()


def test_a_job_of_slurm_without_a_script_is_left(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"train.py": TRAIN, "tools/slurm.sh": "srun -p $1 --gres=gpu:8 ${@:2}\n"})
    assert left(plan)["slurm-job-requests-gpus"] == "slurm.sh"


def test_no_toolkit_is_loaded_for_what_runs_in_a_container(tmp_path: Path) -> None:
    files = {"train.py": TRAIN, "run.sh": "docker run -it --gpus all --ipc=host team/train:1 python3 train.py\n"}
    plan = planned(tmp_path, files)
    assert {"run.sh", "run_npu.sh"}.isdisjoint(texts(plan))
    assert "run.sh" in left(plan).values()


def test_implementations_that_are_called_cuda_stay_and_so_do_their_kernels(tmp_path: Path) -> None:
    operator = """import torch
import plugins

_plugin = None


def _init():
    global _plugin
    if _plugin is None:
        _plugin = plugins.get("bias", sources=["bias.cpp", "bias.cu"])
    return True


def bias(x, b, impl="cuda"):
    assert impl in ["ref", "cuda"]
    if impl == "cuda" and x.device.type == "cuda" and _init():
        return _plugin.bias(x, b)
    return x + b
"""
    code = TRAIN.replace("import torch\n", "import torch\nfrom operator_bias import bias\n").replace(
        "model(x.cuda())", "bias(model(x.cuda()), 1)"
    )
    files = {"train.py": code, "operator_bias.py": operator, "plugins.py": "def get(name, sources):\n    pass\n"}
    plan = planned(tmp_path, files)
    assert "operator_bias.py" not in texts(plan)
    assert left(plan)["compared-with-cuda"] == "operator_bias.py"


def test_a_test_for_cudnn_stays_and_is_not_left(tmp_path: Path) -> None:
    operator = """import torch


def fast(x):
    if not torch.backends.cudnn.enabled:
        return False
    if x.device.type != "cuda":
        return False
    return True
"""
    code = TRAIN.replace("import torch\n", "import torch\nfrom fast import fast\n") + "    print(fast(x))\n"
    plan = planned(tmp_path, {"train.py": code, "fast.py": operator})
    assert "fast.py" not in texts(plan) and "compared-with-cuda" not in left(plan)


def test_what_a_function_of_the_device_gets_moves_with_it_in_a_file_that_knows_the_npu(tmp_path: Path) -> None:
    code = """import torch
import torch_npu


def report():
    if not torch.npu.is_available():
        return
    print(torch.cuda.get_device_properties(torch.device("cuda")).name)
"""
    train = "from report import report\n" + TRAIN.replace("import torch\n", "import torch\nimport torch_npu\n").replace(
        "cuda", "npu"
    )
    plan = planned(tmp_path, {"train.py": train + "report()\n", "report.py": code})
    assert 'torch.npu.get_device_properties(torch.device("npu"))' in texts(plan)["report.py"]


def test_the_backend_in_configurations_that_a_function_of_the_project_passes_on_is_ported(tmp_path: Path) -> None:
    config = """import yaml


class Config(dict):
    def __getattr__(self, name):
        return self[name]


def load(path):
    found = Config()
    with open(path) as file:
        for part in yaml.safe_load(file).values():
            found.update(part)
    return found
"""
    start = (
        "import argparse\nimport torch\nimport config\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--config")\nargs = config.load(parser.parse_args().config)\n'
        "torch.distributed.init_process_group(backend=args.dist_backend, rank=0, world_size=1)\n"
    )
    files = {
        "train.py": TRAIN.replace("import torch\n", start),
        "config.py": config,
        "config/a.yaml": "TRAIN:\n  lr: 0.1\n  dist_backend: 'nccl'\n",
        "config/b.yaml": "TRAIN:\n  dist_backend: nccl  # for GPUs\n",
    }
    found = texts(planned(tmp_path, files))
    assert found["a.yaml"] == "TRAIN:\n  lr: 0.1\n  dist_backend: 'hccl'\n"
    assert found["b.yaml"] == "TRAIN:\n  dist_backend: hccl  # for GPUs\n"


def test_a_training_on_the_device_of_its_rank_reaches_the_npu(tmp_path: Path) -> None:
    code = """import torch
import torch.distributed as dist

dist.init_process_group("nccl")
device = dist.get_rank() % torch.cuda.device_count()
torch.cuda.set_device(device)
model = torch.nn.Linear(3, 3).to(device)
""" + STEP.replace(".cuda()", ".to(device)")
    assert statuses(planned(tmp_path, {"train.py": code})) == {"train.py": "trains"}


def test_a_library_behind_an_option_is_left_and_the_training_is_ported(tmp_path: Path) -> None:
    code = TRAIN.replace(
        "import torch\n",
        "import argparse\nimport torch\n\nparser = argparse.ArgumentParser()\n"
        'parser.add_argument("--baidu", action="store_true")\nopt = parser.parse_args()\n'
        "if opt.baidu:\n    from warpctc_pytorch import CTCLoss\n\n    criterion = CTCLoss()\n",
    )
    plan = planned(tmp_path, {"train.py": code})
    assert left(plan)["gpu-library-on-demand"] == "train.py"
    assert statuses(plan) == {"train.py": "trains"}


def test_another_problem_of_the_same_topic_is_left_as_well(tmp_path: Path) -> None:
    code = """import torch
from apex import amp

model = torch.nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O2")
for x, y in loader:
    with amp.scale_loss(torch.nn.functional.mse_loss(model(x.cuda()), y.cuda()), optimizer) as loss:
        loss.backward()
    optimizer.step()
"""
    plan = planned(tmp_path, {"train.py": code, "Dockerfile": "FROM pytorch/pytorch:1.9.0-cuda11.1-cudnn8-devel\n"})
    assert left(plan)["apex-of-nvidia"] == "train.py"
    assert "Dockerfile" in left(plan).values()


def test_a_script_that_only_tries_a_module_is_not_called_ported(tmp_path: Path) -> None:
    net = (
        "import torch\nimport helper\n\n\nclass Net(torch.nn.Linear):\n    pass\n\n\n"
        'if __name__ == "__main__":\n    print(Net(3, 3).cuda()(torch.rand(2, 3).cuda()))\n'
    )
    helper = "import torch\n\n\ndef moved(x):\n    return x.cuda()\n"
    code = TRAIN.replace("import torch\n", "import torch\nimport net\nimport helper\n")
    plan = planned(tmp_path, {"train.py": code, "net.py": net, "helper.py": helper})
    assert statuses(plan) == {"train.py": "trains", "net.py": "other"}


@pytest.mark.parametrize("name", ["Dockerfile", "kernel.cu"])
def test_what_checks_judge_differently_before_and_after_is_told_once(tmp_path: Path, name: str) -> None:
    code = TRAIN.replace("import torch\n", "import torch\nfrom torch.utils.cpp_extension import load\n").replace(
        "model =", 'fast = load("fast", ["kernel.cu"])\nmodel ='
    )
    kernel = "#include <cuda_runtime.h>\n__global__ void add(float* x) { x[0] += 1; }\n"
    files = {
        "train.py": code,
        "kernel.cu": kernel,
        "Dockerfile": "FROM nvcr.io/nvidia/pytorch:21.08-py3\nRUN pip install x\n",
    }
    plan = planned(tmp_path, files)
    places = [(one.finding.path, one.finding.span.line) for one in plan.left if one.finding.path.endswith(name)]
    assert len(places) == len(set(places)) == 1


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        pytest.param(
            {"run.sh": 'export CUDA_VISIBLE_DEVICES=0\npython train.py\necho "end\n'},
            "the quote or bracket opened in line 3 is never closed",
            id="unparsed",
        ),
        pytest.param(
            {"run.sh": "export CUDA_VISIBLE_DEVICES=0\npython train.py\n", "run_npu.sh": "echo\n"},
            "a file with the new name already exists",
            id="exists",
        ),
    ],
)
def test_a_launcher_that_could_not_be_copied_is_left_with_the_reason(
    tmp_path: Path, files: dict[str, str], reason: str
) -> None:
    plan = planned(tmp_path, {"train.py": TRAIN, **files})
    reasons = {one.finding.name: one.reason for one in plan.left}
    assert reasons["gpu-launcher-to-migrate"] == reason

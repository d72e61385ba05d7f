"""Facts about the Python packages of a machine."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.facts.attributes import flag
from npulint.facts.model import Fact
from npulint.runs.read.machine.facts import MachinePackages
from npulint.runs.read.machine.places import Places
from npulint.runs.read.machine.snapshot import Snapshot
from npulint.runs.read.machine.toolkits import machines_devices

NONE = "-"
_OF_TOOLKIT = ("numpy", "decorator", "attrs", "psutil", "scipy", "pyyaml")
"""What the compiler of operators imports, by CANN's installation guide."""
_OF_CUDA = ("nvidia-cuda-runtime", "nvidia-cublas", "nvidia-cudnn", "nvidia-nccl")
_NEED_ATB = ("vllm-ascend", "mindspeed", "mindspeed-llm", "mindspeed-mm", "mindie-torch")


def packages(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    """The packages of the interpreter."""
    python = snapshot.python
    if python is None or python.packages is None:
        return
    has, environment = python.packages, snapshot.environment
    cuda = [name for name in has if name.startswith(_OF_CUDA)]
    lacking = [name for name in _OF_TOOLKIT if name not in has] if snapshot.toolkits else []
    yield MachinePackages(
        "python",
        places.path,
        places.at("python"),
        version=python.version or NONE,
        torch=has.get("torch", NONE),
        torch_npu=has.get("torch-npu", NONE),
        tensorflow=has.get("tensorflow", NONE),
        cuda=", ".join(cuda[:2]) or NONE,
        lacking=", ".join(lacking) or NONE,
        atb_user=next((name for name in _NEED_ATB if name in has), NONE),
        nnal_loaded=flag(None if environment is None else "ATB_HOME_PATH" in environment),
        nnal=next(iter(snapshot.nnal or ()), NONE),
        boards=machines_devices(snapshot),
    )

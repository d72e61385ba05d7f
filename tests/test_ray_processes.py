"""Which process runs the training steps of a program that starts actors and tasks of Ray."""

from __future__ import annotations

import pytest

from npulint.commands.build import assemble
from npulint.facts.model import FileFacts
from npulint.read.python import read_python

_HEAD = "import ray\nimport torch\nfrom torch_npu.contrib import transfer_to_npu\nimport work\n"
_STARTED = "def started():\n    pass\n\nif __name__ == '__main__':\n    started()\n"
_WORK = """import torch

def train(n=1):
    model = torch.nn.Linear(3, 3).cuda()
    model(torch.ones(3).cuda()).sum().backward()

class Base:
    def step(self):
        train()

class Worker(Base):
    pass
"""
_ACTOR = "actor = ray.remote(work.Worker).remote()\nray.get(actor.step.remote())\n"
_TRAINER = "from ray.train.torch import TorchTrainer\nTorchTrainer(work.train, scaling_config=None).fit()\n"
_OWN = (
    "@ray.remote\nclass Runner:\n    def run(self):\n        {}work.train()\n\nray.get(Runner.remote().run.remote())\n"
)
_HOOK = 'ray.init(runtime_env={"worker_process_setup_hook": work.patch})\n'

# what the entry script does, what stands before the code of the module -> its training runs in processes of Ray, with
# the names of CUDA redirected
_CASES: dict[str, tuple[str, str, bool, bool]] = {
    "in its own process": ("work.train()\n", "", False, True),
    "in an actor": (_ACTOR, "", True, False),
    "in a task": ("ray.get(ray.remote(work.train).remote())\n", "", True, False),
    "in workers of a trainer": (_TRAINER, "", True, False),
    "in an actor of the script": (_OWN.format(""), "", True, False),
    "in an actor that imports the adaptor": (_OWN.format("import torch_npu.contrib.transfer_to_npu; "), "", True, True),
    "in an actor whose module imports the adaptor": (
        _ACTOR,
        "from torch_npu.contrib import transfer_to_npu\n",
        True,
        True,
    ),
    "in an actor or in its own process": (f"{_ACTOR}work.train()\n", "", False, True),
    "in an actor after a function that may import it": (_HOOK + _ACTOR, "", False, True),
}


@pytest.mark.parametrize(("script", "before", "remote", "redirected"), _CASES.values(), ids=_CASES.keys())
def test_an_adaptor_counts_in_the_process_that_trains(script: str, before: str, remote: bool, redirected: bool) -> None:
    files = []
    for path, text in {"train.py": _HEAD + _STARTED + script, "work.py": before + _WORK}.items():
        code, problems = read_python(text, path)
        assert not problems
        files.append(FileFacts(path, "python", code))
    fact = next(program.fact for program in assemble("", files) if program.entry == "train.py")
    assert (fact.remote or (remote and redirected), fact.migration == "transfer") == (remote, redirected)

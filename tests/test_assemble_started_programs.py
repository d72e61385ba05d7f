"""Programs that installed commands start, and copies of training frameworks in a project."""

from __future__ import annotations

import textwrap

import pytest

from npulint.commands.build import assemble
from npulint.commands.check.temp_project import materialize
from npulint.read.files import load, read
from npulint.recognizers.programs import Program

WORKER = """\
    import torch

    class Worker:
        def update_actor(self, batch):
            loss = self.model(batch{place}).mean()
            loss.backward()
            self.optimizer.step()
"""
MAIN = """\
    import ray
    from verl.workers.worker import Worker

    def main():
        group = ray.remote(Worker).remote()
        group.update_actor(load())

    if __name__ == "__main__":
        main()
"""
LOOKED_UP = """\
    import torch
    import verl.workers.worker

    def main():
        workers = getattr(verl.workers.worker, kind)()
        getattr(workers, name)(load())

    if __name__ == "__main__":
        main()
"""
RUN = "python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo\n"


def programs(files: dict[str, str]) -> dict[str, Program]:
    with materialize({path: textwrap.dedent(text) for path, text in files.items()}) as (_, sources):
        return {one.entry: one for one in assemble(".", [read(load(source)) for source in sources])}


def copied(place: str) -> dict[str, Program]:
    worker = WORKER.format(place=place)
    return programs({"verl/trainer/main_ppo.py": MAIN, "verl/workers/worker.py": worker, "run.sh": RUN})


@pytest.mark.parametrize(
    ("place", "state"),
    [(".cuda()", "not_started"), (".npu()", "migrated")],
    ids=["for CUDA", "with NPU code"],
)
def test_a_copy_of_a_framework_is_as_ready_as_its_code(place: str, state: str) -> None:
    found = copied(place)
    assert (found["run.sh"].fact.state, found["verl/trainer/main_ppo.py"].fact.state) == (state, state)


def test_a_framework_that_is_installed_places_the_model() -> None:
    assert programs({"run.sh": RUN})["run.sh"].fact.state == "migrated"


def test_the_script_that_starts_the_trainings_of_a_copied_framework_trains() -> None:
    for path, started in (("verl/trainer/main_ppo.py", True), ("verl/trainer/main_eval_it.py", False)):
        found = programs({path: LOOKED_UP, "verl/workers/worker.py": WORKER.format(place="")})
        assert found[path].fact.trains is started


COMMANDS = """\
    import fire
    import torch

    def train(model, optimizer, loader):
        for x in loader:
            model(x.cuda()).sum().backward()
            optimizer.step()

    def convert(path):
        torch.load(path)

    def main():
        fire.Fire(train)

    def second():
        fire.Fire(convert)
"""


@pytest.mark.parametrize(
    ("commands", "trains", "surely"),
    [
        ({"tune": "main"}, True, True),
        ({"convert": "second"}, False, False),
        ({"tune": "main", "convert": "second"}, True, False),
    ],
    ids=["trains", "does not", "one of both"],
)
def test_an_installed_command_calls_its_function(commands: dict[str, str], trains: bool, surely: bool) -> None:
    scripts = "".join(f'{name} = "pkg.commands:{function}"\n' for name, function in commands.items())
    metadata = f'[project]\nname = "pkg"\n\n[project.scripts]\n{scripts}'
    files = {"pyproject.toml": metadata, "pkg/__init__.py": "", "pkg/commands.py": COMMANDS}
    program = programs({**files, "main.py": "import pkg.commands\n\nif __name__ == '__main__':\n    print()\n"})
    found = program["pkg/commands.py"]
    steps = found.index.of_kind("train_step")
    assert (found.fact.trains, [found.surely_runs(step) for step in steps]) == (trains, [surely])

"""Programs that train through a library: none of them may look as if it did not train."""

from __future__ import annotations

import pytest

from tests.support import programs


@pytest.mark.parametrize(
    "source",
    [
        "import lightning as L\nL.Trainer(max_epochs=1).fit(Net())",
        "import pytorch_lightning as pl\ntrainer = pl.Trainer()\ntrainer.fit(Net())",
        "from pytorch_lightning.trainer import Trainer\nTrainer.from_argparse_args(args, **more()).fit(Net())",
        "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Net, Data)",
        "import torch\nfrom megatron.training import pretrain\npretrain(data, model, kind, forward_step)",
        "from megatron.core.optimizer import get_megatron_optimizer\nget_megatron_optimizer(config, model).step()",
        "import torch\nfrom ray.train.torch import TorchTrainer\nTorchTrainer(work, scaling_config=many).fit()",
        "import torch\nfrom sentence_transformers import SentenceTransformer\nSentenceTransformer('m').fit(pairs)",
        "from sentence_transformers import SentenceTransformer\nSentenceTransformer('m').fit(pairs)",
        "from trl import SFTTrainer\nSFTTrainer(model='m', train_dataset=rows).train()",
        "from transformers import Trainer\nTrainer(model=net(), train_dataset=rows).train()",
        "from monai.engines import SupervisedTrainer\nSupervisedTrainer(max_epochs=1, optimizer=opt).run()",
        "from ignite.engine import create_supervised_trainer\ncreate_supervised_trainer(net, opt, loss).run(rows)",
        "from stable_baselines3 import PPO\nPPO('MlpPolicy', env).learn(1000)",
    ],
    ids=lambda source: source.splitlines()[-1],
)
def test_a_program_that_starts_a_trainer_trains(source: str) -> None:
    head, *rest = source.splitlines()
    body = "\n".join(f"    {line}" for line in rest)
    (found,) = programs({"run.py": f"{head}\n\ndef main():\n{body}\n\nif __name__ == '__main__':\n    main()\n"})
    assert (found.fact.framework, found.fact.trains) == ("torch", True)


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nfrom ignite.engine import Engine\nEngine(step).run(rows)",
        "import torch\nfrom ignite import engine\nengine.create_supervised_evaluator(net).run(rows)",
        "from monai.engines import SupervisedEvaluator\nSupervisedEvaluator(val_data_loader=rows).run()",
        "import ray\nray.tune.run(search)",
    ],
)
def test_what_only_evaluates_or_hands_its_own_function_on_does_not_train(source: str) -> None:
    found = programs({"run.py": f"{source}\n\nif __name__ == '__main__':\n    pass\n"})
    assert [(p.fact.trains, p.fact.framework == "tensorflow") for p in found] == [(False, False)]


def test_a_program_that_loads_a_model_of_such_a_library_does_not() -> None:
    source = (
        "import torch\nfrom sentence_transformers import SentenceTransformer\nSentenceTransformer('m').encode(['a'])\n"
    )
    (found,) = programs({"run.py": source})
    assert not found.fact.trains


def test_what_no_statement_imports_may_be_what_a_computed_name_loads() -> None:
    build = (
        "import importlib\nimport torch\n\n\ndef build(cfg):\n    net = importlib.import_module(cfg.net).Net()\n"
        "    optimizer = torch.optim.Adam(net.parameters())\n"
        "    return importlib.import_module(cfg.trainer).Trainer(net, optimizer)\n"
    )
    trainer = (
        "class Trainer:\n    def __init__(self, net, optimizer):\n        self.net, self.optimizer = net, optimizer\n\n"
        "    def update(self, data):\n        self.net(data).sum().backward()\n        self.optimizer.step()\n"
    )
    files = {
        "train.py": "from lib.build import build\n\nif __name__ == '__main__':\n    build(cfg).update(data)\n",
        "lib/build.py": build,
        "lib/trainers/plain.py": trainer,
        "other/left.py": "import torch\n",
    }
    first, *_ = programs(files)
    assert first.fact.trains
    assert first.paths == ["lib/build.py", "lib/trainers/plain.py", "train.py"]


def test_an_imported_script_that_hands_a_function_of_another_module_on_does_more_than_try_itself() -> None:
    files = {
        "train.py": "from megatron.training import inprocess_restart, pretrain\nfrom loop import pretrain\n\n\n"
        "def forward(data, model):\n    return model(data)\n\n\nif __name__ == '__main__':\n"
        "    pretrain, store = inprocess_restart.maybe_wrap(pretrain)\n    pretrain(forward, store=store)\n",
        "loop.py": "import torch\nfrom megatron.core.optimizer import get_megatron_optimizer\n\n\n"
        "def pretrain(forward, store=None):\n    get_megatron_optimizer(config, model).step()\n",
        "serve.py": "from train import forward\n\nif __name__ == '__main__':\n    print(forward(1, int))\n",
    }
    assert [(program.entry, program.fact.trains) for program in programs(files) if program.entry] == [
        ("serve.py", False),
        ("train.py", True),
    ]

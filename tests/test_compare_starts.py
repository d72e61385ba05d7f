"""Which starts and which programs of two projects are compared."""

from __future__ import annotations

from tests.compare_support import differences, short_differences

SCRIPT = """
import argparse
import torch
import torch_npu

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--arch", default="small")
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    net = torch.nn.Linear(3, 3)
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr)
    net(torch.ones(3)).sum().backward()
    optimizer.step()

if __name__ == "__main__":
    main()
"""
NPU = "export ASCEND_DEVICE_ID=0\npython3 train.py --lr 0.4 --arch big\n"


def test_a_new_launcher_for_a_full_training_is_compared_beside_the_old_ones() -> None:
    old = {"train.py": SCRIPT, "run.sh": "python train.py --arch small\n"}
    new = {**old, "test/train_full_1p.sh": NPU}
    assert short_differences(old, new) == [
        ("learning_rate", "changed", "--lr", "0.1", "0.4"),
        ("layer", "changed", "--arch", "small", "big"),
    ]


def test_a_data_set_that_only_one_start_names_is_no_difference() -> None:
    script = SCRIPT.replace('"--arch", default="small"', '"--dataset", default=None')
    launchers = {name: f"python3 train.py --lr 0.1 --dataset {name}\n" for name in ("imagenet", "cifar10")}
    first, second = ({"train.py": script, "run.sh": text} for text in launchers.values())
    assert short_differences({"train.py": script}, first) == []
    assert short_differences(first, second) == [("dataset", "changed", "--dataset", "imagenet", "cifar10")]


def test_a_new_launcher_is_set_against_the_old_one_that_passes_the_same() -> None:
    old = {"train.py": SCRIPT, "run.sh": "python train.py --lr 0.4 --arch big --seed 3\n"}
    new = {**old, "test/train_full_1p.sh": NPU.replace("big", "big --seed 5")}
    assert short_differences(old, new) == [("seed", "changed", "--seed", "3", "5")]


def test_launchers_that_were_carried_along_are_compared_too() -> None:
    old = {"train.py": SCRIPT, "run.sh": "python train.py --lr 0.2\n"}
    new = {
        "train.py": SCRIPT,
        "run.sh": "python train.py --lr 0.3\n",
        "test/train_full_1p.sh": NPU.replace("0.4", "0.1"),
    }
    assert ("learning_rate", "changed", "--lr", "0.2", "0.3") in short_differences(old, new)


def test_of_several_programs_the_most_alike_is_compared() -> None:
    model = (
        "import torch\nclass Net(torch.nn.Module):\n    def __init__(self):\n        self.fc = torch.nn.Linear(3, 3)\n"
    )
    body = (
        "import torch\nfrom {0} import Net\n\ndef main():\n    net = Net()\n    net(torch.ones(3)).sum().backward()\n"
    )
    body += "    torch.optim.SGD(net.parameters(), lr={1}).step()\n\nif __name__ == '__main__':\n    main()\n"
    more = (
        "import torch\nfor step in range({0}):\n    x = torch.ones(3, requires_grad=True)\n    x.sum().backward()\n" * 3
    )
    old = {"a_prune.py": more.format(9), "train_net.py": body.format("model", 0.1), "model.py": model}
    new = {"main.py": body.format("model", 0.2), "model.py": model}
    assert ("learning_rate", "changed", "SGD(lr)", "0.1", "0.2") in short_differences(old, new)


def test_of_programs_of_which_none_is_sure_to_train_the_started_one_is_compared() -> None:
    text = "from lib import go\n\nif __name__ == '__main__':\n    go({0})\n"
    lib = "import torch\nimport pytorch_lightning as pl\n\ndef go(rate):\n    torch.optim.SGD([], lr=rate)\n"
    old = {"lib.py": lib, "exp_a.py": text.format(1), "exp_train.py": text.format(1)}
    new = {
        "lib.py": lib,
        "exp_a.py": text.format(2),
        "exp_train.py": text.format(1),
        "train_full_1p.sh": "python3 exp_a.py\n",
    }
    assert [one.part for one in differences(old, new) if one.change == "changed"] == ["learning_rate"]

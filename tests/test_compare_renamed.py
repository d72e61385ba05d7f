"""Other names of variables are no difference, whatever holds the parsed options."""

from __future__ import annotations

import re

import pytest

from tests.compare_support import differences, told

_PARSED = """\
import argparse

import torch
from apex import amp


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opt_level", default="O0")
    parser.add_argument("--resume", default="")
    args = parser.parse_args()
    return args


def main():
    args = parse()
    torch.multiprocessing.spawn(worker, nprocs=8, args=(8, args))


def worker(rank, ranks, args):
    if args.resume and args.opt_level == "O2":
        args.opt_level = "O1"
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    amp.initialize(model, optimizer, opt_level=args.opt_level)
    loss.backward()
    optimizer.step()


if __name__ == "__main__":
    main()
"""
_FORMULA = """\
import torch

def build(cfg, rounds, batch, part):
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.rate * rounds)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=cfg.epoch * rounds, eta_min=batch[part, 0])
    loss.backward()
    optimizer.step()
"""


def _renamed(text: str, *names: str) -> str:
    for name in names:
        text = re.sub(rf"\b{name}\b(?!=\()", f"{name}_own", text)
    return text


def test_parsed_options_are_followed_into_functions_under_other_names() -> None:
    start = "python train.py --opt_level O2\n"
    migrated = {"train.py": _renamed(_PARSED, "args"), "run.sh": start}
    assert migrated["train.py"] != _PARSED
    assert told({"train.py": _PARSED, "run.sh": start}, migrated) == []
    other = {**migrated, "run.sh": start.replace("O2", "O3")}
    changed = [one for one in told({"train.py": _PARSED, "run.sh": start}, other) if one[3:] == ("O2", "O3")]
    assert changed


@pytest.mark.parametrize("names", [("cfg",), ("rounds", "batch"), ("cfg", "rounds", "batch", "part")])
def test_what_is_calculated_alike_from_other_names_is_no_difference(names: tuple[str, ...]) -> None:
    assert told(_FORMULA, _renamed(_FORMULA, *names)) == []


@pytest.mark.parametrize("old, new", [("cfg.epoch * rounds", "cfg.epoch * rounds + 5"), ("cfg.epoch", "cfg.warmup")])
def test_what_is_calculated_otherwise_is_told(old: str, new: str) -> None:
    found = differences(_FORMULA, _FORMULA.replace(old, new))
    assert [one.part for one in found if one.change == "changed"] == ["schedule"]

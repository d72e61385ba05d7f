"""The public programs of the table `tests/data/try_scripts.csv`."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import NamedTuple

TABLE = Path(__file__).parent.parent.parent / "tests" / "data" / "try_scripts.csv"
KINDS = "plain AMP DDP GAN RL Trainer Lightning accelerate detection diffusion timm tensorflow".split()
CODE = ("gpu", "npu", "any")


class Program(NamedTuple):
    """A line of the table: where the program is, how it is started, and what data it needs (kinds of made-up data with
    arguments, separated by semicolons). `checkout` is the part of the repository, `folder` the working folder in it.
    `code` says for which device it is written; `cpu` has the arguments of the run on the CPU, if they are others."""

    name: str
    kind: str
    repository: str
    commit: str
    checkout: str
    folder: str
    script: str
    arguments: str
    code: str
    options: str
    cpu: str
    data: str

    def words(self, on_cpu: bool) -> list[str]:
        """The arguments."""
        return shlex.split(self.cpu if on_cpu and self.cpu else self.arguments)

    def made_up(self) -> list[list[str]]:
        """The data as a kind with its arguments."""
        return [shlex.split(one) for one in self.data.split(";") if one.strip()]


def programs(path: Path = TABLE) -> list[Program]:
    """All programs of a table."""
    with path.open(newline="", encoding="utf-8") as file:
        return [Program(**line) for line in csv.DictReader(file)]

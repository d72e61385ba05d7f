"""What the files of a project are for that take no part in its training."""

from __future__ import annotations

from typing import Literal, get_args

Role = Literal[
    "test",
    "documentation",
    "ci",
    "benchmark",
    "demo",
    "serving",
    "evaluation",
    "export",
    "data",
    "gpu",
    "other_device",
    "mindspore",
    "unused",
]
"""What a file is for. ``evaluation``: a script of another framework than the training, or a project of its own in a
folder for evaluation; ``gpu``: for another accelerator (image, requirements, launcher, code in a folder of that name);
``other_device``: code for TPUs, or what serves on GPUs; ``mindspore``: code on top of MindSpore, whose ``torch`` is a
layer of MindSpore; ``unused``: code in any file that nothing in the project uses."""

ROLES: tuple[Role, ...] = get_args(Role)

"""Chooses the style of a port."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from npulint.commands.port.model import Style
from npulint.judge.findings import ProgramSummary

_MANY = 60  # files that name CUDA; to change so many by hand later costs more than redirecting the names
_PACKAGED = ("setup.py", "pyproject.toml", "setup.cfg")
_TESTED = (".github/workflows", ".gitlab-ci.yml", ".circleci", "Jenkinsfile", "azure-pipelines.yml", "tox.ini")


def chosen(given: str, folder: str, programs: Sequence[ProgramSummary], naming_cuda: Iterable[str]) -> Style:
    """The style for a project: what the user has `given` (empty: nothing), else the one that fits. `naming_cuda` are
    the files that name CUDA."""
    frameworks = {program.framework.partition(" ")[0] for program in programs}
    if "tensorflow" in frameworks and "torch" not in frameworks:
        return Style("adapter", "tensorflow")
    if given:
        return Style(given, "given")
    migrations = {program.migration for program in programs}
    if "transfer" in migrations:
        return Style("transfer", "has-transfer")
    if "manual" in migrations:
        return Style("npu", "has-names")
    if _is_there(folder, _PACKAGED) and _is_there(folder, _TESTED):
        return Style("agnostic", "library")
    count = len(set(naming_cuda))
    return Style("transfer", "many", count) if count > _MANY else Style("npu", "few", count)


def _is_there(folder: str, names: Sequence[str]) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in names)

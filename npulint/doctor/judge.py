"""Judges a snapshot with the checks of machines, environment variables and releases that belong together."""

from __future__ import annotations

import re
import shlex

import msgspec

from npulint.commands.check.project_results import Evaluator
from npulint.core.cache import open_cache
from npulint.data.environment import is_of_npu, variable
from npulint.data.version_matrix import packages_with_needs, releases_of
from npulint.discover.kinds import SourceFile
from npulint.judge.catalogue.check import MACHINE, Catalogue
from npulint.judge.findings import SEVERITIES, Finding
from npulint.judge.settings import Settings
from npulint.runs.read.machine.snapshot import Snapshot, encoded
from npulint.runs.read.machine.toolkits import active, for_npu

SNAPSHOT, VARIABLES, PACKAGES, PROGRAM = "machine.json", "environment.sh", "environment.yml", "train.py"
"""The files, never written, by which a machine is described to the checks."""
_KINDS = {SNAPSHOT: "artifact", VARIABLES: "shell", PACKAGES: "dependency", PROGRAM: "python"}
_PLACE = re.compile(rf" ?[(（](?:{re.escape(PACKAGES)}|{re.escape(VARIABLES)}):\d+[)）]")
_TOPICS = {VARIABLES: ("env_vars",), PACKAGES: ("dependency",)}
_START = f"python3 {PROGRAM}\n"
_TORCH = "import torch\nimport torch_npu\n"
_TENSORFLOW = "import tensorflow\nimport npu_device\n"
_NOT_OF_INSTALLED = (
    "no-wheel-for-aarch64",
    "no-wheel-for-aarch64-servers",
    "development-build-of-torch-npu",
    "toolkit-environment-not-sourced",
)
_SET_BY_SCRIPTS = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH")


def judge(snapshot: Snapshot, catalogue: Catalogue, lang: str) -> list[Finding]:
    """The findings about a machine, the most severe first."""
    target = {"cann": package.version} if (package := active(snapshot)) is not None and package.version else {}
    settings = Settings(target=target, cache=False, lang=lang)
    texts = files(snapshot)
    sources = [SourceFile(name, _KINDS[name], name, ".", len(text)) for name, text in texts.items()]
    data = {name: text.encode() for name, text in texts.items()}
    findings = Evaluator(catalogue, settings, open_cache(False)).project(".", sources, data).findings
    families = {check.code: check.family for check in catalogue.checks}
    own = [_without_places(finding) for finding in findings if _concerns(finding, families.get(finding.code, ""))]
    order = {SNAPSHOT: 0, PACKAGES: 1, VARIABLES: 2}
    return sorted(
        own, key=lambda finding: (-SEVERITIES.index(finding.severity), order[finding.path], finding.code, finding.span)
    )


def _without_places(finding: Finding) -> Finding:
    """The finding without lines of files that exist only for the checks."""
    fix = msgspec.structs.replace(finding.fix, text=_PLACE.sub("", finding.fix.text))
    return msgspec.structs.replace(finding, message=_PLACE.sub("", finding.message), fix=fix)


def _concerns(finding: Finding, family: str) -> bool:
    if finding.path == SNAPSHOT:
        return family == MACHINE
    return finding.topic in _TOPICS.get(finding.path, ()) and finding.name not in _NOT_OF_INSTALLED


def files(snapshot: Snapshot) -> dict[str, str]:
    """What a machine has, as the files in which projects describe it: the snapshot, a script that sets its variables
    and starts a program, and an environment with the packages whose releases must fit."""
    texts = {SNAPSHOT: encoded(snapshot)}
    python = snapshot.python
    packages = (python.packages if python is not None else None) or {}
    ours = _variables(snapshot)
    if ours and for_npu(snapshot):
        texts[VARIABLES] = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in ours.items()) + _START
        texts[PROGRAM] = _TENSORFLOW if "tensorflow" in packages and "torch" not in packages else _TORCH
    needed = {name for package in packages_with_needs() for needs in releases_of(package).values() for name in needs}
    pinned = {name: text for name, text in packages.items() if name in needed or name in packages_with_needs()}
    if python is not None and pinned:
        lines = [f"    - {name}=={text.partition('+')[0]}\n" for name, text in pinned.items()]
        texts[PACKAGES] = f"dependencies:\n  - python={python.version}\n  - pip:\n" + "".join(lines)
    return texts


def _variables(snapshot: Snapshot) -> dict[str, str]:
    """The variables of the NPU stack, without those that set_env.sh sets."""
    environment = snapshot.environment or {}
    ours = (name for name in environment if variable(name) or is_of_npu(name))
    return {name: environment[name] for name in ours if name not in _SET_BY_SCRIPTS}

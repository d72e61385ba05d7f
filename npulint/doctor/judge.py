"""Judges a snapshot with the checks of machines, environment variables and releases that belong together."""

from __future__ import annotations

import shlex

from npulint.cache import open_cache
from npulint.catalogue.check import MACHINE, Catalogue
from npulint.data.environment import is_of_npu, variable
from npulint.data.version_matrix import packages_with_needs, releases_of
from npulint.discover.kinds import SourceFile
from npulint.findings import SEVERITIES, Finding
from npulint.project_runner import Evaluator
from npulint.read.artifacts.machine.snapshot import Snapshot, encoded
from npulint.read.artifacts.machine.toolkits import active, for_npu
from npulint.settings import Settings

SNAPSHOT, VARIABLES, PACKAGES = "machine.json", "environment.sh", "environment.yml"
"""The files, never written, by which a machine is described to the checks."""
_KINDS = {SNAPSHOT: "artifact", VARIABLES: "shell", PACKAGES: "dependency"}
_TOPICS = {VARIABLES: ("env_vars",), PACKAGES: ("dependency",)}
_NOT_OF_INSTALLED = ("no-wheel-for-aarch64", "no-wheel-for-aarch64-servers", "development-build-of-torch-npu")
_SET_BY_SCRIPTS = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH")


def judge(snapshot: Snapshot, catalogue: Catalogue, lang: str) -> list[Finding]:
    """The findings about a machine, the most severe first."""
    target = {"cann": one.version} if (one := active(snapshot)) is not None and one.version else {}
    settings = Settings(target=target, cache=False, lang=lang)
    texts = files(snapshot)
    sources = [SourceFile(name, _KINDS[name], name, ".", len(text)) for name, text in texts.items()]
    data = {name: text.encode() for name, text in texts.items()}
    found = Evaluator(catalogue, settings, open_cache(False)).project(".", sources, data).findings
    families = {check.code: check.family for check in catalogue.checks}
    own = [one for one in found if _concerns(one, families.get(one.code, ""))]
    order = {SNAPSHOT: 0, PACKAGES: 1, VARIABLES: 2}
    return sorted(own, key=lambda one: (-SEVERITIES.index(one.severity), order[one.path], one.code, one.span))


def _concerns(finding: Finding, family: str) -> bool:
    if finding.path == SNAPSHOT:
        return family == MACHINE
    return finding.topic in _TOPICS[finding.path] and finding.name not in _NOT_OF_INSTALLED


def files(snapshot: Snapshot) -> dict[str, str]:
    """What a machine has, as the files in which projects describe it: the snapshot, a script that sets its variables,
    and an environment with the packages whose releases must fit."""
    found = {SNAPSHOT: encoded(snapshot)}
    variables = [name for name in snapshot.environment or () if name not in _SET_BY_SCRIPTS]
    ours = [name for name in variables if variable(name) or is_of_npu(name)]
    if ours and for_npu(snapshot):
        lines = [f"export {name}={shlex.quote((snapshot.environment or {})[name])}\n" for name in ours]
        found[VARIABLES] = "".join(lines)
    python = snapshot.python
    known = {name for package in packages_with_needs() for needs in releases_of(package).values() for name in needs}
    known |= set(packages_with_needs())
    packages = (python.packages if python is not None else None) or {}
    pinned = {name: text for name, text in packages.items() if name in known}
    if python is not None and pinned:
        lines = [f"    - {name}=={text.partition('+')[0]}\n" for name, text in pinned.items()]
        head = f"dependencies:\n  - python={python.version}\n  - pip:\n"
        found[PACKAGES] = head + "".join(lines)
    return found

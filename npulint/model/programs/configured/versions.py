"""The releases of packages that a project requires."""

from __future__ import annotations

from npulint.model.programs.configured.arguments import Versions
from npulint.model.values.context import Context, once
from npulint.read.packages import Dependency


@once
def required_versions(context: Context) -> Versions:
    """The version specifier of each package that the project requires; the first in the order of its files."""
    versions: dict[str, str] = {}
    for file in context.project.files:
        for fact in file.facts:
            if isinstance(fact, Dependency) and not versions.get(fact.name):
                versions[fact.name] = fact.version
    return versions

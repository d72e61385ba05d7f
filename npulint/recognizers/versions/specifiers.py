"""Version specifiers of pip and conda."""

from __future__ import annotations

import re

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from npulint.data.version_matrix import exact, known_releases

_PYTHONS = tuple(f"3.{number}" for number in range(6, 16))


def meet(text: str, specifier: SpecifierSet, package: str) -> bool:
    """Whether some release of a package fulfils both specifiers."""
    needed = specifier_of(text, package)
    if needed is None:
        return True
    pinned = [exact(wanted) for wanted in (needed, specifier)]
    releases = (*(_PYTHONS if package == "python" else known_releases(package)), *filter(None, pinned))
    return any(
        needed.contains(release, prereleases=True) and specifier.contains(release, prereleases=True)
        for release in releases
    )


def specifier_of(text: str, package: str) -> SpecifierSet | None:
    """A specifier of pip or conda; None if it is not understood."""
    written = re.sub(r"^=*(?=\d)", "==", text.replace("===", "=="))
    if package == "python":  # patch releases do not matter
        written = re.sub(r"(==|~=)(3\.\d+)(?:\.[\d*]+)?", r"==\2", written)
    try:
        return SpecifierSet(re.sub(r"(?i)(rc\d+)\.(\d+)", r"\1.post\2", written))
    except InvalidSpecifier:
        return None

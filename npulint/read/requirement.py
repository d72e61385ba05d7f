"""Names and versions of packages, as pip and conda spell them."""

from __future__ import annotations

import re

from npulint.later import regex

_REQUIREMENT = regex(
    r"(?P<name>[A-Za-z0-9][\w.-]*)[ \t]*(?:\[[^\]]*\])?[ \t]*"
    r"(?:@[ \t]*(?P<url>\S+)|\(?(?P<version>(?:[<>=!~]=?=?[ \t]*[\w.*+!-]+[ \t,]*)*)\)?)[ \t]*(?:[;#].*)?(?:--hash.*)?$"
)
_EGG = regex(r"#(?:.*&)?egg=([\w.-]+)")
_CONDA = regex(r"(?:[\w-]+::)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?P<version>[<>=!~][^#\s]*)?")


def canonical(name: str) -> str:
    """The name as package indexes compare it: lower case, ``-`` for runs of ``-_.``."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(text: str) -> tuple[str, str] | None:
    """Canonical name and version specifier of one requirement (``torch>=1.8,<2 ; python_version>'3'``),
    or None when it names no package. The specifier has no blanks and is empty when none is given."""
    text = text.strip()
    if len(text) > 500:
        return None
    match = _REQUIREMENT.match(text)
    if match:
        return canonical(match.group("name")), re.sub(r"\s+", "", match.group("version") or "").strip(",")
    egg = _EGG.search(text)
    return (canonical(egg.group(1)), "") if egg else None


def conda_requirement(text: str) -> tuple[str, str] | None:
    """The same for a conda specification (``tensorflow=1.15=py37_0``); its build text is dropped."""
    match = _CONDA.match(text.strip()[:500])
    if match is None:
        return None
    version = match.group("version") or ""
    if re.fullmatch(r"=[^=]+=[^=]+", version):
        version = version.rsplit("=", 1)[0]
    return canonical(match.group("name")), version

"""Package names and versions in the notations of pip and conda."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile

_REQUIREMENT = lazy_compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*)[ \t]*(?:\[[^\]]*\])?[ \t]*"
    r"(?:@[ \t]*(?P<url>\S+)|\(?(?P<version>(?:[<>=!~]=?=?[ \t]*[\w.*+!-]+[ \t,]*)*)\)?)[ \t]*(?:[;#].*)?(?:--hash.*)?$"
)
_EGG = lazy_compile(r"#(?:.*&)?egg=([\w.-]+)")
_CONDA = lazy_compile(r"(?:[\w-]+::)?(?P<name>[A-Za-z_][\w.-]*)[ \t]*(?P<version>[<>=!~][^#\s]*)?")


_CUDA_INDEX = lazy_compile(r"https?://[^\s'\"#]*?/cu(\d{2,3})(?![\w.])[^\s'\"#]*")
_RELEASE = lazy_compile(r"={1,3}v?(\d+)\.(\d+)(?![\d*])")


def cuda_index(text: str) -> tuple[str, str, int] | None:
    """(URL, CUDA release as written, offset) of an index of CUDA builds (``…/whl/cu118``) in `text`, or None."""
    match = _CUDA_INDEX.search(text)
    return (match.group(), match.group(1), match.start()) if match else None


def is_wheel(url: str) -> bool:
    """Whether a URL is that of a single package."""
    return ".whl" in url


def release(version: str) -> tuple[int, int] | None:
    """Major and minor number of an exact version specifier (``==2.1.0``), else None."""
    match = _RELEASE.match(version)
    return (int(match.group(1)), int(match.group(2))) if match else None


_CLAUSE = lazy_compile(r"(===?|~=|<=|<)v?(\d+(?:\.\d+)*)(\.\*)?")


def excludes_from(version: str, since: str) -> bool:
    """Whether a version specifier (``>=0.20,<0.22``) allows no release from `since` (``0.22.0``) on."""
    first = _numbers(since)
    return any(_ends_before(match[1], match[2], bool(match[3]), first) for match in _CLAUSE.finditer(version))


def _ends_before(operator: str, release: str, wildcard: bool, first: tuple[int, ...]) -> bool:
    """Whether a clause of a specifier allows no release from `first` on."""
    bound = _numbers(release)
    if operator == "<":
        return bound <= first
    if operator == "~=":  # up to the next release of the last part but one
        kept = [int(part) for part in release.split(".")[:-1]]
        return bool(kept) and (*kept[:-1], kept[-1] + 1) <= first
    return bound < first[: len(bound)] if wildcard else bound < first


def _numbers(version: str) -> tuple[int, ...]:
    """The parts of a release without zeros at its end, which do not tell releases apart."""
    parts = [int(part) for part in version.split(".")]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return tuple(parts)


def build(version: str) -> str:
    """The local version label (``cu111`` of ``==1.8.0+cu111``), empty if there is none."""
    return version.partition("+")[2].partition(",")[0]


def canonical(name: str) -> str:
    """The normalised name: lower case, ``-`` for runs of ``-_.``."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirement(text: str) -> tuple[str, str] | None:
    """Canonical name and version specifier of one requirement (``torch>=1.8,<2 ; python_version>'3'``), or None if it
    names no package. The specifier has no blanks; it may be empty."""
    text = text.strip()
    if len(text) > 500:
        return None
    match = _REQUIREMENT.match(text)
    if match:
        return canonical(match.group("name")), re.sub(r"\s+", "", match.group("version") or "").strip(",")
    egg = _EGG.search(text)
    return (canonical(egg.group(1)), "") if egg else None


def conda_requirement(text: str) -> tuple[str, str] | None:
    """As `requirement`, for a conda specification (``tensorflow=1.15=py37_0``) without its build string."""
    match = _CONDA.match(text.strip()[:500])
    if match is None:
        return None
    version = match.group("version") or ""
    if re.fullmatch(r"=[^=]+=[^=]+", version):
        version = version.rsplit("=", 1)[0]
    return canonical(match.group("name")), version

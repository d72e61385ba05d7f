"""What CI and hooks must install to get the npulint that is running."""

from __future__ import annotations

import re

from npulint import __version__

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_ADDRESS = re.compile(r"(?:https://|ssh://git@)[^\s\"'\\@]+")  # no names of users and no tokens


PLACEHOLDER = f"npulint @ git+https://HOST/OWNER/npulint@v{__version__}"
"""What is to be filled in where nobody knows where others get this copy. Its name alone could install another package
that an index has under the name."""
_ADVICE = (
    "# write the address of npulint's repository here,",
    f"# or npulint=={__version__} if your package index has it",
)


def pinned(text: str, needed: str) -> str:
    """The text of a template that installs `needed`; with a comment above where an address is to be filled in."""
    written = f"npulint=={__version__}"
    lines = []
    for line in text.split("\n"):
        if written in line and needed == PLACEHOLDER:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + advice for advice in _ADVICE]
        lines.append(line.replace(written, needed))
    return "\n".join(lines)


def requirement() -> str:
    """A requirement for pip, as PEP 610 records where the installed copy came from: the release of an index, the commit
    of a repository, or the repository of the folder that it was installed from; else the `PLACEHOLDER`."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = distribution("npulint").read_text("direct_url.json")
    except PackageNotFoundError:
        return PLACEHOLDER
    return from_origin(origin)


def from_origin(origin: str | None) -> str:
    """The requirement for the text of ``direct_url.json``, which copies from an index do not have."""
    if origin is None:
        return f"npulint=={__version__}"
    import json

    try:
        record = json.loads(origin)
        address = record["url"]
    except (ValueError, KeyError, TypeError):
        return PLACEHOLDER
    if not isinstance(address, str):
        return PLACEHOLDER
    if address.startswith("file:"):
        return _of_folder(address) if "dir_info" in record else PLACEHOLDER
    if not _ADDRESS.fullmatch(address):
        return PLACEHOLDER
    if "archive_info" in record:
        return f"npulint @ {address}"
    version_control = record.get("vcs_info")
    commit = version_control.get("commit_id") if isinstance(version_control, dict) else None
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        return PLACEHOLDER
    return f"npulint @ git+{address}@{commit}"


def _of_folder(address: str) -> str:
    """The requirement for a copy that was installed from a folder: the repository that the folder was cloned from, at
    the commit there if a remote branch is at it, since nobody else has others."""
    from urllib.parse import unquote, urlsplit

    from npulint.discover.repository import repository_around

    cloned = repository_around(unquote(urlsplit(address).path))
    if cloned is None or not cloned.url or not _ADDRESS.fullmatch(cloned.url):
        return PLACEHOLDER
    return f"npulint @ git+{cloned.url}" + (f"@{cloned.commit}" if cloned.published else "")

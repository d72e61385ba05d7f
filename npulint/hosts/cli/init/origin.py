"""What CI and hooks must install to get the npulint that is running."""

from __future__ import annotations

import re

from npulint import __version__

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_ADDRESS = re.compile(r"(?:https://|ssh://git@)[^\s\"'\\@]+")  # no names of users and no tokens


_UNPINNED = "npulint"
_ADVICE = (
    "# your package index may not have npulint: then install it from its repository,",
    f"# npulint @ git+https://HOST/OWNER/npulint@v{__version__}",
)


def pinned(text: str, needed: str) -> str:
    """The text of a template that installs `needed`; with a comment above where that is the name alone, which only an
    index that has npulint can answer."""
    written = f"npulint=={__version__}"
    lines = []
    for line in text.split("\n"):
        if written in line and needed == _UNPINNED:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + advice for advice in _ADVICE]
        lines.append(line.replace(written, needed))
    return "\n".join(lines)


def requirement() -> str:
    """A requirement for pip, as PEP 610 records where the installed copy came from: the release of an index, or the
    commit of a repository. Without a version for a copy that was installed from a folder, which others cannot have."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = distribution("npulint").read_text("direct_url.json")
    except PackageNotFoundError:
        return _UNPINNED
    return from_origin(origin)


def from_origin(origin: str | None) -> str:
    """The requirement for the text of ``direct_url.json``, which copies from an index do not have."""
    if origin is None:
        return f"npulint=={__version__}"
    import json

    try:
        record = json.loads(origin)
        address, commit = record["url"], record["vcs_info"]["commit_id"]
    except (ValueError, KeyError, TypeError):
        return _UNPINNED
    both_texts = isinstance(address, str) and isinstance(commit, str)
    if not both_texts or not _ADDRESS.fullmatch(address) or not _COMMIT.fullmatch(commit):
        return _UNPINNED
    return f"npulint @ git+{address}@{commit}"

"""Git addresses in lists of projects: which are taken, and how they are shown."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile

PROTOCOLS = ("https", "ssh", "git", "http", "file")
"""The protocols that git may use for a survey; ``ext`` would run a command."""

_URL = lazy_compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)", re.DOTALL)
_SCP = lazy_compile(r"[A-Za-z0-9_][\w.-]*@([^/:@]+):(?!:)(.+)", re.DOTALL)  # git@host:path
_HELPER = lazy_compile(r"[A-Za-z0-9+.-]+::.*", re.DOTALL)
_HOSTILE = lazy_compile(r"[\x00-\x1f\x7f]")


def is_address(text: str) -> bool:
    """Whether an entry of a list is an address, taken or not."""
    return any(form.fullmatch(text) for form in (_URL, _SCP, _HELPER))


def is_taken(address: str) -> bool:
    """Whether git may be given an address: one of the `PROTOCOLS`, and nothing that could be taken for an option."""
    if _HOSTILE.search(address):
        return False
    url, scp = _URL.fullmatch(address), _SCP.fullmatch(address)
    if url:
        host = url[2].partition("/")[0].rpartition("@")[2]
        return url[1].lower() in PROTOCOLS and not host.startswith("-") and not url[2].startswith("-")
    return scp is not None and not scp[1].startswith("-") and not scp[2].startswith("-")


def without_credentials(address: str) -> str:
    """An address without a user and password."""
    url = _URL.fullmatch(address)
    if not url:
        return address
    host, slash, path = url[2].partition("/")
    return f"{url[1]}://{host.rpartition('@')[2]}{slash}{path}"

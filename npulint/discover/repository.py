"""What the files of a git repository say about it: its commit and its home on the web. No git is run."""

from __future__ import annotations

import os
import re

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.links import below, repository
from npulint.discover.safe_open import read_regular

_LIMIT = 4 * 1024 * 1024  # bytes of packed references
_BRANCHES = 1000  # of a folder of references that are read
_COMMIT = lazy_compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REFERENCE = lazy_compile(r"refs/[\w./@+-]+\Z")
_SECTION = lazy_compile(r"[ \t]*\[[ \t]*(?:remote[ \t]+\"(?P<remote>[^\"]*)\"|[^]]*)[ \t]*\]", re.MULTILINE)
_URL = lazy_compile(r"^[ \t]*url[ \t]*=[ \t]*(\S+)[ \t]*$", re.MULTILINE)
_REMOTE = lazy_compile(
    r"(?:(?:https?|ssh|git)://)?(?:[^@/\s]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+)(?::[0-9]+)?[:/](?P<path>[\w.~/-]+?)(?:\.git)?/?\Z"
)
_SERVERS = (("gitlab", "/-/blob/"), ("github", "/blob/"), ("gitee", "/blob/"), ("gitcode", "/blob/"))
"""Parts of the names of hosts, and what is between a repository and a commit in the URL of a file there."""


class Repository(msgspec.Struct, frozen=True):
    """A git repository: its folder, the commit that is checked out, and its URL on the web without user and password;
    empty where unknown. `published`: a branch of a remote is at the commit."""

    folder: str
    commit: str = ""
    url: str = ""
    published: bool = False

    @property
    def name(self) -> str:
        """The name of the project: that of the repository on the web, or of its folder."""
        return self.url.rpartition("/")[2] or os.path.basename(self.folder)

    def file_url(self, folder: str) -> str:
        """The URL of files below `folder`, with ``{path}`` and ``{line}`` left open; empty where unknown."""
        between = next((part for name, part in _SERVERS if name in self.url.partition("://")[2].partition("/")[0]), "")
        place = os.path.relpath(os.path.realpath(folder), self.folder).replace(os.sep, "/")
        if not between or not self.commit or place == ".." or place.startswith("../"):
            return ""
        return f"{self.url}{between}{self.commit}/{'' if place == '.' else f'{place}/'}{{path}}#L{{line}}"


def repository_around(folder: str) -> Repository | None:
    """The repository that a folder is in; None if it is in none. Only its folder where git's own is elsewhere."""
    root = repository(folder)
    if not root:
        return None
    own = _own_folder(root)
    if not below(own, root):  # of a worktree or submodule; whoever wrote the repository may name any folder
        return Repository(root)
    shared = os.path.join(own, _text(os.path.join(own, "commondir")).strip() or ".")  # of all worktrees
    if not below(shared, root):
        return Repository(root)
    commit = _commit(own, shared)
    url = web_url(_origin(_text(os.path.join(shared, "config"))))
    return Repository(root, commit, url, bool(commit) and commit in _remote_commits(shared))


def _own_folder(root: str) -> str:
    """The folder of git; in a worktree or submodule, ``.git`` is a file that names it."""
    place = os.path.join(root, ".git")
    named = _text(place) if os.path.isfile(place) else ""
    return os.path.join(root, named.removeprefix("gitdir:").strip()) if named.startswith("gitdir:") else place


def _commit(own: str, shared: str) -> str:
    head = _text(os.path.join(own, "HEAD")).strip()
    name = head.removeprefix("ref:").strip()
    if name == head:
        return head if _COMMIT.match(head) else ""
    if not _REFERENCE.match(name) or ".." in name:
        return ""
    for folder in (own, shared):
        commit = _text(os.path.join(folder, name)).strip()
        if _COMMIT.match(commit):
            return commit
    for line in _text(os.path.join(shared, "packed-refs")).splitlines():
        commit, _, of = line.partition(" ")
        if of == name and _COMMIT.match(commit):
            return commit
    return ""


def _remote_commits(shared: str) -> set[str]:
    """The commits that the branches of remotes were at when they were last fetched."""
    packed = (line.partition(" ") for line in _text(os.path.join(shared, "packed-refs")).splitlines())
    commits = {commit for commit, _, name in packed if name.startswith("refs/remotes/")}
    for folder, _, names in os.walk(os.path.join(shared, "refs", "remotes")):
        commits.update(_text(os.path.join(folder, name)).strip() for name in names[:_BRANCHES])
    return commits


def _origin(config: str) -> str:
    """The URL of the remote named origin, or of the only one, in a configuration file of git."""
    urls: dict[str, str] = {}
    parts = [*_SECTION.finditer(config)]
    for number, part in enumerate(parts):
        end = parts[number + 1].start() if number + 1 < len(parts) else len(config)
        url = _URL.search(config, part.end(), end)
        if part["remote"] and url:
            urls.setdefault(part["remote"], url[1])
    return urls.get("origin") or (next(iter(urls.values())) if len(urls) == 1 else "")


def web_url(remote: str) -> str:
    """The address on the web of a remote: ``https://host/owner/name``, without user and password."""
    match = _REMOTE.match(remote)
    if match is None or "/" not in match["path"].strip("/") or ".." in match["path"]:
        return ""
    return f"https://{match['host']}/{match['path'].strip('/')}"


def _text(location: str) -> str:
    if os.path.islink(location):
        return ""
    try:
        return read_regular(location, _LIMIT).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""

"""Finds the projects of a survey: in a folder, or in a list of folders and git addresses."""

from __future__ import annotations

import csv
import glob
import io
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from npulint.core.digest import blake2b
from npulint.core.errors import NpulintError
from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import say
from npulint.discover.files import EXCLUDED, DiscoverOptions, discover
from npulint.discover.paths import shown
from npulint.discover.projects import group
from npulint.discover.safe_open import read_regular
from npulint.report.terminal import leading
from npulint.survey.model import Job

# Patterns that leave folders out of a project.

_SPECIAL = "\\*?[]!# "


def exclusion(folder: str, base: str) -> str:
    """The pattern in .gitignore syntax, relative to `base`, that excludes one folder whatever its name."""
    path = os.path.relpath(folder, base).replace(os.sep, "/")
    return "/" + "".join(f"\\{char}" if char in _SPECIAL else char for char in path)


# Git addresses in lists of projects: which are taken, and how they are shown.

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


_LIST_LIMIT = 50_000_000  # bytes
_PLAIN = lazy_compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_STEM = 60  # characters of a name in a file name
_UNSAFE = lazy_compile(r"[^A-Za-z0-9._-]+")
_PLACES = ("path", "address")
"""Columns of a list with the project, by preference."""
_NO_CODE = ("data", "artifact")


class Listed(msgspec.Struct, frozen=True):
    """A project as it was named: a folder, or a git address; `exclude` as in `Job`."""

    place: str
    name: str
    exclude: tuple[str, ...] = ()

    @property
    def is_address(self) -> bool:
        """Whether it must be cloned first."""
        return is_address(self.place)


def listed(path: str, out: str, lang: str) -> list[Listed]:
    """The projects of a folder or list, without the folder `out`. Raises `NpulintError`."""
    listeds = list(_in_folder(path, out)) if os.path.isdir(path) else _in_list(path, lang)
    unique = {
        project.place if project.is_address else os.path.realpath(project.place): project
        for project in reversed(listeds)
    }
    return sorted(unique.values(), key=lambda project: (project.name.casefold(), project.name, project.place))


def jobs(projects: Sequence[Listed]) -> list[Job]:
    """The jobs of projects, each with a name and a file name of its own. Those of git addresses have no folder yet."""
    names = _unique([shown(project.name) for project in projects])
    return [
        Job(
            name,
            identity,
            without_credentials(project.place) if project.is_address else shown(os.path.abspath(project.place)),
            "" if project.is_address else os.path.abspath(project.place),
            project.exclude,
        )
        for project, name, identity in zip(projects, names, _identities(names), strict=True)
    ]


def _unique(names: Sequence[str]) -> list[str]:
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def _identities(names: Sequence[str]) -> list[str]:
    """File names of projects: their own where they can be and differ in more than case."""
    same = Counter(name.casefold() for name in names)
    return [name if _PLAIN.fullmatch(name) and same[name.casefold()] == 1 else _stem(name) for name in names]


def _stem(name: str) -> str:
    readable = _UNSAFE.sub("-", name)[-_STEM:].strip(".-") or "project"
    return f"{readable}-{blake2b(name.encode(), digest_size=6).hexdigest()}"


def _in_folder(folder: str, out: str) -> Iterator[Listed]:
    """Every git repository below a folder, and what `npulint check` takes for a project outside of them; where nothing
    marks one, each sub-folder with code. In a folder that is a repository itself, such as a model zoo, the same."""
    top, results = os.path.abspath(folder), os.path.abspath(out)
    repositories = set(_repositories(top, results))
    paths = set(repositories)
    for sub_folder in _sub_folders(top, results):
        if sub_folder not in repositories:
            paths |= _roots(
                sub_folder, [path for path in (*repositories, results) if path.startswith(sub_folder + os.sep)]
            )
    for path in sorted(paths):
        nested = tuple(sorted(other for other in (*paths, results) if other.startswith(path + os.sep)))
        yield Listed(path, os.path.relpath(path, top).replace(os.sep, "/"), nested)
    if not paths and discover([top]).files:
        yield Listed(top, os.path.basename(top))


def _sub_folders(folder: str, out: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return
    yield from (os.path.join(folder, name) for name in names if name not in EXCLUDED and folder + os.sep + name != out)


def _repositories(folder: str, out: str) -> Iterator[str]:
    """The outermost git repositories below a folder."""
    waiting = list(_sub_folders(folder, out))
    while waiting:
        path = waiting.pop()
        if os.path.lexists(os.path.join(path, ".git")):
            yield path
        else:
            waiting += _sub_folders(path, out)


def _roots(folder: str, without: Sequence[str]) -> set[str]:
    """The projects in a folder, without some folders in it."""
    options = DiscoverOptions(extend_exclude=tuple(exclusion(path, folder) for path in without), base=folder)
    roots = set()
    for root, files in group(discover([folder], options).files).items():
        if any(file.kind not in _NO_CODE for file in files):
            path = os.path.abspath(root)
            roots.add(path if path.startswith(folder + os.sep) else folder)
    return roots


def _in_list(path: str, lang: str) -> list[Listed]:
    try:
        data = read_regular(path, _LIST_LIMIT)
    except OSError as error:
        values = {"path": leading(path), "detail": error.strerror or type(error).__name__}
        raise NpulintError(say(lang, "survey.list.unreadable", **values)) from None
    text = data.decode("utf-8-sig", "surrogateescape")
    rows = _table(text, path, lang) if path.lower().endswith(".csv") else _lines(text)
    here = os.path.dirname(os.path.abspath(path))
    return _shortened([project for place, name in rows for project in _of_place(place, name, here)])


def _shortened(listeds: Sequence[Listed]) -> list[Listed]:
    """The projects without what the names of absolute paths have in common."""
    above = [os.path.dirname(project.name) for project in listeds if os.path.isabs(project.name)]
    shared = os.path.commonpath(above) if above else ""
    return [
        Listed(project.place, os.path.relpath(project.name, shared)) if os.path.isabs(project.name) else project
        for project in listeds
    ]


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The places in a text, one in a line; lines that begin with ``#`` are comments."""
    for line in text.splitlines():
        place = line.strip()
        if place and not place.startswith("#"):
            yield place, ""


def _table(text: str, path: str, lang: str) -> Iterator[tuple[str, str]]:
    """The places and names in a CSV file."""
    reader = csv.DictReader(io.StringIO(text, newline=""))
    heads = {(head or "").strip().lower(): head for head in reader.fieldnames or ()}
    columns = [heads[name] for name in _PLACES if name in heads]
    if not columns:
        raise NpulintError(say(lang, "survey.list.columns", path=leading(path)))
    for row in reader:
        place = next((text for text in ((row[column] or "").strip() for column in columns) if text), "")
        if place:
            yield place, (row.get(heads.get("name", ""), "") or "").strip()


def _of_place(place: str, name: str, here: str) -> Iterator[Listed]:
    """The projects of an entry of a list in the folder `here`: one, or those that a pattern matches."""
    if is_address(place):
        yield Listed(place, name or _name_of(place))
        return
    path = os.path.join(here, os.path.expanduser(place))
    if os.path.lexists(path) or not glob.has_magic(place):
        yield Listed(os.path.normpath(path), name or place.rstrip("/"))
        return
    for match in sorted(glob.glob(path)):
        if os.path.isdir(match):
            own = match if os.path.isabs(place) else os.path.relpath(match, here)
            yield Listed(os.path.normpath(match), own.replace(os.sep, "/"))


def _name_of(address: str) -> str:
    """Owner and repository of an address."""
    parts = [part for part in re.split(r"[/:]+", without_credentials(address)) if part]
    return "/".join(parts[-2:]).removesuffix(".git") or address

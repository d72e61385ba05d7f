"""Operator lists in the operator packages of a CANN installation: ``npu_supported_ops.json``.

They are merged as in TF Adapter: the installation's own list, then those of further folders
(``ASCEND_CUSTOM_OPP_PATH``), then those of its vendors in the order of ``vendors/config.ini``; later entries take
precedence."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from npulint.core.digest import blake2b
from npulint.core.lazy_regex import lazy_compile
from npulint.core.links import below
from npulint.data.supported import SupportedOps
from npulint.discover.safe_open import NotRegularError, TooLargeError, read_head, read_regular
from npulint.facts.model import Problem

NAME = "npu_supported_ops.json"
_OWN = ("built-in/framework/tensorflow", "framework/built-in/tensorflow")  # newer layout first
_ADDED = ("framework/tensorflow", "framework/custom/tensorflow")
_LIMIT = 8_000_000  # bytes of a list; real ones have some hundred thousand
_MOST_OPS = 100_000
_MOST_VENDORS = 64
_HEAD = 64 * 1024  # bytes of a file with names or versions
_RELEASE = lazy_compile(r"(?mi)^[ \t]*(version_dir|version)[ \t]*=[ \t]*([0-9][\w.+-]{0,39})[ \t\r]*$")
_VENDORS = lazy_compile(r"[^=\n]*=([^=\n]*)")
_OP = lazy_compile(r"[A-Za-z_][A-Za-z0-9_.>]{0,255}")


class OperatorLists(msgspec.Struct, frozen=True):
    """The merged lists; `ops` is None if there is no readable list. `problems` explain why."""

    ops: SupportedOps | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def digest(self) -> bytes:
        """A digest of everything, for cache keys."""
        parts = ["", *(f"{problem.path}\0{problem.reason}" for problem in self.problems)]
        if self.ops is not None:
            parts += [self.ops.source, self.ops.release, *sorted(self.ops.ops), "", *sorted(self.ops.gray)]
        return blake2b("\0\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def listed(places: Sequence[str], within: str = "") -> OperatorLists:
    """The operators in the merged lists of `places`. The first is the folder of an installation's operator package or a
    list itself, the others are merged over it. Files that lie outside of the folder `within`, if set, after links are
    resolved are not read. Never raises for their contents."""
    if not places:
        return OperatorLists()
    own, *further = places
    base = own if os.path.isfile(own) else _first(_packages(own), _OWN)
    if not base:
        return OperatorLists(problems=(Problem(_named(own), "missing"),))
    try:
        by_op = _entries(base, within)
    except _BrokenError as error:
        return OperatorLists(problems=(error.problem,))
    problems = []
    for path in [*_lists_of(further), *([] if base == own else _vendor_lists(own, within))]:
        try:
            by_op |= _entries(path, within)
        except _BrokenError as error:
            problems.append(error.problem)
    ops = frozenset(name for name, gray in by_op.items() if gray is not None)
    gray = frozenset(name for name, gray in by_op.items() if gray)
    release = "" if base == own else _release(own, within)
    return OperatorLists(SupportedOps(ops=ops, gray=gray, source=_named(base), release=release), tuple(problems))


class _BrokenError(Exception):
    def __init__(self, path: str, reason: str, detail: str = "") -> None:
        super().__init__(path)
        self.problem = Problem(_named(path), reason, detail)


def _packages(place: str) -> list[str]:
    """The operator packages in a folder that a user named: the package itself, or the toolkit that contains it."""
    return [place, os.path.join(place, "opp")]


def _first(folders: Sequence[str], below: Sequence[str]) -> str:
    paths = (os.path.join(folder, *part.split("/"), NAME) for folder in folders for part in below)
    return next(filter(os.path.isfile, paths), "")


def _lists_of(places: Sequence[str]) -> Iterator[str]:
    for place in places:
        path = place if os.path.isfile(place) else _first([place], _ADDED)
        if path:
            yield path


def _vendor_lists(place: str, within: str) -> Iterator[str]:
    for folder in _packages(place):
        head = _head(os.path.join(folder, "vendors", "config.ini"), within)
        match = _VENDORS.match(head.decode("utf-8", "replace").lstrip())
        for name in match[1].split(",")[:_MOST_VENDORS] if match else ():
            vendor = name.strip()
            if vendor and vendor == os.path.basename(vendor) and vendor not in (".", ".."):
                yield from filter(None, [_first([os.path.join(folder, "vendors", vendor)], _ADDED[:1])])
        yield from filter(None, [_first([folder], _ADDED[1:])])


def _head(path: str, within: str) -> bytes:
    return b"" if within and not below(path, within) else read_head(path, _HEAD)


def _entries(path: str, within: str) -> dict[str, bool | None]:
    """Whether an operator is gray, by type; None removes it from the list, as does any entry but an object."""
    if within and not below(path, within):
        raise _BrokenError(path, "link-outside")
    try:
        table = msgspec.json.decode(read_regular(path, _LIMIT), type=dict[str, object])
    except TooLargeError as error:
        raise _BrokenError(path, "too-large") from error
    except NotRegularError as error:
        raise _BrokenError(path, "not-a-file") from error
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        reason = "unreadable" if isinstance(error, OSError) else "json"
        raise _BrokenError(path, reason) from error
    if len(table) > _MOST_OPS:
        raise _BrokenError(path, "too-large", f"{len(table)} > {_MOST_OPS}")
    return {name: _gray(entry) for name, entry in table.items() if _OP.fullmatch(name)}


def _gray(entry: object) -> bool | None:
    if not isinstance(entry, dict):
        return None
    value = entry.get("isGray")
    return value is True or value == "true"


def _release(place: str, within: str) -> str:
    """The release of CANN in the installation; empty if it is not recorded."""
    home = place if os.path.isdir(os.path.join(place, "opp")) else os.path.dirname(os.path.abspath(place))
    info: dict[str, str] = {}
    for path in [
        *_install_files(home),
        *(os.path.join(package, "version.info") for package in reversed(_packages(place))),
    ]:
        for key, value in _RELEASE.findall(_head(path, within).decode("utf-8", "replace")):
            info.setdefault(key.lower(), value)
        if info:
            break
    return info.get("version_dir") or info.get("version", "")


def _install_files(home: str) -> list[str]:
    try:
        with os.scandir(home) as entries:
            folders = sorted(entry.path for entry in entries if entry.name.endswith("-linux"))
    except OSError:
        return []
    return [os.path.join(folder, "ascend_toolkit_install.info") for folder in folders]


def _named(path: str) -> str:
    """A path for display."""
    return path.replace(os.sep, "/").encode("utf-8", "surrogateescape").decode("utf-8", "replace")


__all__ = ["NAME", "OperatorLists", "listed"]

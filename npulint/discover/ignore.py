"""What a walk leaves out: excluded names and patterns, and what .gitignore files say.

pathspec is imported when the first pattern needs it, so that a tree without any pays nothing.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from npulint.discover.regular import read_head

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_GLOB = re.compile(r"[*?\[\]!\\]")
_GROUP_NAME = re.compile(r"\(\?P<\w+>")
_RULES_LIMIT = 256 * 1024  # bytes of one .gitignore
_STARS = 4  # wildcards in one path segment; more make matching slow and are no honest pattern


def _spec(lines: Iterable[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


class Excludes:
    """Patterns of the configuration, in .gitignore syntax, relative to the folder `base`."""

    def __init__(self, patterns: Iterable[str], base: str = "") -> None:
        plain, globs, paths = set(), [], []
        for pattern in patterns:
            name = pattern.rstrip("/")
            if "/" in name or name.startswith("!"):
                paths.append(pattern)
            elif _GLOB.search(name):
                globs.append(fnmatch.translate(name))
            elif name:
                plain.add(name)
        self._names = frozenset(plain)
        self._globs = re.compile("|".join(globs)) if globs else None
        self._paths = Rules(_spec(paths), os.path.abspath(base)) if paths else None

    def name(self, name: str) -> bool:
        """Whether every file or folder called `name` is excluded."""
        return name in self._names or (self._globs is not None and self._globs.match(name) is not None)

    def path(self, location: str, folder: bool) -> bool:
        """Whether the place itself is excluded by a pattern with a slash."""
        if self._paths is None:
            return False
        return self._paths.verdict(os.path.abspath(location), folder) is True

    def within(self, location: str) -> bool:
        """Whether `location` or a folder above it is excluded."""
        parts = [part for part in location.replace(os.sep, "/").split("/") if part not in ("", ".", "..")]
        return any(self.name(part) for part in parts) or self.path(location, False) or self.path(location, True)


class Rules:
    """One set of patterns and the absolute folder they are relative to."""

    def __init__(self, spec: GitIgnoreSpec, folder: str) -> None:
        self._spec = spec
        self._skip = len(folder.rstrip(os.sep)) + 1
        self._folder = folder
        bodies = [_GROUP_NAME.sub("(?:", p.regex.pattern) for p in spec.patterns if p.regex is not None]
        # One search rules out most paths; only a hit needs the order and the negations.
        self._any = re.compile("|".join(bodies)) if bodies else None

    def verdict(self, path: str, folder: bool) -> bool | None:
        """True when the absolute `path` is ignored, False when it is expressly kept, else None."""
        if self._any is None or not path.startswith(self._folder):
            return None
        relative = path[self._skip :].replace(os.sep, "/") + ("/" if folder else "")
        if self._any.match(relative) is None:
            return None
        return self._spec.check_file(relative).include


Chain = tuple[Rules, ...]
"""The rules in force in a folder, the nearest first."""


def ignored(chain: Chain, path: str, folder: bool) -> bool:
    """Whether git ignores the absolute `path`."""
    for rules in chain:
        verdict = rules.verdict(path, folder)
        if verdict is not None:
            return verdict
    return False


def chain_above(folder: str) -> Chain | None:
    """The rules that reach the absolute `folder` from above; None outside a git repository.

    A folder that is itself ignored was named on purpose: then nothing from above counts.
    """
    root = folder
    while not os.path.lexists(os.path.join(root, ".git")):
        parent = os.path.dirname(root)
        if parent == root:
            return None
        root = parent
    chain = _file_rules(os.path.join(root, ".git", "info", "exclude"), root)
    between = folder[len(root) :].strip(os.sep)
    here = root
    for part in between.split(os.sep) if between else ():
        chain = enter(chain, here)
        here = os.path.join(here, part)
        if ignored(chain, here, True):
            return ()
    return chain


def enter(chain: Chain, folder: str) -> Chain:
    """The rules in force inside the absolute `folder`, which holds a .gitignore or does not."""
    return _file_rules(os.path.join(folder, ".gitignore"), folder) + chain


def _file_rules(location: str, folder: str) -> Chain:
    text = read_head(location, _RULES_LIMIT).decode("utf-8", "replace")
    lines = [line for line in text.split("\n") if line.strip() and line[0] != "#" and _honest(line)]
    if not lines:
        return ()
    try:
        return (Rules(_spec(line.rstrip("\r") for line in lines), folder),)
    except (ValueError, re.error):  # one malformed line: keep the others
        good = [line for line in lines if _valid(line)]
        return (Rules(_spec(good), folder),) if good else ()


def _honest(line: str) -> bool:
    return all(len(re.findall(r"\*+", part)) <= _STARS for part in line.split("/"))


def _valid(line: str) -> bool:
    try:
        _spec([line])
    except (ValueError, re.error):
        return False
    return True

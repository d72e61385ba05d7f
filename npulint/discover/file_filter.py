"""Decides the kind of a file by its content where the name is ambiguous."""

from __future__ import annotations

import os
import re
import stat
import sys
from functools import cache

from npulint.core.lazy_regex import lazy_compile
from npulint.data.training_arguments import file_signatures
from npulint.discover.graphs import HEAD, form_of, form_of_text
from npulint.discover.kinds import (
    ARTIFACT,
    CONFIGURATION,
    CPP_LIMIT,
    DATA,
    DOCKERFILE,
    DOCKERFILE_LIMIT,
    GRAPH,
    JSON_LIMIT,
    PASSING,
    is_cuda,
    is_dockerfile,
    is_mixlist,
    may_be_loaded,
    may_be_mixlist,
    may_configure,
)
from npulint.discover.paths import shown
from npulint.discover.safe_open import read_head
from npulint.facts.model import Problem

# Recognizes Docker Compose files and Kubernetes manifests by the keys in their text.

_SERVICES = lazy_compile(rb"(?m)^services:[ \t]*(?:#.*)?$")
_SERVICE = lazy_compile(rb"(?m)^[ \t]+(?:image|build):")
_RESOURCE = lazy_compile(rb"(?m)^apiVersion:[ \t]*\S")
_PODS = lazy_compile(rb"(?m)^[ \t]+(?:- )?containers:[ \t]*(?:#.*)?$")


def describes_containers(data: bytes) -> bool:
    """Whether a YAML text describes containers that are started; the structure is not parsed."""
    if b"services:" in data and _SERVICES.search(data) and _SERVICE.search(data):
        return True
    return b"containers:" in data and bool(_RESOURCE.search(data) and _PODS.search(data))


# Recognizes configuration files of training frameworks, and of containers, by the keys in their text.

MOST = 64 * 1024
"""Maximum bytes of a configuration that starts a training; larger files are data."""

_TARGET = lazy_compile(
    rb"(?m)^[ \t]*(?:- )?[\"']?(?:_?target_?|class_path)[\"']?[ \t]*:[ \t]*[\"']?[A-Za-z_]\w*(?:\.\w+)+"
)

Keys = tuple[bytes, ...]


def may_configure_training(data: bytes) -> bool:
    """Whether a text may be the configuration of a training framework, name classes of a program, or describe
    containers. The structure is not parsed: nested keys count wherever they are."""
    if describes_containers(data):
        return True
    if (b"target" in data or b"class_path" in data) and _TARGET.search(data):
        return True
    return any(
        all(_is_key(data, word) for word in required) and (not usual or any(_is_key(data, word) for word in usual))
        for required, usual in _signatures()
        if all(word in data for word in required)  # most files lack the words, which is found out faster
    )


@cache
def _signatures() -> tuple[tuple[Keys, Keys], ...]:
    """The last segments of the required and of the usual keys of each signature."""
    return tuple((_last(file_signature.required), _last(file_signature.usual)) for file_signature in file_signatures())


def _last(keys: tuple[str, ...]) -> Keys:
    return tuple(dict.fromkeys(key.rpartition(".")[2].encode() for key in keys))


def _is_key(data: bytes, word: bytes) -> bool:
    """Whether a word is a key of YAML, JSON or TOML somewhere in a text."""
    return word in data and _pattern(word).search(data) is not None


@cache
def _pattern(word: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?m)(?:^|[{,])[ \t]*(?:- )?[\"']?" + re.escape(word) + rb"[\"']?[ \t]*[:=]")


_OF_RUNS = (
    *("PROF_", "OPPROF_", "_ascend_pt", "_ascend_ms", "ASCEND_", "mindstudio_", "cluster_", "precision_data", "plog"),
    *("info_", "aicerror_", "JOB", "summary", "timeline"),
)
_NOTEBOOK_FACTOR = 10  # notebooks contain their outputs


def of_text(location: str, kinds: tuple[str, ...], data: bytes, most: int, named: bool) -> tuple[str, ...] | Problem:
    """The kinds, of `kinds`, of a file with content `data`, or why it is not read. A JSON or C++ file counts if its
    content says so, or if `named`. `most` is as for `limit_of`."""
    if kinds in PASSING and not counts(location, kinds[0], len(data), most, data):
        if may_configure(os.path.basename(location)) and counts(location, CONFIGURATION[0], len(data), most, data):
            kinds = CONFIGURATION
        elif not named or kinds == CONFIGURATION:
            return DATA if not named and may_be_loaded(os.path.basename(location), len(data)) else ()
    if kinds == DOCKERFILE and not named and not counts(location, kinds[0], len(data), most, data):
        return ()
    limit = limit_of(kinds, most)
    return Problem(shown(location), "too-large", f"{len(data)} > {limit}") if len(data) > limit else kinds


def limit_of(kinds: tuple[str, ...], most: int) -> int:
    """The size limit in bytes for files of these kinds, if that of Python files is `most`."""
    if kinds in (GRAPH, ARTIFACT):  # their readers have limits of their own
        return sys.maxsize
    return most * (_NOTEBOOK_FACTOR if kinds == ("notebook",) else 1)


def counts(location: str, kind: str, size: int, most: int, data: bytes | None = None) -> bool:
    """Whether a file whose name only hints at `kind` is of that kind; `data` is its content, else it is read."""
    if kind == "graph":
        return bool(form_of(location) if data is None else form_of_text(location, data[:HEAD]))
    if kind == "configuration":
        if size > MOST:
            return False
        text = read_head(location, MOST) if data is None else data
        return may_configure_training(text)
    if kind == "mixlist":
        return size <= JSON_LIMIT and is_mixlist(read_head(location, JSON_LIMIT) if data is None else data)
    if kind == "dockerfile":
        return is_dockerfile(read_head(location, DOCKERFILE_LIMIT) if data is None else data[:DOCKERFILE_LIMIT])
    named = location.endswith((".cu", ".cuh"))
    return size <= most and (
        named or is_cuda(location, read_head(location, CPP_LIMIT) if data is None else data[:CPP_LIMIT])
    )


def special(mode: int) -> str:
    """A description of a file that is not regular."""
    tests = ((stat.S_ISFIFO, "FIFO"), (stat.S_ISSOCK, "socket"), (stat.S_ISBLK, "device"), (stat.S_ISCHR, "device"))
    return next((word for test, word in tests if test(mode)), "special file")


def of_named_json(location: str, size: int, data: bytes | None = None) -> tuple[str, ...]:
    """The kinds of a JSON file that the user names, empty if none; it may be an artifact. `data` is its content, else
    it is read."""
    if counts(location, "graph", size, 0, data):
        return GRAPH
    if counts(location, "mixlist", size, 0, data):
        return ("mixlist",)
    if counts(location, CONFIGURATION[0], size, 0, data):
        return CONFIGURATION
    artifact = artifact_kinds(location, data)
    if artifact:
        return artifact
    text = read_head(location, JSON_LIMIT) if data is None else data[:JSON_LIMIT]
    return ("mixlist",) if may_be_mixlist(os.path.basename(location), text) else ()


def artifact_kinds(location: str, data: bytes | None = None) -> tuple[str, ...]:
    """The kind of run artifacts, as a tuple, if a file is one; `data` is its content, else it is read."""
    from npulint.discover.artifacts import form_of, form_of_text  # imported on demand: rarely needed

    return ARTIFACT if (form_of(location) if data is None else form_of_text(location, data[:HEAD])) else ()


def may_be_run(folder: str) -> bool:
    """Whether the folder at a path may hold run artifacts."""
    parent, name = os.path.split(folder)
    if not name.startswith(_OF_RUNS) and not name.endswith(_OF_RUNS):
        return False
    from npulint.discover.artifacts import is_artifact_folder

    return is_artifact_folder(name, os.path.basename(parent))


def is_switch_file(name: str) -> bool:
    """Whether a file of this name configures the fusion engine."""
    if "fusion" not in name:
        return False
    from npulint.discover.artifacts import is_switch_file as is_one

    return is_one(name)


def is_read(folder: str) -> bool:
    """Whether an artifact folder at a path contains anything but raw slices."""
    from npulint.discover.artifacts import is_unread_folder

    parent, name = os.path.split(folder)
    return not is_unread_folder(os.path.basename(parent), name)

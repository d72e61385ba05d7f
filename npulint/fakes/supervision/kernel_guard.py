"""Lets the Linux kernel refuse writing outside of a folder, in this process and all that it starts: what libraries in C
write Python does not see. It needs Landlock as of Linux 5.19; as of 6.12 the kernel refuses signals to other processes,
too. Elsewhere nothing is refused here."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same on all architectures
_VERSION = 1  # flag: ask for the version of the interface
_BENEATH = 1  # kind of a rule
_NO_NEW_PRIVILEGES = 38
_WRITING = 1 << 1
_CHANGING = sum(1 << bit for bit in range(4, 14))  # remove, make, and move between folders
_TRUNCATING = 1 << 14  # as of the third version
_SIGNALS = 1 << 1  # as of the sixth version
_ELSEWHERE = ("/dev", "/proc")


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))


def refuse_writing(folder: str) -> bool:
    """Allow writing in `folder` and to devices only, and signals to what is started from here. Returns whether the
    kernel does so."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return _restricted(ctypes.CDLL(None, use_errno=True).syscall, folder)
    except (AttributeError, OSError):
        return False


def can_refuse_writing(folder: str) -> bool:
    """Whether the kernel can do that, tried in a process of its own."""
    if not sys.platform.startswith("linux"):
        return False
    number = os.fork()
    if not number:
        os._exit(not refuse_writing(folder))
    return os.waitpid(number, 0)[1] == 0


def _restricted(call: Callable[..., int], folder: str) -> bool:
    version = call(_CREATE, None, ctypes.c_size_t(0), _VERSION)
    if version < 2:  # without moving between folders
        return False
    rights = _WRITING | _CHANGING | (_TRUNCATING if version >= 3 else 0)
    ruleset = _Ruleset(rights, 0, _SIGNALS if version >= 6 else 0)
    size = ctypes.sizeof(ruleset) if version >= 6 else ctypes.sizeof(ctypes.c_uint64)
    rules = call(_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), 0)
    if rules < 0:
        return False
    try:
        if not all(_allowed(call, rules, path, rights) for path in (folder, *_ELSEWHERE)):
            return False
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return call(_RESTRICT, rules, 0) == 0
    finally:
        os.close(rules)


def _allowed(call: Callable[..., int], rules: int, path: str, rights: int) -> bool:
    """Add a folder below which everything may be written."""
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        return call(_ADD, rules, _BENEATH, ctypes.byref(_Beneath(rights, folder)), 0) == 0
    finally:
        os.close(folder)

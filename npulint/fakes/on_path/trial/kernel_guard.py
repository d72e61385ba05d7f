"""Lets the Linux kernel refuse writing outside of a folder, in this process and all that it starts: what libraries in C
write Python does not see. It needs Landlock as of Linux 5.19; elsewhere nothing is refused here."""

import os
import sys

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # system calls, the same on all architectures
_VERSION = 1  # flag: ask for the version of the interface
_BENEATH = 1  # kind of a rule
_NO_NEW_PRIVILEGES = 38
_WRITING = 1 << 1
_CHANGING = sum(1 << bit for bit in range(4, 14))  # remove, make, and move between folders
_TRUNCATING = 1 << 14  # as of the third version
_ELSEWHERE = ("/dev", "/proc")


def refuse_writing(folder):
    """Allow writing in `folder` and to devices only. Whether the kernel does so."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        import ctypes

        return _restricted(ctypes, folder)
    except (ImportError, AttributeError, OSError):
        return False


def _restricted(ctypes, folder):
    call = ctypes.CDLL(None, use_errno=True).syscall
    version = call(_CREATE, None, ctypes.c_size_t(0), _VERSION)
    if version < 2:  # without moving between folders
        return False
    rights = _WRITING | _CHANGING | (_TRUNCATING if version >= 3 else 0)
    handled = ctypes.c_uint64(rights)
    rules = call(_CREATE, ctypes.byref(handled), ctypes.c_size_t(8), 0)
    if rules < 0:
        return False

    class Beneath(ctypes.Structure):
        _pack_ = 1
        _fields_ = (("rights", ctypes.c_uint64), ("folder", ctypes.c_int32))

    try:
        for path in (folder, *_ELSEWHERE):
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
            try:
                rule = Beneath(rights, place)
                if call(_ADD, rules, _BENEATH, ctypes.byref(rule), 0):
                    return False
            finally:
                os.close(place)
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return call(_RESTRICT, rules, 0) == 0
    finally:
        os.close(rules)

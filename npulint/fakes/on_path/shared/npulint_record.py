"""The record of what a program configured: one line of JSON per process, appended when the process ends."""

import atexit
import json
import os
import traceback

VARIABLE = "NPULINT_FAKE_RECORD"
"""Names the file of the record; without it nothing is written."""

_found = {}


def add(kind, entry):
    """Put an entry, a dict that may change until the process ends, into the list of its kind."""
    if not _found:
        atexit.register(flush)
    _found.setdefault(kind, []).append(entry)
    return entry


def found(kind):
    """The entries of a kind."""
    return list(_found.get(kind, ()))


def stack():
    """The running code as (path, line, function), outermost first."""
    frames = [(frame.f_code.co_filename, line, frame.f_code.co_name) for frame, line in traceback.walk_stack(None)]
    return frames[::-1]


def remark(reason, text="", stack=None):
    """Note that the program goes on here, or at `stack`, but not as it is written: on the same line once."""
    entry = {"reason": reason, "text": text, "frames": stack or _here()}
    if entry not in found("remarks"):
        add("remarks", entry)


_here = stack


def count(kind, name):
    """Count one more `name` of a kind, such as an operator that was built."""
    if not _found:
        atexit.register(flush)
    counts = _found.setdefault(kind, {})
    counts[name] = counts.get(name, 0) + 1


def plain(value):
    """A value as JSON can hold it; of an object the name of its class."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(member) for member in value]
    if isinstance(value, dict):
        return {str(name): plain(member) for name, member in value.items()}
    return type(value).__name__


def flush():
    """Write what was found so far; a process that is ended without this writes nothing."""
    path = os.environ.get(VARIABLE)
    if path:
        with open(path, "a", encoding="utf-8") as out:
            out.write(json.dumps(_found) + "\n")

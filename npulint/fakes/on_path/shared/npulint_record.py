"""The record of what a program configured: one line of JSON per process, appended when the process ends."""

import atexit
import json
import os

VARIABLE = "NPULINT_FAKE_RECORD"
"""Names the file of the record; without it nothing is written."""

_found = {}


def add(kind, entry):
    """Put an entry, a dict that may change until the process ends, into the list of its kind."""
    if not _found:
        atexit.register(_write)
    _found.setdefault(kind, []).append(entry)
    return entry


def count(kind, name):
    """Count one more `name` of a kind, such as an operator that was built."""
    if not _found:
        atexit.register(_write)
    counts = _found.setdefault(kind, {})
    counts[name] = counts.get(name, 0) + 1


def plain(value):
    """A value as JSON can hold it; of an object the name of its class."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {str(name): plain(one) for name, one in value.items()}
    return type(value).__name__


def _write():
    path = os.environ.get(VARIABLE)
    if path:
        with open(path, "a", encoding="utf-8") as out:
            out.write(json.dumps(_found) + "\n")

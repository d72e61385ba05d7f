"""The lines of the user's code in stacks of calls."""

import os
import sysconfig
import traceback

FAKES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
"""The folder of everything that npulint puts on the path of a program."""
ADAPTERS = tuple(os.path.join(FAKES, name, "") for name in ("tensorflow1", "tensorflow2"))
"""The folders of the fake adapters."""

_PYTHON = tuple(
    {os.path.join(path, "") for path in map(sysconfig.get_path, ("stdlib", "platstdlib", "scripts")) if path}
    | {os.path.join(os.path.realpath(path), "") for path in map(sysconfig.get_path, ("stdlib", "platstdlib")) if path}
)
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_known = {}


def is_own(path):
    """Whether a file is the user's code: neither of Python, nor installed, nor of npulint."""
    if path not in _known:
        other = path.startswith(("<", FAKES, *_PYTHON)) or any(part in path for part in _INSTALLED)
        _known[path] = not other and "__autograph_generated_file" not in path
    return _known[path]


def own_frames(stack):
    """The user's frames of a stack of (path, line, function), outermost first, as absolute paths."""
    return [[os.path.abspath(path), line, function] for path, line, function in stack if is_own(path)]


def in_adapter(stack):
    """Whether the innermost user's frame of a stack called a function of the fake adapter."""
    inside = False
    for path, _, _ in stack:
        inside = (inside and not is_own(path)) or path.startswith(ADAPTERS)
    return inside


def of_traceback(error):
    """All frames of an exception, outermost first."""
    frames = []
    inner = error.__traceback__
    while inner is not None:
        code = inner.tb_frame.f_code
        frames.append((code.co_filename, inner.tb_lineno, code.co_name))
        inner = inner.tb_next
    return frames


def caller():
    """The user's frames of the running code, outermost first."""
    frames = []
    for frame, line in traceback.walk_stack(None):
        code = frame.f_code
        if is_own(code.co_filename):
            frames.append([os.path.abspath(code.co_filename), line, code.co_name])
    return frames[::-1]


def of_operation(operation):
    """The stack that created an operation; operations made in C++ have none. The private member of TensorFlow 1.15 is
    without the texts of the lines, which take long to read."""
    try:
        entries = getattr(operation, "_traceback", None) or operation.traceback or ()
    except (AttributeError, KeyError, IndexError):
        return []
    stack = []
    for entry in entries:
        if hasattr(entry, "filename"):
            path, line, function = entry.filename, entry.lineno, entry.name
        else:
            path, line, function = entry[:3]
        stack.append((str(path), int(line or 0), str(function)))
    return stack

"""Which programs may be started under ``npulint try``: Python, and those that tell something or move files. What counts
is the file that is started, not its name: what the program could have made itself is no such program."""

import errno
import functools
import os
import sys

_TELLING = "uname ldconfig stty lscpu nproc nvidia-smi npu-smi which whoami date".split()
_OF_FILES = "cp mv rm mkdir rmdir ln cat ls".split()  # not touch: Landlock lets it set times
_OF_GIT = "rev-parse describe log show ls-files".split()
_SHELLS = ("sh", "bash")
_SPECIAL = frozenset("|&;<>()$`\\\n*?~#")  # characters by which a shell does more than start one program
_CHUNK = 1 << 20
_realpath = os.path.realpath
_interpreter = _realpath(sys.executable) if sys.executable else ""


class NoMethod:
    """A function of a module, as an object: a function that a class holds would become a method."""

    def __init__(self, called):
        self._called = called
        functools.update_wrapper(self, called)

    def __call__(self, *args, **named):
        return self._called(*args, **named)


class Programs:
    """Says what may be started. `inside` tells where the program may write; `confined`: the kernel refuses writing
    elsewhere, by other programs, too; `guards` is the module that puts the guards into processes."""

    def __init__(self, inside, confined, guards):
        self._inside = inside
        self._confined = confined
        self._guards = guards

    def check(self, program, words=(), folder=None, variables=None, final=False):
        """Raise `PermissionError` for a program that may not be started. `folder` is the one it starts in; `final`: it
        starts with just these words and variables, to which nothing is added any more."""
        file = found(program, folder, variables)
        texts = [os.fsdecode(word) for word in words] if isinstance(words, (list, tuple)) else []
        name = os.path.basename(os.fsdecode(program)) if program else ""
        by_shell = False
        if name in _SHELLS and not self._is_own(file) and len(texts) == 3 and texts[1] == "-c":
            plain = texts[2].replace('"', "").replace("'", "")
            texts = [] if set(plain) & _SPECIAL else plain.split()
            if texts:
                file, name, by_shell = found(texts[0], folder, variables), os.path.basename(texts[0]), True
        if not file and (_is_python_name(name) or self._is_harmless(name, texts)):
            return  # FileNotFoundError follows
        if is_python(file) and self._is_interpreter(file):
            isolated = (final or by_shell) and self._guards.are_left_out(texts)
            if isolated or (final and self._guards.missing(variables)):
                _refuse("Python may not be started without the guards of the trial", name)
        elif self._is_own(file) or not self._is_harmless(name, texts):
            _refuse("only Python may be started", name or "sh")

    def _is_interpreter(self, file):
        """Whether a file of this kind is an interpreter that was there before the program ran, or a copy of one."""
        real = _realpath(file)
        return real == _interpreter or not self._inside(real) or _same(real, _interpreter)

    def _is_own(self, file):
        """Whether the program may have made a file, or the link to it."""
        return self._inside(file) or self._inside(os.path.dirname(os.path.abspath(file)))

    def _is_harmless(self, name, texts):
        if self._confined and name in _OF_FILES:
            return True
        return name in _TELLING or (name == "git" and texts[1:2] != [] and texts[1] in _OF_GIT)


def is_python(file):
    """Whether a file is an interpreter of Python, whatever links to it are called."""
    if not file:
        return False
    real = _realpath(file)
    return _is_python_name(os.path.basename(real)) or real == _interpreter


def _is_python_name(name):
    return name[:6] == "python" and not name[6:].rstrip("dmut").strip("0123456789.")


def found(program, folder, variables):
    """The file that a name means for a process that starts in a folder with variables; empty where there is none."""
    if not program:
        return ""
    text = f"/proc/self/fd/{program}" if isinstance(program, int) else os.fsdecode(program)
    if os.sep in text:
        return executable(text, folder)
    given = os.environ if variables is None else variables
    paths = given.get("PATH", given.get(b"PATH", os.defpath) if given is not os.environ else os.defpath)
    for path in os.fsdecode(paths).split(os.pathsep):
        file = executable(os.path.join(path, text), folder)
        if file:
            return file
    return ""


def executable(text, folder):
    """The path of a file that can be started; empty for others."""
    path = os.path.join(os.fsdecode(folder), text) if folder is not None else text
    return path if text and os.path.isfile(path) and os.access(path, os.X_OK) else ""


def _same(path, other):
    """Whether two files have the same content."""
    try:
        if not other or os.path.getsize(path) != os.path.getsize(other):
            return False
        with open(path, "rb") as first, open(other, "rb") as second:
            while True:
                chunk = first.read(_CHUNK)
                if chunk != second.read(_CHUNK):
                    return False
                if not chunk:
                    return True
    except OSError:
        return False


def _refuse(reason, name):
    raise PermissionError(errno.EACCES, "npulint try: " + reason, name)

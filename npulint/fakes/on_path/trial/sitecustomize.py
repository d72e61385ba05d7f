"""Guards of a program under ``npulint try``, in each of its Python processes: Python imports this module at its start.

What the interpreter can see (its audit events) is refused: writing outside of the scratch folder, connections to other
machines, signals to processes of others, and starting programs other than Python and a few that only tell something;
those that copy or remove files too, where the kernel refuses what they write elsewhere. Python that is started has the
guards, whatever environment it is given. Libraries in C that connect by themselves are not seen."""

import errno
import os
import sys

import npulint_children as children
import npulint_network as network
import npulint_shared_memory as shared_memory
import npulint_signals as signals
from npulint_programs import Programs, found

FOLDER = os.path.realpath(os.environ.get("NPULINT_TRIAL_FOLDER", "."))
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = ("/dev/", "/proc/self/", "/proc/" + str(os.getpid()) + "/")
_CHANGING = {  # audit event: positions of the paths that it changes
    "os.remove": (0,),
    "os.rename": (0, 1),
    "os.rmdir": (0,),
    "os.mkdir": (0,),
    "os.truncate": (0,),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.chmod": (0,),
    "os.chown": (0,),
    "os.utime": (0,),
    "os.setxattr": (0,),
    "os.removexattr": (0,),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
}
_MAKING = ("os.mkdir", "os.rename", "os.link", "os.symlink")
_OF_TWO_FOLDERS = ("os.rename", "os.link")  # the last arguments of other events are the open folder of the path
_WITHOUT_FOLDER = ("os.truncate", "os.setxattr", "os.removexattr", "shutil.move")
_OPEN = "/proc/self/fd/{}"
_STARTING = ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.system", "pty.spawn")
_realpath = os.path.realpath
_exists = os.path.lexists


def inside(path):
    """Whether a program may write to this path."""
    try:
        text = os.fsdecode(path)
    except TypeError:
        return True
    place = _realpath(text)
    if place == FOLDER or place.startswith(FOLDER + os.sep):
        return True
    return place.startswith(_DEVICES) and not _shared.is_foreign(place)


_shared = shared_memory.SharedMemory(FOLDER)
_programs = Programs(inside, bool(os.environ.get("NPULINT_TRIAL_CONFINED")), children)


def _guard(event, args):
    if event == "open":
        path, _, flags = args
        if isinstance(path, int) or path is None or not flags & _WRITING:
            return
        if not inside(path) and not _is_lock(path):
            raise PermissionError(errno.EACCES, "npulint try: writing outside of the scratch folder", os.fsdecode(path))
        if flags & os.O_CREAT:
            _note(path)
    elif event in _CHANGING:
        _changing(event, args)
    elif event.startswith("socket."):
        network.check(event, args)
    elif event in _STARTING:
        _starting(event, args)
    elif event in ("os.kill", "os.killpg"):
        signals.check(-args[0] if event == "os.killpg" else args[0], args[1])


def _note(path):
    """Note shared memory that is about to be made."""
    try:
        _shared.note(_realpath(os.fsdecode(path)))
    except TypeError:
        return


def _starting(event, args):
    if event == "subprocess.Popen":  # what is added for the guards comes later
        _programs.check(args[0], args[1], *args[2:4])
    elif event == "os.system":
        _programs.check("/bin/sh", ("sh", "-c", args[0]))
    elif event == "pty.spawn":
        _programs.check("")
    else:
        program = _OPEN.format(args[0]) if isinstance(args[0], int) else os.fsdecode(args[0])
        if os.sep not in program:  # what is executed lies in the working folder, what is spawned perhaps on the path
            program = os.path.join(os.curdir, program) if event == "os.exec" else found(program, None, None) or program
        _programs.check(program, args[1], None, args[2], final=True)


def _is_lock(path):
    """Whether this is an empty lock file, which caches that are only read need."""
    try:
        return os.fsdecode(path).endswith(".lock") and os.stat(path).st_size == 0
    except OSError:
        return False


def _changing(event, args):
    if event == "os.mkdir" and _exists(args[0]):
        return  # FileExistsError follows
    for place in _CHANGING[event]:
        path = _absolute(event, args, place)
        if not inside(path) and not (isinstance(args[place], int) and not _exists(_realpath(path))):
            raise PermissionError(errno.EACCES, "npulint try: changing what is outside of the scratch folder", path)
        if event in _MAKING and place == _CHANGING[event][-1]:
            _note(path)


def _absolute(event, args, place):
    """A path among the arguments of an event, which may also be an open file, or relative to an open folder."""
    path = args[place]
    if isinstance(path, int):
        return _OPEN.format(path)
    if event in _WITHOUT_FOLDER:
        return path
    folders = args[2:] if event in _OF_TWO_FOLDERS else args[-1:]
    folder = folders[min(place, len(folders) - 1)] if folders else None
    return os.path.join(_OPEN.format(folder), os.fsdecode(path)) if isinstance(folder, int) and folder >= 0 else path


if "NPULINT_TRIAL_FOLDER" in os.environ:
    children.install()
    signals.install()
    shared_memory.install(_guard)
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(_guard)
    else:
        import guarded_functions  # Python 3.7 has no audit events

        guarded_functions.guard(_guard)

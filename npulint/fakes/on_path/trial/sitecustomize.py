"""Guards of a program under ``npulint try``, in each of its Python processes: Python imports this module at its start.

What the interpreter can see (its audit events) is refused: writing outside of the scratch folder, connections to other
machines, and starting programs other than Python and a few that only tell something; those that copy or remove files
too, where the kernel refuses what they write elsewhere. Libraries in C that connect by themselves are not seen."""

import errno
import os
import socket
import sys

import kernel_guard

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
_TELLING = "uname ldconfig stty lscpu nproc nvidia-smi npu-smi which whoami date".split()
_OF_FILES = "cp mv rm mkdir rmdir ln cat ls".split()  # not touch: Landlock lets it set times
_OF_GIT = "rev-parse describe log show ls-files".split()
_LOCAL = ("localhost", "127.", "::1", "0.0.0.0")
_confined = False  # whether the kernel refuses writing elsewhere, in other programs as well
_realpath = os.path.realpath
_exists = os.path.lexists


def inside(path):
    """Whether a program may write to this path."""
    try:
        text = os.fsdecode(path)
    except TypeError:
        return True
    place = _realpath(text)
    return place == FOLDER or place.startswith((FOLDER + os.sep, *_DEVICES))


def _guard(event, args):
    if event == "open":
        path, _, flags = args
        if isinstance(path, int) or path is None or not flags & _WRITING:
            return
        if not inside(path) and not _is_lock(path):
            raise PermissionError(errno.EACCES, "npulint try: writing outside of the scratch folder", os.fsdecode(path))
    elif event in _CHANGING:
        _changing(event, args)
    elif event.startswith("socket."):
        _connecting(event, args)
    elif event in ("subprocess.Popen", "os.posix_spawn", "os.exec", "os.spawn"):
        place = 1 if event == "os.spawn" else 0
        _starting(args[place], args[place + 1])
    elif event == "os.system":
        _starting("sh", ("sh", "-c", args[0]))
    elif event == "pty.spawn":
        _starting("")


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
        path = args[place]
        relative = any(isinstance(one, int) and one >= 0 for one in args[2 if event == "os.rename" else 1 :])
        if not isinstance(path, int) and not (relative and not os.path.isabs(os.fsdecode(path))) and not inside(path):
            raise PermissionError(errno.EACCES, "npulint try: changing what is outside of the scratch folder", path)


def _connecting(event, args):
    if event in ("socket.connect", "socket.sendto"):
        address = args[1]
        host = address[0] if isinstance(address, tuple) else ""
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0]
    else:
        return
    host = host.decode("ascii", "replace") if isinstance(host, bytes) else host or ""
    if host and not host.startswith(_LOCAL) and host != socket.gethostname():
        raise OSError(errno.ENETUNREACH, "npulint try: the network is off", host)


def _starting(program, words=()):
    """Python may be started, and what only tells something."""
    name = os.path.basename(os.fsdecode(program)) if program else ""
    texts = [os.fsdecode(one) for one in words] if isinstance(words, (list, tuple)) else []
    if name in ("sh", "bash") and len(texts) == 3 and texts[1] == "-c":
        texts = [] if set(texts[2]) & set("|&;<>()$`\\\n*?~#") else texts[2].split()
        name = os.path.basename(texts[0]) if texts else name
        if name.startswith("python"):
            return
    if _confined and name in _OF_FILES:
        return
    if name.startswith("python") or name in _TELLING or (name == "git" and texts[1:2] and texts[1] in _OF_GIT):
        return
    raise PermissionError(errno.EACCES, "npulint try: only Python may be started", name or "sh")


if "NPULINT_TRIAL_FOLDER" in os.environ:
    _confined = kernel_guard.refuse_writing(FOLDER)
    if hasattr(sys, "addaudithook"):
        sys.addaudithook(_guard)
    else:
        import guarded_functions  # Python 3.7 has no audit events

        guarded_functions.guard(_guard)

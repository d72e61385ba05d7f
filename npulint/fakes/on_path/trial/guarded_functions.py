"""The guards of ``npulint try`` in Python 3.7, which has no audit events: the functions that would raise them."""

import builtins
import functools
import io
import os
import socket
import subprocess

from npulint_programs import NoMethod

_MODES = {"w": os.O_WRONLY | os.O_CREAT, "a": os.O_APPEND | os.O_CREAT, "x": os.O_CREAT, "+": os.O_RDWR}
_OF_ONE_PATH = "remove unlink rmdir mkdir truncate chmod fchmod chown fchown utime setxattr removexattr".split()
_OF_TWO_PATHS = "rename replace link symlink".split()
_EVENTS = {"unlink": "os.remove", "replace": "os.rename", "fchmod": "os.chmod", "fchown": "os.chown"}
_STARTING = ("execv", "execve", "posix_spawn", "posix_spawnp")
_OF_SOCKETS = {"connect": "socket.connect", "connect_ex": "socket.connect", "sendto": "socket.sendto"}
_SENT_TO = 3  # place of the address among the arguments of sendmsg


def guard(check):
    """Let `check` see what these functions are about to do; it raises to refuse."""
    builtins.open = io.open = _Open(builtins.open, check)
    _replace(os, "open", lambda args, named: check("open", (args[0], None, args[1] if len(args) > 1 else 0)))
    for name in _OF_ONE_PATH:
        _replace(os, name, functools.partial(_one_path, check, _EVENTS.get(name, "os." + name)))
    for name in _OF_TWO_PATHS:
        _replace(os, name, functools.partial(_two_paths, check, _EVENTS.get(name, "os." + name)))
    for name in _STARTING:
        _replace(os, name, functools.partial(_starting, check, name == "execv" or name == "execve"))
    _replace(os, "system", lambda args, named: check("os.system", args))
    _replace(subprocess.Popen, "__init__", functools.partial(_popen, check))
    for name, event in _OF_SOCKETS.items():
        _replace(socket.socket, name, functools.partial(_connecting, check, event))
    _replace(socket.socket, "sendmsg", functools.partial(_sending, check))
    for name in ("kill", "killpg"):
        _replace(os, name, lambda args, named, event="os." + name: check(event, args))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyaddr", "getnameinfo"):
        _replace(socket, name, functools.partial(_looking_up, check, "socket." + name))


def _replace(owner, name, before):
    original = getattr(owner, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def called(*args, **named):
        before(args, named)
        return original(*args, **named)

    setattr(owner, name, called if isinstance(owner, type) else NoMethod(called))


class _Open:
    """``open``, as such an object."""

    def __init__(self, original, check):
        self._original = original
        self._check = check
        functools.update_wrapper(self, original)

    def __call__(self, file, mode="r", *args, **named):
        flags = 0
        for letter in mode:
            flags |= _MODES.get(letter, 0)
        self._check("open", (file, mode, flags))
        return self._original(file, mode, *args, **named)


def _one_path(check, event, args, named):
    check(event, (args[0] if args else named.get("path", named.get("fd")), named.get("dir_fd") or -1))


def _two_paths(check, event, args, named):
    paths = (*args, *(named[name] for name in ("src", "dst") if name in named))[:2]
    check(event, (*paths, named.get("dst_dir_fd") or named.get("dir_fd") or -1))


def _starting(check, here, args, named):
    path = os.fsdecode(args[0])
    path = os.path.join(os.curdir, path) if here and os.sep not in path else path
    check("subprocess.Popen", (path, args[1], None, args[2] if len(args) > 2 else named.get("env")))


def _popen(check, args, named):
    command = args[1] if len(args) > 1 else named.get("args", "")
    words = [command] if isinstance(command, (str, bytes, os.PathLike)) else list(command)
    if named.get("shell"):
        words = ["/bin/sh", "-c", *words]
    program = named.get("executable") or (words or [""])[0]
    check("subprocess.Popen", (program, words, named.get("cwd"), named.get("env")))


def _sending(check, args, named):
    check("socket.sendmsg", (args[0], args[_SENT_TO + 1] if len(args) > _SENT_TO + 1 else None))


def _connecting(check, event, args, named):
    check(event, (args[0], args[-1]))


def _looking_up(check, event, args, named):
    check(event, (args[0] if args else named.get("host", ""),))

"""The guards of ``npulint try`` in Python 3.7, which has no audit events: the functions that would raise them."""

import builtins
import functools
import io
import os
import socket
import subprocess

_MODES = {"w": os.O_WRONLY, "a": os.O_APPEND, "x": os.O_CREAT, "+": os.O_RDWR}
_OF_ONE_PATH = "remove unlink rmdir mkdir truncate chmod chown utime setxattr removexattr".split()
_OF_TWO_PATHS = "rename replace link symlink".split()
_EVENTS = {"unlink": "os.remove", "replace": "os.rename"}
_STARTING = {"execv": 0, "execve": 0, "posix_spawn": 0, "spawnv": 1, "spawnve": 1}
_OF_SOCKETS = {"connect": "socket.connect", "connect_ex": "socket.connect", "sendto": "socket.sendto"}


def guard(check):
    """Let `check` see what these functions are about to do; it raises to refuse."""
    builtins.open = io.open = _Open(builtins.open, check)
    _replace(os, "open", lambda args, named: check("open", (args[0], None, args[1] if len(args) > 1 else 0)))
    for name in _OF_ONE_PATH:
        _replace(os, name, functools.partial(_one_path, check, _EVENTS.get(name, "os." + name)))
    for name in _OF_TWO_PATHS:
        _replace(os, name, functools.partial(_two_paths, check, _EVENTS.get(name, "os." + name)))
    for name, place in _STARTING.items():
        _replace(os, name, functools.partial(_starting, check, place))
    _replace(os, "system", lambda args, named: check("os.system", args))
    _replace(subprocess.Popen, "__init__", functools.partial(_popen, check))
    for name, event in _OF_SOCKETS.items():
        _replace(socket.socket, name, functools.partial(_connecting, check, event))
    for name in ("getaddrinfo", "gethostbyname"):
        _replace(socket, name, functools.partial(_looking_up, check, "socket." + name))


def _replace(owner, name, before):
    original = getattr(owner, name, None)
    if original is None:
        return

    @functools.wraps(original)
    def called(*args, **named):
        before(args, named)
        return original(*args, **named)

    setattr(owner, name, called if isinstance(owner, type) else _NoMethod(called))


class _NoMethod:
    """A function of a module, as an object: a function that a class holds would become a method."""

    def __init__(self, called):
        self._called = called
        functools.update_wrapper(self, called)

    def __call__(self, *args, **named):
        return self._called(*args, **named)


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
    check(event, (args[0] if args else named.get("path"), named.get("dir_fd") or -1))


def _two_paths(check, event, args, named):
    paths = (*args, *(named[name] for name in ("src", "dst") if name in named))[:2]
    check(event, (*paths, named.get("dst_dir_fd") or named.get("dir_fd") or -1))


def _starting(check, place, args, named):
    check("os.exec", (args[place], args[place + 1]))


def _popen(check, args, named):
    command = args[1] if len(args) > 1 else named.get("args", "")
    words = [command] if isinstance(command, (str, bytes, os.PathLike)) else list(command)
    if named.get("shell"):
        words = ["sh", "-c", *words]
    check("subprocess.Popen", (named.get("executable") or (words or [""])[0], words))


def _connecting(check, event, args, named):
    check(event, (args[0], args[-1]))


def _looking_up(check, event, args, named):
    check(event, (args[0] if args else named.get("host", ""),))

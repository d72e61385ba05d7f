"""Starts Python: child processes that answer requests, isolated from the files of the working folder.

A child is ``python -I`` in a folder of the interpreter. It gets the search path of this process, without relative
entries, the working folder and the folders that are checked, so nothing there can be imported, whatever start method
the host has chosen for its own processes. Requests and answers are what `marshal` writes (it takes bytes and names that
are not UTF-8, and running code is no part of reading it); each is preceded by its length. A child ends when this
process does."""

from __future__ import annotations

import contextlib
import importlib
import marshal
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any

import msgspec

from npulint.core.atomic_files import put

_BOOT = "import sys; sys.path[:] = sys.argv[2:]; from npulint.core.processes import serve; serve(sys.argv[1])"
_LENGTH = 8  # bytes of the length of a message
_BLOCK = 1 << 20  # bytes that are read at once
_TICK = 200  # milliseconds between two looks at a child with limits
_LOOK = 0.5  # seconds between two looks of an idle child at its parent
_IDLE = 60.0  # seconds without work after which a child ends; threads of a cluster stay
_ATTEMPTS = 3  # after so many children that never came up, no more are started
_SIDE_BY_SIDE = ("npulint", "msgspec")  # what has been imported from folders where the rest is found as well


class Ended(Exception):
    """A child is gone. `failure` is why: ``start`` (it never came up), ``ended`` (by the system), ``time`` or
    ``memory`` (a limit, which `detail` names), ``closed`` (this process has ended it)."""

    def __init__(self, failure: str, detail: str = "") -> None:
        super().__init__(failure, detail)
        self.failure, self.detail = failure, detail


class ChildFault(Exception):
    """A request failed because of a fault of npulint; the text is the traceback of the child."""


class Limits(msgspec.Struct, frozen=True):
    """What answering a request may take: seconds, and bytes of memory of the process."""

    seconds: float
    memory: int


def own_interpreter() -> str:
    """The interpreter that runs this process."""
    return sys.executable


def neutral_folder() -> str:
    """A folder for processes to start in that only who installs Python may write: that of the interpreter."""
    return sys.base_prefix if os.path.isdir(sys.base_prefix) else os.path.abspath(os.sep)


def is_inside(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies below it; both without links."""
    return path == folder or path.startswith(os.path.join(folder, ""))


def search_path(folders: Iterable[str] = ()) -> list[str]:
    """The absolute entries of this process's `sys.path` that do not lie in the working folder or in `folders`. What the
    interpreter itself and npulint are installed in stays, wherever it is."""
    kept_out = {os.path.realpath(folder) for folder in (os.curdir, *folders)}
    homes, installed = _homes(), _installed(kept_out)
    entries = []
    for entry in map(os.path.abspath, filter(_is_text, sys.path)):
        real = os.path.realpath(entry)
        foreign = any(is_inside(real, folder) for folder in kept_out)
        if not foreign or real in homes or any(is_inside(real, folder) for folder in installed):
            entries.append(entry)
    return [*entries, *(home for home in homes if home not in map(os.path.realpath, entries))]


def neutral_environment() -> dict[str, str]:
    """The environment variables for interpreters of the user, which start in the neutral folder: PYTHONPATH has its
    absolute entries outside of the working folder (there CANN has its packages), and no others."""
    folder = os.path.realpath(os.curdir)
    entries = filter(os.path.isabs, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    kept = [entry for entry in entries if not is_inside(os.path.realpath(entry), folder)]
    others = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {**others, "PYTHONPATH": os.pathsep.join(kept)} if kept else others


def _is_text(entry: object) -> bool:
    return isinstance(entry, str)  # hosts put paths of other types there, which imports ignore


def _homes() -> list[str]:
    """The folders from which npulint and what it needs were imported."""
    files = (getattr(sys.modules.get(name), "__file__", None) for name in _SIDE_BY_SIDE)
    return list(dict.fromkeys(os.path.realpath(os.path.join(file, "..", "..")) for file in files if file))


def _installed(kept_out: Iterable[str]) -> set[str]:
    """The folders of the standard library and of installed packages, and environments within the folders to be kept
    out."""
    import site

    libraries = {os.path.dirname(os.__file__), *site.getsitepackages(), site.getusersitepackages()}
    environments = {os.path.realpath(prefix) for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    within = {
        environment
        for environment in environments
        for folder in kept_out
        if environment != folder and is_inside(environment, folder)
    }
    return {*map(os.path.realpath, libraries), *within}


class Child:
    """A process that answers requests by a function of npulint, ``module:function``, whose argument and result
    `marshal` can write. Used by one thread; any may `kill` it."""

    def __init__(self, target: str, folders: Iterable[str] = ()) -> None:
        self.killed = False
        self._ready = False
        mode = ["-I", "-X", f"utf8={sys.flags.utf8_mode}", *(["-B"] if sys.dont_write_bytecode else [])]
        try:
            self._process = subprocess.Popen(
                [own_interpreter(), *mode, "-c", _BOOT, target, *search_path(folders)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=neutral_folder(),
                start_new_session=True,  # Ctrl-C reaches this process alone, which ends the child
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        except (OSError, ValueError) as error:
            raise Ended("start", str(error)) from error
        self.pid = self._process.pid

    def ask(self, request: Any, limits: Limits | None = None) -> Any:
        """The answer to a request. Relative paths mean the same as here. Raises `Ended`, and what the function raises:
        `NpulintError`, or else `ChildFault`."""
        message = marshal.dumps((os.getcwd(), request))
        try:
            if not self._ready:
                self._message(limits)
                self._ready = True
            _send(_descriptor(self._process.stdin), message)
            answer = self._message(limits)
        except (OSError, EOFError) as error:
            failure = "ended" if self._ready else "start"
            raise Ended("closed" if self.killed else failure) from error
        return _unpacked(*marshal.loads(answer))

    def _message(self, limits: Limits | None) -> bytes:
        """The next message of the child. Raises `Ended` where a limit is exceeded, `EOFError` at its end."""
        descriptor = _descriptor(self._process.stdout)
        if limits is not None:
            self._wait(descriptor, limits)
        return _received(descriptor)

    def _wait(self, descriptor: int, limits: Limits) -> None:
        """Wait for a message, or for the end of the process."""
        import select

        end = time.monotonic() + limits.seconds
        waiting = select.poll()  # select() takes no more than 1024 files
        waiting.register(descriptor, select.POLLIN)
        while not waiting.poll(_TICK):
            if time.monotonic() > end:
                raise Ended("time", f"> {limits.seconds:g} s")
            if self.memory() > limits.memory:
                raise Ended("memory", f"> {limits.memory >> 20} MB")

    def memory(self) -> int:
        """The bytes of memory of the process; 0 where that is not known."""
        try:
            with open(f"/proc/{self.pid}/statm", "rb") as stream:
                return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):
            return 0

    def kill(self) -> None:
        """End the process; a thread that waits for its answer gets `Ended`."""
        self.killed = True
        self._process.kill()

    def close(self) -> None:
        """End the process, and forget it: no thread waits for its answer."""
        self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._process.wait()


class Children:
    """A child for each thread that asks, started when it is needed. One whose memory exceeds `worn` bytes after an
    answer gives way to a new one (0: none does)."""

    def __init__(self, target: str, folders: Iterable[str] = (), worn: int = 0) -> None:
        self.started: set[Child] = set()
        self._target, self._folders, self._worn = target, tuple(folders), worn
        self._failures = 0  # to start, since the last child that answered
        self._own = threading.local()

    def ask(self, request: Any, limits: Limits | None = None) -> Any:
        """The answer of this thread's child, as `Child.ask`. If the system ends a child that has answered before, a new
        one is asked."""
        used: Child | None = getattr(self._own, "child", None)
        used = used if used in self.started else None
        try:
            return self._asked(used or self._new(), request, limits)
        except Ended as ended:
            if used is None or ended.failure != "ended":
                raise
        return self._asked(self._new(), request, limits)

    def _asked(self, child: Child, request: Any, limits: Limits | None) -> Any:
        self._own.child = None
        try:
            answer = child.ask(request, limits)
        except Ended as ended:
            self._failures += ended.failure == "start"
            self._discard(child)
            raise
        except Exception:
            self._own.child = child
            raise
        self._failures = 0
        if self._worn and child.memory() > self._worn:
            self._discard(child)
        else:
            self._own.child = child
        return answer

    def _new(self) -> Child:
        if self._failures >= _ATTEMPTS:  # the host is no Python that can be started: do not try for each request
            raise Ended("start")
        child = Child(self._target, self._folders)
        self.started.add(child)
        return child

    def _discard(self, child: Child) -> None:
        child.close()
        self.started.discard(child)

    def kill(self) -> None:
        """End all children; threads that wait for answers get `Ended`."""
        for child in list(self.started):
            child.kill()

    def close(self) -> None:
        """End all children; no thread waits for answers."""
        for child in list(self.started):
            self._discard(child)


class ChildPool:
    """Threads with a child each. A context manager: at the end, whatever is under way is ended."""

    def __init__(self, target: str, number: int, folders: Iterable[str] = ()) -> None:
        self._children = Children(target, folders)
        self._threads = ThreadPoolExecutor(number)

    def __enter__(self) -> ChildPool:
        return self

    def __exit__(self, *error: object) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._children.kill()
        self._threads.shutdown()
        self._children.close()

    def submit(self, request: Callable[[], Any]) -> Future[Any]:
        """The answer to what `request` returns; it raises what `Children.ask` raises. Requests are made when a thread
        is ready for them."""
        return self._threads.submit(lambda: self._children.ask(request()))


def serve(target: str) -> None:
    """Answer the requests of the parent process until it ends or needs no more; never returns."""
    import gc
    from queue import Empty, SimpleQueue

    parent = os.getppid()
    requests: SimpleQueue[bytes] = SimpleQueue()
    source, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)  # nothing else may write to the answers
    threading.Thread(target=_receive, args=(source, requests.put), daemon=True).start()
    gc.disable()  # who does the work collects between projects
    module, _, name = target.partition(":")
    function = getattr(importlib.import_module(module), name)
    _send(answers, b"")
    used = time.monotonic()
    while time.monotonic() - used < _IDLE and os.getppid() == parent:
        with contextlib.suppress(Empty):
            folder, request = marshal.loads(requests.get(timeout=_LOOK))
            _send(answers, marshal.dumps(_packed(function, folder, request)))
            used = time.monotonic()
    os._exit(0)


def _receive(source: int, take: Callable[[bytes], None]) -> None:
    """Read requests while others are answered, so that the end of the parent is noticed at any time."""
    try:
        while True:
            take(_received(source))
    except (OSError, EOFError):
        os._exit(1)


def _packed(function: Callable[[Any], Any], folder: str, request: Any) -> tuple[str, Any]:
    """An answer or an error as a message."""
    from npulint.core.errors import CatalogueError, ConfigError, NpulintError

    try:
        os.chdir(folder)
        return "answer", function(request)
    except CatalogueError as error:
        return "catalogue", msgspec.to_builtins(error.problems)
    except ConfigError as error:
        return "configuration", error.problems
    except NpulintError as error:
        return "user", str(error)
    except Exception:
        import traceback

        return "fault", traceback.format_exc()


def _unpacked(kind: str, content: Any) -> Any:
    """The answer in a message. Raises the error in it."""
    if kind == "answer":
        return content
    from npulint.core.errors import CatalogueError, CatalogueProblem, ConfigError, NpulintError

    if kind == "catalogue":
        raise CatalogueError(msgspec.convert(content, list[CatalogueProblem]))
    if kind == "configuration":
        raise ConfigError(content)
    raise NpulintError(content) if kind == "user" else ChildFault(content)


def _descriptor(stream: IO[bytes] | None) -> int:
    assert stream is not None
    return stream.fileno()


def _send(descriptor: int, message: bytes) -> None:
    put(descriptor, len(message).to_bytes(_LENGTH, "little"))
    put(descriptor, message)


def _received(descriptor: int) -> bytes:
    return _exactly(descriptor, int.from_bytes(_exactly(descriptor, _LENGTH), "little"))


def _exactly(descriptor: int, number: int) -> bytes:
    """This many bytes. Raises `EOFError` if there are not as many."""
    pieces = []
    while number:
        piece = os.read(descriptor, min(number, _BLOCK))
        if not piece:
            raise EOFError
        pieces.append(piece)
        number -= len(piece)
    return b"".join(pieces)

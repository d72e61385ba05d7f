"""The processes of a trial: started together, ended together, and what they showed as that of one program."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import closing

import msgspec

from npulint.fakes.orders import CALLED, END, ENDED, HERE, IDLE, RECORDING, Called, Ended
from npulint.fakes.supervision.supervised import Program

_POLL = 0.1  # seconds
_PATIENCE = 20  # seconds that ranks may need longer than the first one
_LEAVE = 5  # seconds in which a process that is told to end writes
_LIMIT = 256 << 20  # bytes of what a process wrote


class Part(msgspec.Struct):
    """What one process left: `folder` has its recording, if it ended as a process of a trial does."""

    folder: str
    ended: Ended
    called: list[Called] = []

    @property
    def recording(self) -> str:
        """The path of its recording."""
        return os.path.join(self.folder, RECORDING)


def variables(ranks: int, rank: int, port: int) -> dict[str, str]:
    """What a launcher tells a rank, all on one machine."""
    return {
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
    }


def free_port() -> int:
    """A port of this machine that nothing uses."""
    with closing(socket.socket()) as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def wait(processes: Sequence[Program], record: str, seconds: float) -> None:
    """Wait until the program has ended, or for the time limit, and let all of its processes end."""
    started = time.monotonic()
    first_end = 0.0
    while True:
        states = list(_states(record))
        ended = [state for state in states if state[1]]
        first_end = first_end or (time.monotonic() if ended else 0.0)
        codes = [process.poll() for process in processes]
        if None not in codes or any(codes) or _is_over(states, first_end):
            return _end(record, processes, "others")
        if _is_stuck(states):
            return _end(record, processes, "stuck")
        if time.monotonic() - started > seconds:
            return _end(record, processes, "time")
        time.sleep(_POLL)


def _states(record: str) -> Iterator[tuple[str, bool, bool]]:
    """Each process: its folder, whether it ended, and whether it worked on the NPU."""
    with os.scandir(record) as entries:
        folders = sorted(entry.path for entry in entries if entry.is_dir())
    for folder in folders:
        done, here = (os.path.exists(os.path.join(folder, name)) for name in (ENDED, HERE))
        yield folder, done, here


def _is_over(states: Sequence[tuple[str, bool, bool]], first_end: float) -> bool:
    """Whether those that work on the NPU have ended, or one of them failed."""
    ends = {folder: _ended(folder) for folder, done, _ in states if done}
    if any(ended is not None and ended.how in ("error", "exit") for ended in ends.values()):
        return True
    if not any(_counts(ends[folder]) for folder, done, here in states if done and here):
        return False
    waits = any(here and not done for _, done, here in states)
    return not waits or time.monotonic() - first_end > _PATIENCE


def _is_stuck(states: Sequence[tuple[str, bool, bool]]) -> bool:
    """Whether each rank that is left waits for others."""
    left = [folder for folder, done, here in states if here and not done]
    return bool(left) and all(os.path.exists(os.path.join(folder, IDLE)) for folder in left)


def _counts(ended: Ended | None) -> bool:
    """Whether an end is one that all wait for: not that of a helper which returned."""
    return ended is not None and ended.how not in ("end", "others")


def _end(record: str, processes: Sequence[Program], why: str) -> None:
    """Tell all processes to end, and give them time to write."""
    with open(os.path.join(record, f"{END}.part"), "w", encoding="utf-8") as file:
        file.write(why)
    os.rename(os.path.join(record, f"{END}.part"), os.path.join(record, END))
    until = time.monotonic() + _LEAVE
    while time.monotonic() < until:
        if all(done for _, done, _ in _states(record)) or all(process.poll() is not None for process in processes):
            return
        time.sleep(_POLL)


def parts(record: str) -> list[Part]:
    """What the processes left, by rank."""
    left = []
    for folder, _, here in _states(record):
        called = _called(os.path.join(folder, CALLED))
        ended = _ended(folder)
        if ended is None and (here or called):
            rank = called[0].rank if called else 0
            ended = Ended("lost", rank=rank)
        if ended is not None:
            left.append(Part(folder, ended, called))
    return sorted(left, key=lambda part: (part.ended.rank, part.folder))


def _ended(folder: str) -> Ended | None:
    try:
        content = _read(os.path.join(folder, ENDED))
        return msgspec.json.decode(content, type=Ended) if content else None
    except msgspec.DecodeError:
        return None


def _called(path: str) -> list[Called]:
    calleds = []
    for line in _read(path).splitlines():
        try:
            calleds.append(msgspec.json.decode(line, type=Called))
        except msgspec.DecodeError:
            continue  # the last line of a process that was killed
    return calleds


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_LIMIT)
    except OSError:
        return b""

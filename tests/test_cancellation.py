"""Work ends at its next checkpoint when it is no longer needed, in its own thread only."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from npulint.commands.session import Session
from npulint.core.cancellation import Cancellation, CancelledError, cancelled_by, checkpoint
from npulint.judge.settings import Settings


def test_nothing_ends_unasked() -> None:
    checkpoint()
    with cancelled_by(Cancellation()):
        checkpoint()


def test_work_ends_at_a_checkpoint_and_the_thread_goes_on() -> None:
    cancellation = Cancellation()
    with pytest.raises(CancelledError), cancelled_by(cancellation):
        _requested(cancellation)
    checkpoint()


def test_work_cancelled_before_it_begins_does_not_begin() -> None:
    cancellation = Cancellation()
    cancellation.request()
    with pytest.raises(CancelledError), cancelled_by(cancellation):
        raise AssertionError("it has begun")


def test_inner_work_leaves_the_outer_cancellation_in_force() -> None:
    outer = Cancellation()

    def work() -> None:
        with cancelled_by(Cancellation()):
            _requested(outer)
        checkpoint()

    with pytest.raises(CancelledError), cancelled_by(outer):
        work()


def test_other_threads_go_on() -> None:
    cancellation = Cancellation()
    ended: list[bool] = []

    def work() -> None:
        checkpoint()
        ended.append(True)

    with cancelled_by(cancellation):
        cancellation.request()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert ended == [True]


def test_a_cancelled_check_changes_nothing_of_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "import torch\nimport torch.distributed as dist\ndist.init_process_group('nccl')\n"
    for name in ("a.py", "b.py", "c.py"):
        Path(name).write_text(text)
    settings = Settings(paths=(".",), cache=False)
    session = Session(settings)
    session.check("a.py")
    for number in range(1, 4):
        edited = f"{'#' * number}\n" * number + text + f"x = {number}\n"
        session.change("a.py", edited.encode())
        cancellation = _After(number)
        with pytest.raises(CancelledError), cancelled_by(cancellation):
            session.check("a.py")
        fresh = Session(settings)
        fresh.change("a.py", edited.encode())
        assert session.check("a.py") == fresh.check("a.py")


def _requested(cancellation: Cancellation) -> None:
    cancellation.request()
    checkpoint()


class _After(Cancellation):
    """A request that comes after some checkpoints."""

    def __init__(self, checkpoints: int) -> None:
        self._left = checkpoints

    @property
    def requested(self) -> bool:  # type: ignore[override]
        self._left -= 1
        return self._left < 0

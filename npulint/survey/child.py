"""The process that checks projects, one after the other: ``python -m npulint.survey.child PARENT``.

It reads jobs from standard input, a line of JSON each, and answers each with a line. It may die: its parent notices. If
the parent dies, it ends at once."""

from __future__ import annotations

import gc
import json
import os
import select
import sys
import threading
import time
from typing import Any

import msgspec

from npulint.survey.model import Job, Plan

_LOOK = 0.5  # seconds between two looks at the parent
_IDLE = 60.0  # seconds without work after which the process ends; workers of a cluster stay


def main(parent: int) -> None:
    """Answer all jobs."""
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # nothing else may write to the answers
    gc.disable()  # it is collected between projects
    from npulint.survey.check import check

    while select.select([sys.stdin], [], [], _IDLE)[0] and (line := sys.stdin.readline()):
        plan, job = _decoded(json.loads(line))
        known = check(plan, job)
        gc.collect()
        answers.write(json.dumps({"known": known}) + "\n")
        answers.flush()


def encoded(plan: Plan, job: Job) -> bytes:
    """A job as a line. Paths may contain bytes that are not UTF-8, which msgspec does not write."""
    return json.dumps({"plan": msgspec.to_builtins(plan), "job": msgspec.to_builtins(job)}).encode("ascii") + b"\n"


def _decoded(message: dict[str, Any]) -> tuple[Plan, Job]:
    return msgspec.convert(message["plan"], Plan), msgspec.convert(message["job"], Job)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""Checks projects in a process of its own for each thread, and ends the process that takes too much."""

from __future__ import annotations

import msgspec

from npulint import __version__
from npulint.core.processes import Children, Ended, Limits
from npulint.survey.model import Job, Plan
from npulint.survey.parts import write_part
from npulint.survey.rows import failed

_WORN = 600 << 20  # bytes of memory after which a process gives way to a new one
CHILDREN = Children("npulint.survey.check:answer", worn=_WORN)
"""The processes of all threads of this one."""


class VersionError(Exception):
    """A machine of the cluster has another npulint."""


def checked(plan: Plan, job: Job) -> bool:
    """Have a project checked, and its part kept whatever happens; returns whether it was known already. Runs in any
    thread, of this machine or of a cluster. Raises `VersionError`."""
    if plan.version != __version__:
        raise VersionError(f"{__version__} != {plan.version}")
    if job.failure:
        write_part(plan.out, job.identity, failed(job, job.failure, job.detail))
        return False
    try:
        known: bool = CHILDREN.ask(_request(plan, job), Limits(plan.seconds, plan.memory))
    except Ended as ended:
        if ended.failure == "closed":  # the survey is interrupted
            raise InterruptedError from None
        failure = "ended" if ended.failure == "start" else ended.failure
        write_part(plan.out, job.identity, failed(job, failure, ended.detail))
        return False
    return known


def _request(plan: Plan, job: Job) -> tuple[object, object]:
    return msgspec.to_builtins(plan), msgspec.to_builtins(job)

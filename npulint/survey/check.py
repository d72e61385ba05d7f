"""Checks one project of a survey, in the process that was started for it, and keeps its part and its report."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable
from functools import cache

import msgspec

from npulint.commands.check.pipeline import run
from npulint.commands.settings.config import load
from npulint.core.digest import blake2b
from npulint.core.errors import CatalogueError, NpulintError
from npulint.discover.repository import Repository, repository_around
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines
from npulint.report.rule_pages import pages_of
from npulint.report.view import ProjectStamp, ReportView, RulePage, render_parts
from npulint.survey.inputs import exclusion
from npulint.survey.model import CHECKED, Job, Plan
from npulint.survey.parts import REPORTS, read_part, read_report, report_path, write_file, write_part
from npulint.survey.rows import content_of, failed, part_of


def answer(request: tuple[object, object]) -> bool:
    """What `check` returns for the plan and the job of a request; called in the process that was started for it."""
    was_checked = check(msgspec.convert(request[0], Plan), msgspec.convert(request[1], Job))
    gc.collect()
    return was_checked


def check(plan: Plan, job: Job) -> bool:
    """Make the part of a project, and its report if wanted; returns whether it had a valid one already. Changes the
    working directory, so that the paths of results are relative to the project."""
    begun = time.perf_counter()
    try:
        os.chdir(job.path)
        settings = _settings(plan, job)
        content = content_of(settings, plan, job, _catalogue(settings.checks))
        if _is_valid(plan, job, content.digest):
            return True
        result = run(settings)
        repository = repository_around(".")
        report, digest = _reported(result, settings, plan, job, repository) if plan.reports else ("", "")
        part = part_of(result, job, content, repository.commit if repository else "", report)
        part = msgspec.structs.replace(part, report_digest=digest)
    except OSError as error:  # the folder is gone
        part = failed(job, "missing", error.strerror or type(error).__name__)
    except (NpulintError, CatalogueError) as error:
        part = failed(job, "configuration", str(error))
    except MemoryError:
        part = failed(job, "memory")
    except Exception as error:  # a fault of npulint in one of thousands of projects
        part = failed(job, "internal", f"{type(error).__name__}: {error}")
    project = msgspec.structs.replace(part.project, seconds=round(time.perf_counter() - begun, 3))
    write_part(plan.out, job.identity, msgspec.structs.replace(part, project=project))
    return False


def _is_valid(plan: Plan, job: Job, digest: str) -> bool:
    """Whether the part that is kept of a project, and its report, are those of its present content. The report may be a
    newer one: that of a run which was killed before it kept its part."""
    part = read_part(plan.out, job.identity)
    if part is None or part.project.status != CHECKED or part.digest != digest:
        return False
    return not plan.reports or part.report_digest == _digest(read_report(plan.out, job.identity))


def _digest(report: bytes) -> str:
    return blake2b(report, digest_size=16).hexdigest()


def _settings(plan: Plan, job: Job) -> Settings:
    """The settings of `npulint check` in the working directory, without the projects within this one."""
    settings = load(["."], {**plan.words, "lang": [plan.lang]}, os.environ)
    nested = tuple(exclusion(path, settings.base or ".") for path in job.exclude)
    return msgspec.structs.replace(settings, extend_exclude=(*settings.extend_exclude, *nested), jobs=1)


@cache
def _catalogue(folders: tuple[str, ...]) -> str:
    return load_catalogue(folders, whole=False).digest


@cache
def _pages(folders: tuple[str, ...], lang: str) -> Callable[[str], RulePage | None]:
    return pages_of(Settings(checks=folders, lang=lang))


def _reported(
    result: RunResult, settings: Settings, plan: Plan, job: Job, repository: Repository | None
) -> tuple[str, str]:
    """Write the HTML report of a project; returns its path relative to the survey, and its digest."""
    view = ReportView(
        lang=plan.lang,
        shown_from="note",
        lines=FileLines(boundary=settings.boundary()),
        page=_pages(settings.checks, plan.lang),
        project=ProjectStamp(job.name, repository.commit if repository else "", ""),
        source_url=repository.file_url(".") if repository else "",
    )
    data = "".join(render_parts("html", result, view)).encode("utf-8", "backslashreplace")
    write_file(report_path(plan.out, job.identity), data)
    return f"{REPORTS}/{job.identity}.html", _digest(data)

"""Checks of the engine itself: about unreadable files and invalid suppression comments."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.core.texts import known, say
from npulint.facts.model import Problem, Span
from npulint.judge.findings import Finding, Fix


class EngineRule(msgspec.Struct, frozen=True):
    """A check of the engine; it is an `Identity` like checks of the catalogue."""

    code: str
    name: str
    topic: str
    category: str
    severity: str
    confidence: str = "high"


SYNTAX_ERROR = EngineRule("NPU0101", "syntax-error", "parse", "functional", "warning")
FILE_NOT_READ = EngineRule("NPU0102", "file-not-read", "parse", "functional", "warning")
UNUSED_SUPPRESSION = EngineRule("NPU0401", "unused-suppression", "other", "hygiene", "note")
INVALID_SUPPRESSION = EngineRule("NPU0402", "invalid-suppression", "other", "hygiene", "warning")

ENGINE_RULES = (SYNTAX_ERROR, FILE_NOT_READ, UNUSED_SUPPRESSION, INVALID_SUPPRESSION)

_SYNTAX = ("syntax-error", "newer-python", "python2", "python2-read")
_DEPENDS = ("newer-python",)  # whether the file is wrong depends on the Python of the server
_READ_ANYWAY = ("encoding", "python2-read")  # unless fatal: Python 3 rejects the file, but all of it was read


def finding(rule: EngineRule, path: str, span: Span, message: str, why: str, fix: str) -> Finding:
    """A finding of the engine with its texts."""
    return Finding(
        code=rule.code,
        name=rule.name,
        topic=rule.topic,
        category=rule.category,
        severity=rule.severity,
        confidence=rule.confidence,
        path=path,
        span=span,
        message=message,
        why=why,
        fix=Fix(fix),
    )


def of_problems(problems: Sequence[Problem], lang: str) -> list[Finding]:
    """A finding for every file, or part of one, that was not read."""
    return [_of_problem(problem, lang) for problem in problems]


def _of_problem(problem: Problem, lang: str) -> Finding:
    rule = SYNTAX_ERROR if problem.reason in _SYNTAX else FILE_NOT_READ
    reason = problem.reason if known(f"problem.{problem.reason}") else "other"
    anyway = reason in _READ_ANYWAY and not problem.fatal
    message = say(lang, "doubt.encoding" if anyway and reason == "encoding" else f"problem.{reason}")
    detail = problem.detail if reason == problem.reason else problem.detail or problem.reason
    if detail:
        message = say(lang, "problem.detail", text=message, detail=detail)
    why = say(lang, "doubt.why" if anyway else "problem.why" if problem.fatal else "problem.why.part")
    if reason in _DEPENDS:
        rule = msgspec.structs.replace(rule, severity="note")
    return finding(rule, problem.path, problem.span, message, why, say(lang, f"fix.{reason}"))

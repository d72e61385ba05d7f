"""The words of a verdict, the same in every report and command: they say what was judged, and never claim success."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from npulint.core.texts import count, say
from npulint.judge.summaries.verdict import Verdict
from npulint.report.view import fields_of


def headline(verdict: Verdict, lang: str) -> str:
    """The first statement: whether training programs reach the NPU and stop, or that none was recognised, with training
    code or without."""
    if verdict.training:
        return _of_training(verdict, lang)
    if not verdict.read and not verdict.frameworks:
        return say(lang, "verdict.nothing")
    if verdict.steps:
        return count(lang, "verdict.steps", verdict.steps)
    if verdict.graphs or verdict.runs:
        subjects = [(word, getattr(verdict, word)) for word in ("graphs", "runs")]
        return say(lang, "list.and").join(count(lang, f"verdict.{word}", number) for word, number in subjects if number)
    if verdict.unstarted:
        return count(lang, "verdict.unstarted", verdict.unstarted)
    if verdict.frameworks:
        return say(lang, "verdict.unrecognised")
    return count(lang, f"verdict.{'unused' if verdict.word == 'unused' else 'files'}", verdict.read)


def _of_training(verdict: Verdict, lang: str) -> str:
    numbers = {
        "away": verdict.away,
        "stops": verdict.stopping,
        "doubt": verdict.in_doubt,
        "unplaced": verdict.unplaced,
        "wrong": verdict.deviating,
    }
    total = len(verdict.training)
    for word, number in numbers.items():
        if number and total == 1:
            return say(lang, f"verdict.{word}.only")
        if number:
            return count(lang, f"verdict.{word}{'.all' if number == total else ''}", number, all=total)
    found = ".wrong" if verdict.wrong else ".slows" if verdict.slows else ""
    return count(lang, f"verdict.quiet{found}", total)


def _details(verdict: Verdict, lang: str) -> Iterator[str]:
    """The further statements, which begin with a small letter."""
    if verdict.away and verdict.stopping:
        yield count(lang, "verdict.also-stops", verdict.stopping)
    if verdict.unplaced and (verdict.away or verdict.stopping or verdict.in_doubt):
        yield count(lang, "verdict.also-unplaced", verdict.unplaced)
    if verdict.library:
        yield say(lang, "verdict.library")
    found = _found(verdict, lang)
    if verdict.needing_cuda:
        key = "verdict.scripts.other" if verdict.training else "verdict.scripts"
        yield count(lang, key, len(verdict.needing_cuda))
    if found:
        yield say(lang, "verdict.found", list=say(lang, "list.and").join(found))
    elif verdict.read and not verdict.frameworks and verdict.word != "unused":
        yield say(lang, "verdict.none")
    if verdict.unplaced and not verdict.stops and not verdict.away:
        yield say(lang, "verdict.none.stops")
    failed = sum(program.failed for program in verdict.training)
    for word, number in (
        ("failed", failed if not (verdict.away or verdict.stops or verdict.wrong) else 0),
        ("items", verdict.undetermined),
        ("compare", verdict.to_compare),
        ("silent", verdict.silent),
        ("unread", verdict.unread if verdict.read else 0),
        ("not-recognised", verdict.not_recognised),
    ):
        if number:
            yield count(lang, f"verdict.{word}", number)
    if verdict.selective and verdict.frameworks:
        yield say(lang, "verdict.selective")


def _found(verdict: Verdict, lang: str) -> list[str]:
    """The numbers of findings by what they mean."""
    elsewhere = bool(verdict.training) and not any(program.stops for program in verdict.training)
    numbers = (
        ("elsewhere" if elsewhere else "stops", verdict.stops),
        ("unused", verdict.unused),
        ("wrong", verdict.wrong),
        ("slows", verdict.slows),
        ("notes" if verdict.notes == verdict.total and not verdict.slows else "others", verdict.others),
    )
    return [count(lang, f"verdict.found.{word}", number) for word, number in numbers if number]


def sentence(verdict: Verdict, lang: str) -> str:
    """The whole verdict as one sentence, without its full stop."""
    return say(lang, "list.clause").join([headline(verdict, lang), *_details(verdict, lang)])


def told(verdict: Verdict, lang: str) -> str:
    """The whole verdict as one sentence with its full stop."""
    return sentence(verdict, lang) + say(lang, "verdict.end")


def statements(verdict: Verdict, lang: str) -> list[str]:
    """The further statements as sentences of their own."""
    end = say(lang, "verdict.end")
    return [f"{text[:1].upper()}{text[1:]}{end}" for text in _details(verdict, lang)]


_COUNTED = "total errors warnings notes stops unused wrong slows others"
_PROGRAM = "entry runs_on stops errors wrong slows failed undetermined to_compare"


def verdict_record(verdict: Verdict, lang: str) -> dict[str, Any]:
    """The verdict for programs: its word, its text and its numbers."""
    return {
        "word": verdict.word,
        "text": sentence(verdict, lang),
        "programs": verdict.programs,
        "training": [fields_of(program, _PROGRAM) for program in verdict.training],
        "needing_cuda": list(verdict.needing_cuda),
        "counts": fields_of(verdict, _COUNTED),
        "undetermined": verdict.undetermined,
        "to_compare": verdict.to_compare,
        "not_understood": fields_of(verdict, "unread partly_read not_recognised silent"),
        "selective": verdict.selective,
    }

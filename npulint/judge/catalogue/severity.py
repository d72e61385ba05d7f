"""How severe a check is: it follows from what happens to the run, and when.

A check declares its `consequence` and when it `occurs`; `_TABLE` gives the severity, by the confidence of the check. So
checks with the same consequence are equally severe, whoever wrote them. A check may deviate only with a reason in its
file. How surely a run comes to a place is known of each finding, not of a check: see `where_unsure`.
"""

from __future__ import annotations

from npulint.judge.findings import CONFIDENCES

STOPS = "stops"
WRONG_RESULT = "wrong-result"
HYGIENE = "hygiene"
CONSEQUENCES = (
    STOPS,  # the run does not start, ends with an error, or waits forever
    WRONG_RESULT,  # it trains, saves or measures something else than intended, without an error
    "wasted-device",  # the whole training runs on the host, without an error
    "idle-devices",  # some devices have nothing to do, or several do the work of one
    "much-slower",  # the step, or a part of it, takes a multiple of the time that it needs
    "slower",  # something takes longer, or more memory, than it could
    "other-numbers",  # numbers differ by rounding, order or chance; the training is alike
    HYGIENE,  # nothing happens in this run
)
ALWAYS = "always"
ON_SOME_CHIPS = "on-some-chips"
IF_REACHED = "if-reached"
IF_CHOSEN = "if-chosen"
OCCURRENCES = (
    ALWAYS,  # in every run that comes to the place
    "some-runs",  # it depends on the data, on how the program is started, on what was intended, or on luck
    ON_SOME_CHIPS,  # on one generation of chips, or with some releases
    IF_REACHED,  # as in some runs, but only where the program surely comes to the place; elsewhere it is a note
    IF_CHOSEN,  # only where an option, a branch, a caller or an installed package that is not seen leads to it
)

_Levels = tuple[str, str, str]  # with high, medium and low confidence
_NOTES: _Levels = ("note", "note", "note")
_IF_SURE: _Levels = ("warning", "note", "note")
_UNLESS_UNSURE: _Levels = ("warning", "warning", "note")
_WARNINGS: _Levels = ("warning", "warning", "warning")
_ERROR_IF_SURE: _Levels = ("error", "warning", "warning")
_ERRORS: _Levels = ("error", "error", "warning")
_TABLE: dict[str, tuple[_Levels, _Levels]] = {  # by consequence: if it always occurs; if it does in some runs only
    STOPS: (_ERRORS, _UNLESS_UNSURE),
    WRONG_RESULT: (_ERROR_IF_SURE, _WARNINGS),
    "wasted-device": (_ERRORS, _UNLESS_UNSURE),
    "idle-devices": (_UNLESS_UNSURE, _UNLESS_UNSURE),
    "much-slower": (_UNLESS_UNSURE, _IF_SURE),
    "slower": (_NOTES, _NOTES),
    "other-numbers": (_NOTES, _NOTES),
    HYGIENE: (_NOTES, _NOTES),
}


def severity_of(consequence: str, occurs: str, confidence: str, on_named_chips: bool = False) -> str:
    """The severity of a check. `on_named_chips`: it names the chips where it occurs, and is as severe only there; on
    these it always occurs. Raises `KeyError` or `ValueError` for an unknown word."""
    always, sometimes = _TABLE[consequence]
    if occurs not in OCCURRENCES:
        raise ValueError(occurs)
    if occurs == IF_CHOSEN:
        return "note"
    levels = always if occurs == ALWAYS or (occurs == ON_SOME_CHIPS and on_named_chips) else sometimes
    return levels[CONFIDENCES[::-1].index(confidence)]


def where_unsure(severity: str, occurs: str) -> str:
    """The severity of a finding at a place that the entry script does not surely come to: no error, and a note if the
    consequence occurs only where a run comes to it."""
    if occurs == IF_REACHED:
        return "note"
    return "warning" if severity == "error" else severity

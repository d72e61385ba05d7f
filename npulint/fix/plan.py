"""Plans a fix: each step by the planner for the kind of its file."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from npulint.fix.edits import coherent
from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.judge.findings import Edit, FixEdit, FixStep

Texts = Callable[[str], Text]
_ACROSS = ("mixlist", "mixed_precision", "ranks", "sibling")  # verbs that may change several files
_TAKE_AWAY = ("delete", "insert", "replace", "wrap")  # verbs that may remove the binding of a used name


def planned(change: FixEdit, text_of: Texts) -> Plan:
    """All edits and imports of a fix. Raises `FixRefused` when a step cannot be applied, steps conflict, or nothing is
    left to do."""
    edits: list[Edit] = []
    requests: list[ImportRequest] = []
    copied = ""
    for steps in _together(change.steps):
        try:
            plan = _plan(steps, text_of)
        except FixRefused as refused:
            refused.path = refused.path or steps[0].path
            raise
        copied = copied or plan.copied
        edits += plan.edits
        requests += plan.imports
    if not edits and not requests:
        raise FixRefused("nothing")
    return Plan(coherent(_joined(edits)), tuple(dict.fromkeys(requests)), copied)


def _together(steps: Sequence[FixStep]) -> list[list[FixStep]]:
    """The steps by file, because steps about one call depend on each other; those over several files separately."""
    groups: dict[object, list[FixStep]] = {}
    for number, step in enumerate(steps):
        groups.setdefault(number if step.verb in _ACROSS else step.path, []).append(step)
    return list(groups.values())


def _plan(steps: Sequence[FixStep], text_of: Texts) -> Plan:
    text = text_of(steps[0].path)
    if steps[0].verb in _ACROSS:
        return _over_files(steps[0], text, text_of)
    if text.kind == "python":
        from npulint.fix import python
        from npulint.fix.python.remaining_uses import still_bound

        plan = python.plan_all(steps, text)
        if any(step.verb in _TAKE_AWAY for step in steps):
            still_bound(text, plan)
        return plan
    if text.kind == "shell":
        from npulint.fix import shell

        plans = [shell.plan(step, text) for step in steps]
        return Plan(
            tuple(edit for plan in plans for edit in plan.edits),
            tuple(request for plan in plans for request in plan.imports),
        )
    if text.kind in ("dependency", "dockerfile", "configuration", "data"):
        from npulint.fix import lines

        return Plan(tuple(edit for step in steps for edit in lines.plan(step, text).edits))
    if text.kind == "mixlist":
        from npulint.fix import mixlist

        plans = [mixlist.plan(step, text, text_of) for step in steps]
        return Plan(tuple(edit for plan in plans for edit in plan.edits))
    raise FixRefused("notebook" if text.kind == "notebook" else "kind")


def _over_files(step: FixStep, text: Text, text_of: Texts) -> Plan:
    """The plan of a step that may change or create several files."""
    if step.verb == "mixlist":
        from npulint.fix import mixlist

        return mixlist.plan(step, text, text_of)
    if step.verb == "sibling":
        from npulint.fix import sibling

        return sibling.plan(step, text, text_of)
    if step.verb == "ranks":
        from npulint.fix.python import ranks

        return ranks.plan(step, text, text_of)
    from npulint.fix.python import mixed

    return mixed.plan(step, text, text_of)


def _joined(edits: Sequence[Edit]) -> list[Edit]:
    """The edits with whole-line insertions at one place merged, in the order of the steps."""
    joined: dict[object, Edit] = {}
    for edit in dict.fromkeys(edits):
        empty = (edit.span.line, edit.span.column) == (edit.span.end_line, edit.span.end_column)
        in_lines = empty and (edit.text.startswith("\n") or edit.text.endswith("\n"))
        key: object = (edit.path, edit.span) if in_lines else edit
        earlier = joined.get(key)
        joined[key] = edit if earlier is None else Edit(edit.path, edit.span, earlier.text + edit.text)
    return list(joined.values())

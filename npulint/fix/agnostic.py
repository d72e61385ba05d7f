"""Fixes for code that is to run on GPUs and NPUs: the fixes with names of the NPU, in another spelling."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from npulint.data.port_styles import is_neutral
from npulint.facts.model import Span
from npulint.fix.fix_pass import Planner
from npulint.fix.helper_module import HELPER, HelperModule
from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.fix.python.respelling import mentions_npu, respelled
from npulint.fix.spelling import Spelling
from npulint.judge.findings import Edit, Finding, FixEdit, FixStep

_SCALER = "torch.npu.amp.GradScaler"
_FOR_NPU = re.compile(r"(?i)(?<![a-z])npus?(?![a-z])")
_TAKING_AWAY = ("delete", "replace")  # verbs that leave something out, on a GPU too
_WITHOUT_SWITCH = re.compile(r'== "npu"')
_OF_AMP = re.compile(r"[\w.]+\.npu\.amp\.(autocast|GradScaler)\(([^()]*)\)")


class AgnosticPlanner:
    """Plans fixes with `planned` and respells them; `spelling` is None if the project has no place for a helper."""

    def __init__(self, planned: Planner, spelling: Spelling | None) -> None:
        self._planned = planned
        self._spelling = spelling

    def of(self, finding: Finding) -> Planner:
        """The planner for the fixes of one finding."""
        neutral = is_neutral(finding.topic)

        def plan(change: FixEdit, text_of: Callable[[str], Text]) -> Plan:
            return self._plan(change, text_of, neutral)

        return plan

    def _plan(self, change: FixEdit, text_of: Callable[[str], Text], neutral: bool) -> Plan:
        if self._spelling is None and any(text_of(step.path).kind == "python" for step in change.steps):
            raise FixRefused("no-helper")
        change = msgspec.structs.replace(change, steps=_with_device(change.steps))
        plan = self._planned(change, text_of)
        neutral = neutral and all(step.verb not in _TAKING_AWAY for step in change.steps)
        helper = self._spelling.helper if self._spelling is not None else None
        united = Plan()
        for path in dict.fromkeys([*(e.path for e in plan.edits), *(r.path for r in plan.imports)]):
            edits = tuple(edit for edit in plan.edits if edit.path == path)
            part = Plan(edits, tuple(request for request in plan.imports if request.path == path))
            part = self._respelled(part, text_of(path), neutral, change.applicability == "safe")
            part = _beside(part, path, helper) if helper is not None else part
            united = Plan((*united.edits, *part.edits), (*united.imports, *part.imports))
        if helper is not None:
            united = msgspec.structs.replace(united, edits=(*united.edits, *_created(helper, united, text_of)))
        return united

    def _respelled(self, plan: Plan, text: Text, neutral: bool, safe: bool) -> Plan:
        if text.new:  # a launcher or an image for the NPU, beside those for GPUs
            return plan
        if text.kind == "python":
            if self._spelling is None:
                raise FixRefused("no-helper")
            if any(_OF_AMP.search(edit.text) for edit in plan.edits):
                return _on_npu_only(plan, text, self._spelling)
            return respelled(plan, text, self._spelling, neutral)
        if _FOR_NPU.search(text.path.rpartition("/")[2]):  # such a launcher or image, made before
            return plan
        if not safe or mentions_npu(edit.text for edit in plan.edits):
            raise FixRefused("changes-gpu")
        return plan


def _with_device(steps: Sequence[FixStep]) -> tuple[FixStep, ...]:
    """The steps, with ``torch.amp.GradScaler("npu")`` for the scaler of torch_npu, which takes no device."""
    if not any(step.verb == "rename" and step.words["to"] == _SCALER for step in steps):
        return tuple(steps)
    fix_steps = []
    for step in steps:
        if step.verb == "drop" and step.words.get("name") == "device":
            words = {"part": "cuda", "to": "npu", "in": "0 device"}
            fix_steps.append(FixStep("retext", step.path, step.span, words))
        elif step.verb != "rename":
            fix_steps.append(step)
    return tuple(fix_steps)


def _on_npu_only(plan: Plan, text: Text, spelling: Spelling) -> Plan:
    """A plan that adds mixed precision, which is then switched off on a GPU: autocast and scaler do nothing there."""

    def spelled(match: re.Match[str]) -> str:
        name, takes_type = spelling.name(f"torch.npu.amp.{match[1]}")
        switch = f'enabled={spelling.type} == "npu"'
        return f"{name}({', '.join(filter(None, (spelling.type if takes_type else '', match[2], switch)))})"

    edits = tuple(Edit(edit.path, edit.span, _OF_AMP.sub(spelled, edit.text)) for edit in plan.edits)
    if mentions_npu(_WITHOUT_SWITCH.sub("", edit.text) for edit in edits):
        raise FixRefused("npu-only")
    needed = dict.fromkeys(statement for edit in edits for statement in spelling.imports(edit.text))
    return Plan(edits, tuple(ImportRequest(text.path, statement, "torch") for statement in needed))


def _beside(plan: Plan, path: str, helper: HelperModule) -> Plan:
    """The plan for a file, with imports of the helper module that it finds."""
    imports = tuple(
        msgspec.structs.replace(import_request, statement=helper.imported(path, import_request.statement))
        for import_request in plan.imports
    )
    edits = tuple(msgspec.structs.replace(edit, text=helper.imported(path, edit.text)) for edit in plan.edits)
    return Plan(edits, imports)


def _created(helper: HelperModule, plan: Plan, text_of: Callable[[str], Text]) -> Iterator[Edit]:
    """The edits that create the helper modules that a plan imports, where they are missing. Raises `FixRefused` for a
    file that cannot import one."""
    starts = (f"from {helper.name} import ", f"from {HELPER} import ")
    users = [import_request.path for import_request in plan.imports if import_request.statement.startswith(starts)]
    users += [edit.path for edit in plan.edits if edit.text.startswith(starts)]
    for path in dict.fromkeys(users):
        if not helper.paths(path):
            raise FixRefused("no-helper")
    for place in dict.fromkeys(place for path in users for place in helper.paths(path)):
        if text_of(place).new:
            yield Edit(place, Span(1, 1, 1, 1), helper.text)

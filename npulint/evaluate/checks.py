"""From a catalogue and a program to findings."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.assemble.programs import Program
from npulint.catalogue.check import Applies, Check, Text
from npulint.evaluate.match import find, true_of
from npulint.evaluate.versions import within
from npulint.facts.model import Fact
from npulint.facts.values import Known
from npulint.findings import Finding, Fix, Related
from npulint.later import regex

_RELATED = 24
_CAPTURE = regex(r"\{([a-z_][a-z0-9_]*)\}")


def evaluate(checks: Sequence[Check], program: Program, target: dict[str, str], lang: str) -> list[Finding]:
    """What the checks say of one program. `target` holds declared versions and the SoC family."""
    found = []
    for check in checks:
        if not applies(check.applies, program, target):
            continue
        facts = find(check.find, program)
        if not facts or not _asked(check, program):
            continue
        found += _findings(check, facts, program, lang)
    return found


def _asked(check: Check, program: Program) -> bool:
    """`needs` must certainly hold; `unless` silences also when it only may hold."""
    if check.needs is not None and true_of(check.needs, program) is not True:
        return False
    return check.unless is None or true_of(check.unless, program) is False


def applies(rule: Applies, program: Program, target: dict[str, str]) -> bool:
    """Whether a check speaks about a program at all."""
    attrs = program.attrs
    if rule.frameworks and attrs["framework"] not in rule.frameworks:
        return False
    if rule.states and attrs["state"] not in rule.states:
        return False
    if rule.modes and not set(rule.modes) & set(attrs["mode"].split()):
        return False
    if rule.trains is not None and (attrs["trains"] == "yes") != rule.trains:
        return False
    if rule.soc and target.get("soc") and target["soc"] not in rule.soc:
        return False
    for key, wanted in rule.versions.items():
        version = target.get(key) or (attrs.get(key, "") if key == "tensorflow" else "")
        if version and not within(version, wanted):
            return False
    return True


def _findings(check: Check, facts: list[Fact], program: Program, lang: str) -> list[Finding]:
    text = check.text.get(lang) or check.text["en"]
    unique = {(f.path, f.span): f for f in sorted(facts, key=lambda f: (f.path, f.span))}
    ordered = list(unique.values())
    extra = [] if check.related is None else find(check.related, program)
    if not check.once:
        return [_finding(check, text, fact, extra, program) for fact in ordered]
    groups: dict[str, list[Fact]] = {}
    for fact in sorted(ordered, key=lambda f: f.path != program.entry) if check.once == "program" else ordered:
        groups.setdefault(fact.path if check.once == "file" else "", []).append(fact)
    return [_finding(check, text, group[0], [*extra, *group[1:]], program) for group in groups.values()]


def _finding(check: Check, text: Text, fact: Fact, related: list[Fact], program: Program) -> Finding:
    return Finding(
        code=check.code,
        name=check.name,
        topic=check.topic,
        category=check.category,
        severity=check.severity,
        confidence=check.confidence,
        path=fact.path,
        span=fact.span,
        message=fill(text.message, fact),
        why=fill(text.why, fact),
        fix=Fix(fill(text.fix, fact), check.applicability),
        related=tuple(Related(f.path, f.span, f.name) for f in related[:_RELATED]),
        program=program.entry or program.root,
    )


def fill(text: str, fact: Fact) -> str:
    """Replace ``{captures}`` by what the fact says; an unknown one becomes ``?``."""
    return _CAPTURE.sub(lambda m: capture(m[1], fact), text) if "{" in text else text


def capture(name: str, fact: Fact) -> str:
    """The text of one capture: name, short, path, an attribute, or an argument of a call."""
    if name == "name":
        return fact.name
    if name == "short":
        return fact.name.rpartition(".")[2]
    if name == "path":
        return fact.path
    value = fact.get(name)
    if value is None and fact.args is not None:
        value = fact.args.get(name, -1)
    if isinstance(value, Known):
        return value.text()
    return "?" if value is None else str(value)

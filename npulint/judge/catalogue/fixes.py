"""Reads the fixes of a check: rules with a condition, and steps with a verb of the closed set."""

from __future__ import annotations

import re

from npulint.core.check_problems import suggestion
from npulint.judge.catalogue.check import FixRule, SafeReason, StepRule
from npulint.judge.catalogue.fields import Fields
from npulint.judge.catalogue.queries import QueryReader
from npulint.judge.catalogue.texts import LANGUAGES, placeholders, unfolded
from npulint.judge.catalogue.vocabulary.verbs import PLACEHOLDERS, VERBS, Verb
from npulint.judge.catalogue.yaml_tree import Mapping, YamlNode, YamlScalar

APPLICABILITIES = ("safe", "unsafe")
CONDITIONS = ("npu", "uncaught")
"""What the reason of safe fixes may depend on; see `SafeReason`."""
ENTRY = "entry"
NAMED = frozenset(("place", "short", "name"))
"""What a reason may name: the place of a fact as file and line, and its name."""

_PLACEHOLDER = re.compile(r"\$(?:(\w+)(\([^()]*\))?)?")
_ARGUMENT = re.compile(r"\((?:[A-Za-z_]\w*(?:\|\d+)?|\d+)\)\Z")
_MODULE = re.compile(r"\([A-Za-z_][\w.]*\)\Z")


def read_fixes(fields: Fields, node: YamlNode) -> tuple[FixRule, ...]:
    """The rules in order, from one mapping or a list."""
    nodes = (node,) if isinstance(node, Mapping) else fields.items(node, "fix")
    return tuple(_rule(fields, item, "fix" if item is node else f"fix[{place}]") for place, item in enumerate(nodes))


def read_safe_reason(fields: Fields, node: YamlNode) -> SafeReason:
    """Why the safe fixes of a check are safe, and under which conditions."""
    keys = fields.mapping(node, "safe", LANGUAGES, ("only",))
    text = {lang: fields.text(keys[lang], f"safe.{lang}") for lang in LANGUAGES if lang in keys}
    only = fields.words(keys["only"], "safe.only", CONDITIONS) if "only" in keys else ()
    return SafeReason({lang: unfolded(one) if lang == "zh" else one for lang, one in text.items()}, only)


def _rule(fields: Fields, node: YamlNode, what: str) -> FixRule:
    if isinstance(node, Mapping) and "because" in node.entries:
        return _reason(fields, node, what)
    keys = fields.mapping(node, what, ("applicability", "edits"), ("when",))
    applicability = ""
    if "applicability" in keys:
        applicability = fields.word(keys["applicability"], f"{what}.applicability", APPLICABILITIES)
    steps = fields.items(keys["edits"], f"{what}.edits") if "edits" in keys else ()
    return FixRule(
        applicability,
        tuple(_step(fields, item, f"{what}.edits[{place}]") for place, item in enumerate(steps)),
        QueryReader(fields).condition(keys["when"], f"{what}.when") if "when" in keys else None,
    )


def _reason(fields: Fields, node: YamlNode, what: str) -> FixRule:
    """A rule that edits nothing and says why."""
    keys = fields.mapping(node, what, ("when", "because"), ("at",))
    queries = QueryReader(fields)
    because = {}
    for lang, text in fields.mapping(keys["because"], f"{what}.because", LANGUAGES).items():
        because[lang] = fields.text(text, f"{what}.because.{lang}")
        for name in sorted(placeholders(because[lang]) - NAMED):
            fields.problem(text, f"{what}.because.{lang}: nothing fills {{{name}}}")
    return FixRule(
        "manual",
        (),
        queries.condition(keys["when"], f"{what}.when") if "when" in keys else None,
        {lang: unfolded(text) if lang == "zh" else text for lang, text in because.items()},
        queries.find(keys["at"], f"{what}.at") if "at" in keys else None,
    )


def _step(fields: Fields, node: YamlNode, what: str) -> StepRule:
    entries = fields.open_mapping(node, what)
    if len(entries) != 1:
        fields.problem(node, f"{what} must have one verb of {', '.join(sorted(VERBS))}")
        return StepRule("")
    (name, (key, body)), *_ = entries.items()
    verb = VERBS.get(name)
    if verb is None:
        fields.problem(key, f"{what}: unknown verb '{name}'{suggestion(name, VERBS)}")
        return StepRule("")
    where = f"{what}.{name}"
    if isinstance(body, YamlScalar):
        if len(verb.words) > 1:
            fields.problem(body, f"{where} must be a mapping with {', '.join(verb.words)}")
        return StepRule(name, {verb.words[0]: _word(fields, verb, verb.words[0], body, where)})
    keys = fields.mapping(body, where, verb.words, (*verb.optional, "at"))
    at = keys.pop("at", None)
    words = {word: _word(fields, verb, word, value, where) for word, value in keys.items()}
    if at is None:
        return StepRule(name, words)
    if isinstance(at, YamlScalar):
        fields.word(at, f"{where}.at", (ENTRY,))
        return StepRule(name, words, entry=True)
    return StepRule(name, words, QueryReader(fields).find(at, f"{where}.at"))


def _word(fields: Fields, verb: Verb, word: str, node: YamlNode, what: str) -> str:
    if word in verb.choices:
        return fields.word(node, f"{what}.{word}", verb.choices[word])
    if word == "position" and isinstance(node, YamlScalar) and node.text.isdigit():
        return node.text
    if not isinstance(node, YamlScalar) or not isinstance(node.value, str):
        return fields.text(node, f"{what}.{word}")
    for match in _PLACEHOLDER.finditer(node.value):
        if not _known(match[1] or "", match[2] or ""):
            fields.problem(
                node, f"{what}.{word}: '{match[0]}' is not a placeholder{suggestion(match[1] or '', PLACEHOLDERS)}"
            )
    return node.value


def _known(name: str, operand: str) -> bool:
    if name == "arg":
        return _ARGUMENT.match(operand) is not None
    if name == "module":
        return _MODULE.match(operand) is not None
    return name in PLACEHOLDERS

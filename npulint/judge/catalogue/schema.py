"""Converts the tree of a check file to a `Check`, with the line of each problem."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from npulint.core.errors import CatalogueProblem, suggestion
from npulint.facts.roles import ROLES
from npulint.judge.catalogue.cases import CODE, read_examples
from npulint.judge.catalogue.check import (
    CATEGORIES,
    COMPARE,
    FAMILIES,
    GRAPH,
    MIGRATIONS,
    RUN,
    STATES,
    TOPICS,
    Applies,
    Check,
    FixRule,
    Query,
    Reference,
    SafeReason,
    StepRule,
    two_sided,
)
from npulint.judge.catalogue.queries import QueryReader
from npulint.judge.catalogue.severity import CONSEQUENCES, OCCURRENCES, severity_of
from npulint.judge.catalogue.texts import LANGUAGES, placeholders, read_texts, unfolded
from npulint.judge.catalogue.vocabulary.verbs import PLACEHOLDERS, VERBS, Verb
from npulint.judge.catalogue.yaml_tree import Fields, Keys, Mapping, YamlNode, YamlScalar
from npulint.judge.findings import CONFIDENCES, SEVERITIES

# Reads the fixes of a check: rules with a condition, and steps with a verb of the closed set.

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
    return SafeReason({lang: unfolded(reason) if lang == "zh" else reason for lang, reason in text.items()}, only)


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
        return StepRule(name, {verb.words[0]: _fix_word(fields, verb, verb.words[0], body, where)})
    keys = fields.mapping(body, where, verb.words, (*verb.optional, "at"))
    at = keys.pop("at", None)
    words = {word: _fix_word(fields, verb, word, value, where) for word, value in keys.items()}
    if at is None:
        return StepRule(name, words)
    if isinstance(at, YamlScalar):
        fields.word(at, f"{where}.at", (ENTRY,))
        return StepRule(name, words, entry=True)
    return StepRule(name, words, QueryReader(fields).find(at, f"{where}.at"))


def _fix_word(fields: Fields, verb: Verb, word: str, node: YamlNode, what: str) -> str:
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


STATUSES = ("stable", "preview", "deprecated")
BASES = ("tables",)
FRAMEWORKS = ("tensorflow", "torch", "onnx")
MODES = ("session", "estimator", "keras", "function")
WRITABLE = tuple(family for family in FAMILIES if family != "engine")  # engine checks are written in Python
SPANS = ("project", "program", "file")
VERSIONED = ("tensorflow", "torch", "adapter", "cann")

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")
_SINCE = re.compile(r"[0-9]+\.[0-9]+(?:\.[0-9]+)?\Z")
_RANGE = re.compile(r"(?:>=|<=|==|!=|>|<)? *[vr]?[0-9][0-9A-Za-z.]*\Z")
_SOURCE = re.compile(r"https?://[^\s/]\S*\Z|[\w.-]+/[\w.-]+:\S[^\n]*\Z")

_REQUIRED = (
    "code", "since", "status", "topic", "category", "consequence", "occurs", "confidence", "find", "text",
    "references", "examples",
)  # fmt: skip
_OPTIONAL = (
    "severity", "applies", "severe_on", "severe_in", "except_in", "basis", "opt_in", "needs", "unless",
    "related", "minor", "once", "joins", "fix", "safe",
)  # fmt: skip

_DECIDING = {"consequence": CONSEQUENCES, "occurs": OCCURRENCES, "confidence": CONFIDENCES}
"""The keys from which the severity follows."""


class Parsed(msgspec.Struct, frozen=True):
    """The result of reading one check: the check, or the problems. `code_at` is the place of its code, `named_at` that
    of its name, if it is a row of a table."""

    path: str
    check: Check | None
    problems: tuple[CatalogueProblem, ...] = ()
    code_at: tuple[int, int] = (1, 1)
    named_at: tuple[int, int] | None = None

    @property
    def location(self) -> str:
        """Where the check is: its file, and the line if it is a row of a table."""
        return self.path if self.named_at is None else f"{self.path}:{self.named_at[0]}"


def read_check(tree: YamlNode, path: str, family: str, name: str, named_at: tuple[int, int] | None = None) -> Parsed:
    """Convert the tree of one check, that of a file or of a row of a table whose name is at `named_at`. `path` is only
    used in places of problems."""
    fields = Fields(path)
    if family not in WRITABLE:
        folders = ", ".join(WRITABLE)
        fields.problem(tree, f"a check must be in the folder of its family ({folders}), not in '{family}'")
    if not valid_name(name):
        fields.problem(tree, f"the {'file name' if named_at is None else 'name'} '{name}' must be in kebab case")
    keys = fields.mapping(tree, "check", _REQUIRED, _OPTIONAL)
    check = _check(fields, keys, family, name)
    place = (keys["code"].line, keys["code"].column) if "code" in keys else (1, 1)
    return Parsed(path, None if fields.problems else check, tuple(fields.problems), place, named_at)


def valid_name(name: str) -> bool:
    """Whether a text can be a check name: kebab case, at most 60 characters."""
    return len(name) <= 60 and _NAME.match(name) is not None


def _check(fields: Fields, keys: Keys, family: str, name: str) -> Check:
    queries = QueryReader(fields)
    find = queries.find(keys["find"], "find") if "find" in keys else Query()
    severity, because = _severity(fields, keys)
    check = Check(
        code=_code(fields, keys, family),
        name=name,
        family=family,
        since=_matching(fields, keys, "since", _SINCE, "a version such as 0.1"),
        status=_word(fields, keys, "status", STATUSES),
        basis=_word(fields, keys, "basis", BASES),
        opt_in=fields.flag(keys["opt_in"], "opt_in") if "opt_in" in keys else False,
        topic=_word(fields, keys, "topic", TOPICS),
        category=_word(fields, keys, "category", CATEGORIES),
        severity=severity,
        confidence=_word(fields, keys, "confidence", CONFIDENCES),
        find=find,
        text=read_texts(fields, keys["text"], find, "once" in keys) if "text" in keys else {},
        applies=read_applies(fields, keys["applies"]) if "applies" in keys else Applies(),
        needs=queries.condition(keys["needs"], "needs") if "needs" in keys else None,
        unless=queries.condition(keys["unless"], "unless") if "unless" in keys else None,
        related=queries.find(keys["related"], "related") if "related" in keys else None,
        minor=queries.find(keys["minor"], "minor") if "minor" in keys else None,
        severe_on=fields.words(keys["severe_on"], "severe_on") if "severe_on" in keys else (),
        severe_in=fields.words(keys["severe_in"], "severe_in", ROLES) if "severe_in" in keys else (),
        except_in=fields.words(keys["except_in"], "except_in", ROLES) if "except_in" in keys else (),
        once=_word(fields, keys, "once", SPANS),
        joins=_joins(fields, keys),
        fixes=read_fixes(fields, keys["fix"]) if "fix" in keys else (),
        safe=read_safe_reason(fields, keys["safe"]) if "safe" in keys else None,
        references=_references(fields, keys["references"]) if "references" in keys else (),
        examples=read_examples(fields, keys["examples"]) if "examples" in keys else (),
        consequence=_word(fields, keys, "consequence", CONSEQUENCES),
        occurs=_word(fields, keys, "occurs", OCCURRENCES),
        because=because,
    )
    if "examples" in keys:
        for side, bad in (("bad", True), ("good", False)):
            if all(example.bad != bad for example in check.examples):
                fields.problem(keys["examples"], f"there is no {side} example")
        check_sides(fields, keys["examples"], [example.files for example in check.examples], family == COMPARE)
        if any(rule.steps for rule in check.fixes) and not any(example.fixed for example in check.examples):
            fields.problem(keys["examples"], "there is a fix but no example with 'fixed'")
    _agree_on_safety(fields, keys, any(rule.applicability == "safe" for rule in check.fixes))
    return check


def _agree_on_safety(fields: Fields, keys: Keys, has_safe: bool) -> None:
    """Report safe fixes without a reason, and a reason without safe fixes."""
    if has_safe and "safe" not in keys:
        fields.problem(keys["fix"], "a fix is labelled safe, but the key 'safe' does not say why")
    if "safe" in keys and not has_safe:
        fields.problem(keys["safe"], "no fix is labelled safe")


def _severity(fields: Fields, keys: Keys) -> tuple[str, dict[str, str]]:
    """The severity of a check, and why it is not the one that follows from its consequence (mostly it is)."""
    usual = _usual_severity(keys)
    node = keys.get("severity")
    if node is None:
        return usual, {}
    if isinstance(node, YamlScalar):
        fields.problem(
            node, "severity follows from the keys consequence and occurs; write 'is' and 'because' to deviate"
        )
        return usual, {}
    own = fields.mapping(node, "severity", ("is", "because"))
    level = fields.word(own["is"], "severity.is", SEVERITIES) if "is" in own else ""
    if level and level == usual:
        fields.problem(own["is"], f"severity.is: '{level}' follows from the consequence; leave the key out")
    texts = fields.mapping(own["because"], "severity.because", LANGUAGES) if "because" in own else {}
    because = {lang: fields.text(text, f"severity.because.{lang}") for lang, text in texts.items()}
    return level, {lang: unfolded(text) if lang == "zh" else text for lang, text in because.items()}


def _usual_severity(keys: Keys) -> str:
    """The severity that follows from the consequence; empty if a word is missing or wrong, which is reported where it
    is read."""
    words = [node.text if isinstance(node := keys.get(name), YamlScalar) else "" for name in _DECIDING]
    if any(word not in known for word, known in zip(words, _DECIDING.values(), strict=True)):
        return ""
    applies = keys.get("applies")
    named = "severe_on" in keys or (isinstance(applies, Mapping) and "soc" in applies.entries)
    return severity_of(words[0], words[1], words[2], on_named_chips=named)


def _joins(fields: Fields, keys: Keys) -> tuple[str, ...]:
    """The codes of source checks into whose findings those of this check are merged."""
    if "joins" not in keys:
        return ()
    codes = fields.words(keys["joins"], "joins")
    for code in codes:
        if not CODE.match(code) or code[3] in {str(FAMILIES[family]) for family in (GRAPH, RUN)}:
            fields.problem(keys["joins"], f"joins: '{code}' is not the code of a source check")
    return codes


def check_sides(fields: Fields, node: YamlNode, examples: Iterable[dict[str, str]], compared: bool) -> None:
    """Report examples whose files do not form a comparison where `compared`, or do where not."""
    for number, files in enumerate(examples):
        if files and two_sided(files) != compared:
            complaint = "needs a 'reference' and a 'migrated' program" if compared else "is about one program, not two"
            fields.problem(node, f"examples[{number}] {complaint}")


def _word(fields: Fields, keys: Keys, name: str, vocabulary: tuple[str, ...] | frozenset[str]) -> str:
    return fields.word(keys[name], name, vocabulary) if name in keys else ""


def _matching(fields: Fields, keys: Keys, name: str, pattern: re.Pattern[str], what: str) -> str:
    if name not in keys:
        return ""
    text = fields.text(keys[name], name)
    if text and not pattern.match(text):
        fields.problem(keys[name], f"{name}: '{text}' is not {what}")
    return text


def _code(fields: Fields, keys: Keys, family: str) -> str:
    code = _matching(fields, keys, "code", CODE, "NPU and four digits, of which the third may be a letter")
    if not CODE.match(code):
        return code
    digit = FAMILIES.get(family)
    if digit is not None and int(code[3]) != digit:
        fields.problem(keys["code"], f"code: the first digit of {family} checks is {digit}, not {code[3]}")
    node = keys.get("category")
    category = node.text if isinstance(node, YamlScalar) else ""
    if category in CATEGORIES and int(code[4]) != CATEGORIES.index(category) + 1:
        digit = CATEGORIES.index(category) + 1
        fields.problem(keys["code"], f"code: the second digit of {category} checks is {digit}, not {code[4]}")
    return code


def read_applies(fields: Fields, node: YamlNode) -> Applies:
    """The programs that a check or item applies to."""
    keys = fields.mapping(node, "applies", (), ("framework", "state", "mode", "soc", "trains", "migration", *VERSIONED))

    def words(name: str, vocabulary: tuple[str, ...] = ()) -> tuple[str, ...]:
        return fields.words(keys[name], f"applies.{name}", vocabulary) if name in keys else ()

    return Applies(
        frameworks=words("framework", FRAMEWORKS),
        states=words("state", STATES),
        modes=words("mode", MODES),
        migrations=words("migration", MIGRATIONS),
        soc=words("soc"),
        versions={name: _range(fields, keys[name], f"applies.{name}") for name in VERSIONED if name in keys},
        trains=fields.flag(keys["trains"], "applies.trains") if "trains" in keys else None,
    )


def _range(fields: Fields, node: YamlNode, what: str) -> str:
    text = fields.text(node, what)
    if text and not all(_RANGE.match(clause.strip()) for clause in text.split(",")):
        fields.problem(node, f"{what}: '{text}' is not a version range such as >=1.15,<2")
    return text


def _references(fields: Fields, node: YamlNode) -> tuple[Reference, ...]:
    references = []
    for place, item in enumerate(fields.items(node, "references")):
        what = f"references[{place}]"
        keys = fields.mapping(item, what, ("title",), ("source",))
        title = fields.text(keys["title"], f"{what}.title") if "title" in keys else ""
        source = fields.text(keys["source"], f"{what}.source") if "source" in keys else ""
        if source and not _SOURCE.match(source):
            fields.problem(keys["source"], f"{what}.source: '{source}' is neither an address nor owner/repo:path")
        references.append(Reference(title, source))
    return tuple(references)

"""Tables of log messages: an entry is one cause with messages, texts and tests.

An entry becomes a run check that finds its messages, like a check file of its own, with defaults from `_USUAL`. An
entry with messages only belongs to a check with a file, or to none (`UNREPORTED`). Entries are the rows of a table: the
key `shared` works as in tables of checks, and makes every entry a check.
"""

from __future__ import annotations

import re

import msgspec

from npulint.core.errors import CatalogueProblem
from npulint.judge.catalogue.check import RUN
from npulint.judge.catalogue.regexes import regex_problem
from npulint.judge.catalogue.schema import Parsed, read_check
from npulint.judge.catalogue.severity import ALWAYS, STOPS
from npulint.judge.catalogue.tables import rows
from npulint.judge.catalogue.texts import LANGUAGES
from npulint.judge.catalogue.yaml_tree import (
    Fields,
    Keys,
    Mapping,
    Sequence,
    TreeError,
    YamlNode,
    YamlScalar,
    load_tree,
)

FOLDER = "messages"
"""The folder of the tables, next to those of the families."""
UNREPORTED = "unreported"
"""The entry of messages that no check reports."""
KINDS = ("fatal", "error", "warning", "info", "note", "context", "series", "ignore")
FLAGS = ("umbrella", "echo", "subject", "general")
LINES = {
    "tensorflow": "2024-03-02 10:11:12.345678: I tf_adapter/kernels/geop_npu.cc:694] The model has been compiled on "
    "the Ascend AI processor, current graph id is: 1",
    "torch": "INFO:root:torch_npu 2.1.0.post6 is loaded, device npu:0",
    "trace": 'Traceback (most recent call last):\n  File "train.py", line 42, in <module>',
    "steps": "step 100 loss: 0.412\nstep 200 loss: 0.377",
}
"""Placeholders for usual lines in logs of examples."""

_USUAL = {
    "since": "0.1",
    "status": "preview",
    "topic": "run_artifact",
    "category": "functional",
    "consequence": STOPS,
    "occurs": ALWAYS,
    "confidence": "high",
}
_USUAL_MESSAGE = {"en": "{cause_en} Log: `{quote}`{total:times}.", "zh": "{cause_zh}日志：`{quote}`{total:times}。"}
_PARTS = ("title", "message", "why", "fix")
_AS_WRITTEN = ("severity", "joins", "unless", "once", "references")
_LOG = "train.log"


_NUMBER_HEADS = (
    *("ode is ", "ode:", "ode: ", "ode=", "ode = ", "rror code ", "ode[", "ode ["),
    *("esult = ", "esult=", "ret = ", "ret=", "ret:", "ret: ", "ret[", "atus=", "rrno:", "iled: "),
)
"""What stands in front of the number of an error; of longer words the end."""
_BEFORE_NUMBER = (
    r"(?:[Ee]rr(?:or)?[ _]?[Cc]ode[ is:=\[]{1,4}|\bret(?:[Cc]ode)?[ :=\[]{1,3}|sult ?= ?|Status=|errno:|\) failed: )"
)
_AFTER_CODE = r"(?:[:')]|\[PID)"


class MessageEntry(msgspec.Struct, frozen=True):
    """One message: `npulint.data.error_patterns.Pattern` with flags as a list; `finding` is the name of its entry,
    `line` its line in the table, `source` its origin."""

    id: str
    kind: str
    regex: str
    literals: tuple[str, ...]
    cause: tuple[str, str]
    fix: tuple[str, str]
    example: str
    check: str
    finding: str
    flags: tuple[str, ...]
    source: str
    line: int


class MessageTable(msgspec.Struct, frozen=True):
    """The content of one table: the parsed checks, the messages, and problems outside of checks."""

    checks: tuple[Parsed, ...] = ()
    messages: tuple[MessageEntry, ...] = ()
    problems: tuple[CatalogueProblem, ...] = ()


def parse_table(data: bytes, path: str) -> MessageTable:
    """Parse one table. `path` is only used in places of problems."""
    try:
        tree = load_tree(data)
    except TreeError as error:
        return MessageTable(problems=tuple(CatalogueProblem(path, *place) for place in error.places))
    fields = Fields(path)
    checks: list[Parsed] = []
    messages: list[MessageEntry] = []
    own = ("code", *_USUAL, *_PARTS, *_AS_WRITTEN, "where", "examples")
    for row in rows(fields, tree):
        key = row.key
        keys = fields.mapping(row.tree, key.text, ("messages",), () if key.text == UNREPORTED else own)
        message_entries = _messages(fields, keys["messages"], key.text) if "messages" in keys else []
        messages += message_entries
        if message_entries and keys.keys() - {"messages"}:
            checks.append(read_check(_check(fields, keys, key, message_entries), path, RUN, row.name, row.named_at))
    return MessageTable(tuple(checks), tuple(messages), tuple(fields.problems))


# --- messages ---


def _messages(fields: Fields, node: YamlNode, name: str) -> list[MessageEntry]:
    return [
        _message(fields, key, value, "" if name == UNREPORTED else name)
        for key, value in fields.open_mapping(node, f"{name}.messages").values()
    ]


def _message(fields: Fields, key: YamlScalar, node: YamlNode, finding: str) -> MessageEntry:
    """A message, found by a regex, by codes of CANN and by numbers of errors; by default by its id as a word."""
    what = key.text
    keys = fields.mapping(
        node,
        what,
        ("cause", "fix", "example", "source"),
        ("kind", "regex", "literals", "codes", "numbers", "check", *FLAGS),
    )
    regex, literals = _found_by(fields, keys, what)
    example = _raw(fields, keys["example"], f"{what}.example") if "example" in keys else ""
    _fits(fields, keys.get("regex", key), what, regex, literals, example)
    return MessageEntry(
        id=what,
        kind=fields.word(keys["kind"], f"{what}.kind", KINDS) if "kind" in keys else "error",
        regex=regex,
        literals=literals,
        cause=_both(fields, keys, "cause", what),
        fix=_both(fields, keys, "fix", what),
        example=example,
        check=fields.text(keys["check"], f"{what}.check") if "check" in keys else "",
        finding=finding,
        flags=tuple(flag for flag in FLAGS if flag in keys and fields.flag(keys[flag], f"{what}.{flag}")),
        source=fields.text(keys["source"], f"{what}.source") if "source" in keys else "",
        line=key.line,
    )


def _found_by(fields: Fields, keys: Keys, what: str) -> tuple[str, tuple[str, ...]]:
    """The regex of a message, and the texts of which every match contains one."""
    regexes = [_raw(fields, keys["regex"], f"{what}.regex")] if "regex" in keys else []
    literals = _texts_of(fields, keys["literals"], f"{what}.literals") if "literals" in keys else ()
    codes = _texts_of(fields, keys["codes"], f"{what}.codes") if "codes" in keys else ()
    numbers = _numbers(fields, keys["numbers"], f"{what}.numbers") if "numbers" in keys else ()
    if codes:
        regexes.append(rf"\b(?:{'|'.join(map(_code_regex, codes))}){_AFTER_CODE}")
    if numbers:
        regexes.append(rf"{_BEFORE_NUMBER}(?:{'|'.join(map(re.escape, numbers))})\b")
    begins = sorted({number[:3] for number in numbers})
    more = (*codes, *(head + begin for head in _NUMBER_HEADS for begin in begins))
    if "regex" not in keys and not more:
        return rf"\b{re.escape(what)}\b", literals or (what,)
    return "|".join(regexes), (*literals, *more) or (what,)


def _fits(fields: Fields, node: YamlNode, what: str, regex: str, literals: tuple[str, ...], example: str) -> None:
    """Report a regex that may take long, and an example without one of the literals or without a match of the regex."""
    reason = regex_problem(regex)
    if reason:
        fields.problem(node, f"{what}.regex: {reason}")
        return
    if example and re.search(regex, example) is None:
        fields.problem(node, f"{what}: its regex does not find its example")
    elif example and not any(literal.rstrip("*") in example for literal in literals):
        fields.problem(node, f"{what}: its example has none of its literals")


def _both(fields: Fields, keys: Keys, part: str, what: str) -> tuple[str, str]:
    """A sentence in English and Chinese."""
    if part not in keys:
        return "", ""
    texts = fields.mapping(keys[part], f"{what}.{part}", LANGUAGES)
    english, chinese = (
        fields.text(texts[lang], f"{what}.{part}.{lang}") if lang in texts else "" for lang in LANGUAGES
    )
    return english, chinese


def _code_regex(code: str) -> str:
    """The regex of a code, or of all codes that begin like ``E6*``."""
    begin = code.rstrip("*")
    rest = 6 - len(begin) if code != begin else 0
    return re.escape(begin) + (f"[0-9]{{{rest}}}" if rest > 0 else "")


def _texts_of(fields: Fields, node: YamlNode, what: str) -> tuple[str, ...]:
    nodes = (node,) if isinstance(node, YamlScalar) else fields.items(node, what)
    return tuple(_raw(fields, text, what) for text in nodes)


def _numbers(fields: Fields, node: YamlNode, what: str) -> tuple[str, ...]:
    """The numbers of errors, which have six digits."""
    numbers = tuple(
        yaml_scalar.text if isinstance(yaml_scalar, YamlScalar) else "" for yaml_scalar in fields.items(node, what)
    )
    if not all(len(number) == 6 and number.isdecimal() for number in numbers):
        fields.problem(node, f"{what} must be a list of numbers of six digits")
    return numbers


def _raw(fields: Fields, node: YamlNode, what: str) -> str:
    """A text with leading and trailing blanks."""
    return node.text if fields.text(node, what) and isinstance(node, YamlScalar) else ""


# --- the check of an entry, as the tree of a file ---


def _check(fields: Fields, keys: Keys, key: YamlScalar, messages: list[MessageEntry]) -> Mapping:
    values: Keys = {name: keys.get(name, _text(key, usual)) for name, usual in _USUAL.items()}
    values |= {name: keys[name] for name in ("code", *_AS_WRITTEN) if name in keys}
    names = Sequence(tuple(_text(key, message.id) for message in messages), key.line, key.column)
    where = keys.get("where", _mapping(key, {"leads": _text(key, "yes")}))
    values["find"] = _mapping(key, {"run_event": names, "where": where})
    values["text"] = _texts(fields, keys, key)
    if "examples" in keys:
        values["examples"] = _examples(fields, keys["examples"])
    return _mapping(key, values)


def _texts(fields: Fields, keys: Keys, key: YamlScalar) -> Mapping:
    """The texts by language, as in check files; tables have them by part."""
    parts = {part: fields.mapping(keys[part], f"{key.text}.{part}", (), LANGUAGES) for part in _PARTS if part in keys}
    parts.setdefault("message", {lang: _text(key, text) for lang, text in _USUAL_MESSAGE.items()})
    by_language = {lang: {part: texts[lang] for part, texts in parts.items() if lang in texts} for lang in LANGUAGES}
    return _mapping(key, {lang: _mapping(key, texts) for lang, texts in by_language.items()})


def _examples(fields: Fields, node: YamlNode) -> Sequence:
    """Examples with logs as lists of lines converted to texts; others as in check files."""
    examples = [
        _example(fields, item, f"examples[{place}]") for place, item in enumerate(fields.items(node, "examples"))
    ]
    return Sequence(tuple(examples), node.line, node.column)


def _example(fields: Fields, node: YamlNode, what: str) -> YamlNode:
    keys: Keys = {name: value for name, (_, value) in node.entries.items()} if isinstance(node, Mapping) else {}
    side = next((side for side in ("bad", "good") if isinstance(keys.get(side), Sequence)), "")
    if not side:
        return node
    return _mapping(node, keys | {side: _log(fields, keys[side], f"{what}.{side}"), "file": _text(node, _LOG)})


def _log(fields: Fields, node: YamlNode, what: str) -> YamlScalar:
    texts = [
        yaml_scalar.text if isinstance(yaml_scalar, YamlScalar) else "" for yaml_scalar in fields.items(node, what)
    ]
    for line in fields.items(node, what):
        if not isinstance(line, YamlScalar):
            fields.problem(line, f"{what}: a line of a log must be text")
    return _text(node, "".join(f"{LINES.get(text, text)}\n" for text in texts))


def _text(at: YamlNode, text: str) -> YamlScalar:
    return YamlScalar(text, False, at.line, at.column)


def _mapping(at: YamlNode, values: Keys) -> Mapping:
    return Mapping({name: (_text(value, name), value) for name, value in values.items()}, at.line, at.column)

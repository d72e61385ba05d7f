"""The tables of arguments of training frameworks, from the table that npulint itself uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from npulint.data.training_arguments import (
    ArgumentRule,
    FileSignature,
    argument_rules,
    configured_framework,
    file_signatures,
    start_commands,
)
from npulint.judge.catalogue.check import Check, Query
from npulint.judge.catalogue.load import load_catalogue
from scripts.docsite.checks import path_of
from scripts.docsite.markup import inline, table
from scripts.docsite.words import say

FRAMEWORKS: Mapping[str, tuple[str, ...]] = {
    "llamafactory": ("llamafactory",),
    "ms-swift": ("swift",),
    "verl": ("verl",),
    "trainer": ("transformers", "from_pretrained", "accelerate", "accelerate_launch", "deepspeed"),
    "lightning": ("lightning",),
    "megatron": ("megatron", "mindspeed"),
}
"""The frameworks that a page is about."""

_REPORTED = {
    "bitsandbytes-quantisation": "quantised-by-bitsandbytes",
    "megatron-without-mindspeed": "megatron-without-mindspeed",
}
"""The checks of code that report a cause where no check of configurations does."""

_COLUMNS = ("argument", "values", "effect", "only", "instead", "check")


def arguments(page: str, lang: str) -> str:
    """The arguments of the frameworks of a page whose values fail, are slow or have no effect on the NPU; a table for
    each framework, under its name if there are several."""
    parts: list[str] = []
    names = FRAMEWORKS[page]
    for name in names:
        if len(names) > 1:
            parts.append(f"### {configured_framework(name).title}")
        parts.append(table([say(lang, f"argument.{column}") for column in _COLUMNS], _rows(name, lang)))
    return "\n\n".join(parts)


def starts(lang: str) -> str:
    """Each framework with the keys by which its files are recognised, and the commands and modules that start it."""
    files: dict[str, list[str]] = {}
    for signature in file_signatures():
        files.setdefault(signature.framework, []).append(_keys(signature))
    started: dict[str, list[str]] = {}
    for one in start_commands():
        started.setdefault(one.framework, []).append(f"`{one.name}`")
    titles = {name: configured_framework(name).title for name in (*files, *started)}
    rows = [
        [title, "<br>".join(files.get(name, ["–"])), ", ".join(started.get(name, ["–"]))]
        for name, title in sorted(titles.items(), key=lambda item: item[1].lower())
    ]
    return table([say(lang, f"starts.{column}") for column in ("framework", "keys", "commands")], rows)


def _keys(signature: FileSignature) -> str:
    """The keys that a file must have, and those of which it must have one."""
    parts = [" + ".join(f"`{key}`" for key in signature.required)] if signature.required else []
    parts += [" / ".join(f"`{key}`" for key in signature.usual)] if signature.usual else []
    return " + ".join(parts if len(parts) < 2 or len(signature.usual) == 1 else [parts[0], f"({parts[1]})"])


def _rows(framework: str, lang: str) -> list[list[str]]:
    rows = [
        [
            f"`{rule.argument}`",
            _values(rule.values, lang),
            say(lang, f"effect.{rule.effect}"),
            _conditions(rule, lang),
            f"`{rule.instead}`" if rule.instead not in ("", "-") else "–",
            _check(framework, rule, lang),
        ]
        for rule in sorted(argument_rules(framework), key=lambda rule: rule.argument)
        if rule.effect != "fine"
    ]
    return [list(row) for row in dict.fromkeys(map(tuple, rows))]


def _values(values: tuple[str, ...], lang: str) -> str:
    words = {"set": say(lang, "argument.set"), "unset": say(lang, "argument.unset")}
    return ", ".join(words.get(value, f"`{value}`") for value in values) or words["set"]


def _conditions(rule: ArgumentRule, lang: str) -> str:
    """Under which other arguments, on which chips and with which releases the row is true."""
    parts = [f"`{name}`: {_values(values, lang)}" for name, values in rule.when]
    parts += [", ".join(rule.chips)] if rule.chips else []
    parts += [f"`{version}`" for version in rule.versions]
    return "; ".join(parts) or "–"


def _check(framework: str, rule: ArgumentRule, lang: str) -> str:
    """A link to the check that reports the row."""
    found = next((check for check, query in _queries() if _finds(query, framework, rule)), None)
    if found is None and rule.cause in _REPORTED and rule.effect != "ignored":
        found = next(check for check in load_catalogue(()).checks if check.name == _REPORTED[rule.cause])
    if found is None:
        return "–"
    return f"[{inline(found.text[lang].title)}](../{path_of(found.name)})"


def _finds(query: Query, framework: str, rule: ArgumentRule) -> bool:
    facts = {"cause": rule.cause, "effect": rule.effect, "framework": framework, "name": rule.argument}
    return all(_holds(query.where[name], value) for name, value in facts.items() if name in query.where)


def _holds(condition: object, value: str) -> bool:
    """Whether a condition of a check holds for a word; other conditions than lists and their opposite count as met."""
    if isinstance(condition, Mapping):
        if "one_of" in condition:
            return value in condition["one_of"]
        return not ("not" in condition and _holds(condition["not"], value))
    if isinstance(condition, list | tuple):
        return value in condition
    return condition == value


@cache
def _queries() -> tuple[tuple[Check, Query], ...]:
    """The checks of configurations with their queries for arguments that name a cause."""
    return tuple(
        (check, query)
        for check in sorted(load_catalogue(()).checks, key=lambda check: check.code)
        for query in _parts(check.find)
        if query.kind == "training_argument" and "cause" in query.where
    )


def _parts(query: Query) -> Iterator[Query]:
    yield query
    for part in (*query.all[:1], *query.any):
        yield from _parts(part)

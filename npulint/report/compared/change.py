"""The content of reports about a change: what of the training configuration it affects, in all programs together."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import count, say
from npulint.judge.findings import ComparedChange, ComparedPair, ComparedRow, ComparedSide, Comparison
from npulint.report.compared.document import way
from npulint.report.compared.rows import places_of
from npulint.report.document.model import PlaceCell, ValueCell

_SHORT = 9  # digits of a commit
_COMMIT = lazy_compile(r"\b[0-9a-f]{40,64}\b")
_NAMED = 6  # programs that are listed


class ChangedValue(msgspec.Struct, frozen=True):
    """A value that the change affects: its part of the training config, its name, the answer, and both states. `only`
    are the affected programs that have it, if not all have."""

    part: str
    what: str
    answer: str
    before: ValueCell | None
    after: ValueCell | None
    only: Sequence[str] = ()


class ChangedItem(msgspec.Struct, frozen=True):
    """The values of one item of the checklist."""

    title: str
    values: Sequence[ChangedValue]


class ChangeDocument(msgspec.Struct, frozen=True):
    """A change in words. `verdict` is differs, review or same; `heading` says so. `items` are differences, `others`
    values to review. `lines` are about both states, programs and what is not affected."""

    verdict: str
    heading: str
    items: Sequence[ChangedItem]
    others: Sequence[ChangedItem]
    lines: Sequence[str]


def change_document(
    comparison: Comparison, change: ComparedChange, lang: str, request: str = "change"
) -> ChangeDocument:
    """The document about a comparison of two states; `request` is what the change is called: change, pull or merge."""
    rows = _rows(comparison.pairs)
    differing = [(row, pairs) for row, pairs in rows if row.answer == "differs"]
    others = [(row, pairs) for row, pairs in rows if row.answer != "differs"]
    alone = comparison.only_reference or comparison.only_migrated
    failing = any(item.failures for pair in comparison.pairs for item in pair.items)
    verdict = "differs" if differing or failing else "review" if others or alone else "same"
    names = [pair.migrated or pair.reference for pair in comparison.pairs]
    return ChangeDocument(
        verdict,
        _heading(verdict, request, lang),
        _items(differing, comparison, lang),
        _items(others, comparison, lang),
        [_states(change, lang), *_about(comparison, change, list(dict.fromkeys(names)), lang)],
    )


def _heading(verdict: str, request: str, lang: str) -> str:
    if request == "change":
        return say(lang, f"change.alone.{verdict}")
    return say(lang, f"change.{verdict}", subject=say(lang, f"change.subject.{request}"))


def value_name(changed_value: ChangedValue, lang: str) -> str:
    """The name of a value with its part of the training config, in words with code."""
    part = say(lang, f"change.part.{changed_value.part}")
    name = f"{part} `{changed_value.what}`" if changed_value.what.replace("_", " ") != part else part
    if changed_value.answer == "differs":
        return name
    return name + say(
        lang, "aside", text=say(lang, "change.unknown" if changed_value.answer == "unknown" else "change.possible")
    )


def _rows(pairs: Sequence[ComparedPair]) -> list[tuple[ComparedRow, list[ComparedPair]]]:
    """The rows of all pairs, each once, with the pairs that have it."""
    pairs_of: dict[ComparedRow, list[ComparedPair]] = {}
    for pair in pairs:
        for item in pair.items:
            for row in item.rows:
                pairs_of.setdefault(row, []).append(pair)
    return list(pairs_of.items())


def _items(
    rows: Sequence[tuple[ComparedRow, list[ComparedPair]]], comparison: Comparison, lang: str
) -> list[ChangedItem]:
    titles = {
        row: say(lang, f"change.item.{item.item}")
        for pair in comparison.pairs
        for item in pair.items
        for row in item.rows
    }
    by_title: dict[str, list[ChangedValue]] = {}
    for row, pairs in rows:
        only = [] if len(pairs) == len(comparison.pairs) else [pair.migrated for pair in pairs]
        before, after = _value(row.reference, comparison.reference), _value(row.migrated, "")
        by_title.setdefault(titles[row], []).append(ChangedValue(row.part, row.what, row.answer, before, after, only))
    return [ChangedItem(title, values) for title, values in by_title.items()]


def _value(side: ComparedSide | None, root: str) -> ValueCell | None:
    """A value with its place; of the state before only with a label, because the file may have changed."""
    if side is None:
        return None
    text = " ".join(side.text.split()) or "?"
    place = next(iter(places_of(side)), None)
    if place is None:
        return ValueCell(text)
    label = _plain(place.path, root) if root else place.path
    return ValueCell(text, PlaceCell("" if root else place.path, place.span, label), way(side))


def _plain(path: str, root: str) -> str:
    """A path of the state before, without its commit."""
    commit, separator, rest = path.partition(":")
    return rest.removeprefix("./") if separator and root.startswith(f"{commit}:") else path


def _states(change: ComparedChange, lang: str) -> str:
    head = _named(change.head, change.head_commit, lang) if change.head else say(lang, "change.tree")
    states = say(lang, "change.states", base=_named(change.base, change.base_commit, lang), head=head)
    return say(lang, "list.and").join([states, count(lang, "change.files", change.files)])


def _named(name: str, commit: str, lang: str) -> str:
    short = commit[:_SHORT]
    name = _COMMIT.sub(lambda match: match[0][:_SHORT], name)
    return short if commit.startswith(name) else say(lang, "change.named", name=name, commit=short)


def _about(comparison: Comparison, change: ComparedChange, names: Sequence[str], lang: str) -> list[str]:
    lines = [say(lang, "change.programs", list=_listed(names, lang))] if names else []
    removed = [_plain(entry, comparison.reference) for entry in comparison.only_reference]
    for key, entries in (("added", comparison.only_migrated), ("removed", removed)):
        lines += [say(lang, f"change.{key}", list=_listed(entries, lang))] if entries else []
    if lines:
        return [*lines, *([count(lang, "change.others", change.same)] if change.same else [])]
    return [count(lang, "change.unaffected", change.same) if change.same else say(lang, "change.untouched")]


def _listed(entries: Sequence[str], lang: str) -> str:
    more = [count(lang, "compare.only.more", len(entries) - _NAMED)] if len(entries) > _NAMED else []
    return say(lang, "list.and").join([*entries[:_NAMED], *more])

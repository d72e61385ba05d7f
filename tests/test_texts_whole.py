"""Every text that users read is whole: whatever is known of a finding, no placeholder is left in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

import npulint
from npulint.core.texts import FAMILIES, table
from npulint.facts.model import Span
from npulint.facts.values import PossibleValues
from npulint.judge.catalogue.check import Catalogue, Check
from npulint.judge.catalogue.forms import FORMS, PLURALS
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.catalogue.page import general
from npulint.judge.catalogue.texts import Placeholder, written
from npulint.judge.evaluate.captures import fill, with_open_places
from npulint.judge.evaluate.places import worded
from npulint.judge.findings import Related
from tests.catalogue_samples import problems, sample
from tests.fact_support import TableFact
from tests.tables import for_all

PACKAGE = Path(npulint.__file__).parent
ODD = "{x}\n`a|b` {count:places} {0} {"
PLACES = (Related("a.py", Span(1), "a"), Related("b.py", Span(2), "b"))


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


def texts(check: Check) -> Iterator[str]:
    for text in check.text.values():
        yield from (text.title, text.message, text.why, text.fix)


def named(text: str) -> set[str]:
    return {one.name for _, one in written(text) if one is not None}


class Given:
    """The arguments of a call that is given each argument by position, or (`by_keyword`) by keyword."""

    starred = False

    def __init__(self, by_keyword: bool) -> None:
        self._by_keyword = by_keyword

    def argument_value(self, name: str, position: int) -> PossibleValues | None:
        return PossibleValues((ODD,), True) if self._by_keyword or position >= 0 else None


class OddFact(TableFact, eq=False):
    """A fact whose attributes are all odd, or a call whose arguments are."""

    @property
    def args(self) -> Given:
        return Given(True)


def whole(text: str, shown: str) -> None:
    """Fails if a text as shown, without odd values, has a placeholder of the text or any other."""
    rest = shown.replace(ODD, "").replace(ODD.replace("{count", "count"), "").replace("${", "")  # variables of a shell
    assert not list(written(rest)), f"{text!r}: {rest!r}"


@for_all({check.name: check for check in catalogue().checks})
def test_no_text_of_a_check_has_a_placeholder_left(check: Check) -> None:
    counts = {"count": "2", "files": "2"} if check.once else {}
    for text in texts(check):
        absent = TableFact("call", "a.b", "a.py", Span(1))
        odd = TableFact("call", ODD, ODD, Span(1), dict.fromkeys(named(text) - {"count", "files"}, ODD))
        called = OddFact("call", "a.b", "a.py", Span(1))
        for fact in (absent, odd, called):
            whole(text, fill(text, fact, counts))
            whole(text, worded(with_open_places(text, fact), PLACES))
        whole(text, general(text))
        for rule in check.fixes:
            for because in rule.because.values():
                whole(because, fill(because, absent, {"place": "a.py:1"}))


def test_a_text_says_the_same_at_once_and_with_open_places() -> None:
    fact = TableFact("call", "a", "a.py", Span(1), {"value": "1"})
    for check in catalogue().checks:
        if check.once:
            message = check.text["en"].message
            counts = {"count": "2", "files": "2"}
            assert fill(message, fact, counts) == worded(with_open_places(message, fact), PLACES), check.name


def test_titles_and_advice_of_the_checklist_have_no_placeholders() -> None:
    items = (*catalogue().items, *catalogue().pretuning)
    assert items
    assert [
        (item.key, part)
        for item in items
        for text in item.text.values()
        for part in (text.title, text.look)
        if list(written(part))
    ] == []


def test_data_shown_in_texts_has_no_placeholders() -> None:
    paths = [*(PACKAGE / "data").glob("*.json")]
    assert len(paths) > 20
    simple = re.compile(r"(?<!\\)\{[a-z_]+(?::[a-z]+)?\}")
    assert {path.name: simple.findall(path.read_text(encoding="utf-8")) for path in paths} == {
        path.name: [] for path in paths
    }


@pytest.mark.parametrize("form", ["", *FORMS])
def test_what_is_not_known_is_still_grammatical(form: str) -> None:
    text = f"{{a:{form}}}" if form else "{a}"
    shown = fill(text, TableFact("call", "x", "a.py", Span(1)))
    assert shown == ("" if form == "times" else f"? {form}" if form in PLURALS else "?")


def test_an_argument_is_found_by_its_name_or_its_position() -> None:
    class Call(TableFact, eq=False):
        @property
        def args(self) -> Given:
            return Given(False)

    call = Call("call", "f", "a.py", Span(1))
    assert fill("{device|0}", call) == ODD
    assert fill("{device}", call) == "?"
    assert fill("{device|0}", OddFact("call", "f", "a.py", Span(1))) == ODD
    assert dict(written("{device|0} {us:time} {a|b} {arg:x|0} {k: v} {'a': n}")) == {
        "device|0": Placeholder("device", "", 0),
        "us:time": Placeholder("us", "time"),
        "a|b": None,
        "arg:x|0": None,
    }


@pytest.mark.parametrize(
    ("find", "written_as", "fine"),
    [
        ("{call: a.b}", "{device|0}", True),
        ("{call: a.b}", "{arg:device|0}", False),
        ("{call: a.b}", "{device|}", False),
        ("{call: a.b}", "{Device}", False),
        ("{loader: any}", "{num_workers|5}", True),
        ("{loader: any}", "{num_workers}", False),
        ("{loader: any, args: {num_workers: 8}}", "{num_workers}", True),
        ("{dependency: torch}", "{device|0}", False),
        ("{call: a.b}", "{count}", False),
        ("{call: a.b}", "{'count': 1}", True),
    ],
)
def test_what_a_check_cannot_fill_is_refused_with_its_line(find: str, written_as: str, fine: bool) -> None:
    text = _BLOCK.replace("HERE", written_as)
    found = [(one.line, one.message) for one in problems(sample(find=find, text=text))]
    lines = sample(find=find, text=text).split("\n")
    line = next(number for number, content in enumerate(lines, 1) if "message:" in content)
    bare = written_as.strip("{}").partition(":")[0] if written_as in ("{num_workers}", "{count}") else ""
    said = bare or ("device" if written_as == "{device|0}" else written_as.strip("{}"))
    assert found == ([] if fine else [(line, f"text.en.message: nothing fills {{{said}}}")])


_BLOCK = """
  en: {title: A title, message: "It is HERE.", why: Because., fix: Write it.}
  zh: {title: 标题, message: "值为 HERE。", why: 原因。, fix: 修改。}"""


def _said() -> Iterator[tuple[str, ast.Call, str]]:
    """Every call that says a sentence of a literal key: its place, the call, and the key."""
    for path in PACKAGE.rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in ("say", "count"):
                key = call.args[1] if len(call.args) > 1 else None
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield f"{path.relative_to(PACKAGE)}:{call.lineno}", call, key.value


def test_each_sentence_gets_all_its_values() -> None:
    sentences = {**table("main"), **{key: both for family in FAMILIES for key, both in table(family).items()}}
    missing, asked = [], 0
    for place, call, key in _said():
        given = {keyword.arg for keyword in call.keywords}
        given |= {"n"} if isinstance(call.func, ast.Name) and call.func.id == "count" else set()
        if None in given:
            continue
        asked += 1
        holes = {name for text in sentences[key] for _, name, _, _ in Formatter().parse(text) if name}
        if not holes <= given:
            missing.append((place, key, sorted(holes - given)))
    assert asked > 500
    assert missing == []


def test_values_with_braces_stay_as_they_are() -> None:
    for family in ("main", *FAMILIES):
        for key, both in table(family).items():
            for text in both:
                for variant in text.split("|"):
                    holes = {name for _, name, form, _ in Formatter().parse(variant) if name and not form}
                    others = {name for _, name, form, _ in Formatter().parse(variant) if name and form}
                    shown = variant.format(**dict.fromkeys(holes, ODD), **dict.fromkeys(others, 2))
                    assert not any(f"{{{name}}}" in shown.replace(ODD, "") for name in holes | others), key

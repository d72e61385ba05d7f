"""Parses a file of the folder ``readiness`` or ``pretuning`` to a checklist item, with the line of each problem."""

from __future__ import annotations

import msgspec

from npulint.core.errors import CatalogueProblem
from npulint.judge.catalogue.cases import read_files, read_target
from npulint.judge.catalogue.check import (
    ANSWERS,
    TOPICS,
    UNUSED,
    Applies,
    Failing,
    ItemDefinition,
    ItemExample,
    ItemText,
)
from npulint.judge.catalogue.queries import QueryReader
from npulint.judge.catalogue.schema import check_sides, read_applies, valid_name
from npulint.judge.catalogue.texts import LANGUAGES, LONGEST_TITLE, unfolded
from npulint.judge.catalogue.yaml_tree import Fields, Keys, TreeError, YamlNode, YamlScalar, load_tree
from npulint.judge.findings import SEVERITIES

FOLDER = "readiness"
PRETUNING = "pretuning"  # the folder of pre-tuning items
ENTRY = "train.py"  # the program that examples are about; the first one where there is no such file
ABSENT = "absent"  # the item does not concern the program

_REQUIRED = ("order", "otherwise", "text", "examples")
_OPTIONAL = ("applies", "needs", "fails", "doubted", "passed", "unused", "look", "compared")


class ParsedItem(msgspec.Struct, frozen=True):
    """The result of parsing one file: the item, or the problems."""

    path: str
    item: ItemDefinition | None
    problems: tuple[CatalogueProblem, ...] = ()


def parse_item(data: bytes, path: str, name: str, compared: bool = False) -> ParsedItem:
    """Parse one item, of a comparison if `compared`. `path` is only used in places of problems; `name` comes from
    it."""
    try:
        tree = load_tree(data)
    except TreeError as error:
        return ParsedItem(path, None, tuple(CatalogueProblem(path, *place) for place in error.places))
    fields = Fields(path)
    if not valid_name(name):
        fields.problem(tree, f"the file name '{name}' must be in kebab case")
    keys = fields.mapping(tree, "item", _REQUIRED, _OPTIONAL)
    item = _item(fields, keys, name)
    if "examples" in keys:
        check_sides(fields, keys["examples"], [example.files for example in item.examples], compared)
    return ParsedItem(path, None if fields.problems else item, tuple(fields.problems))


def _item(fields: Fields, keys: Keys, name: str) -> ItemDefinition:
    queries = QueryReader(fields)
    return ItemDefinition(
        name=name,
        order=_number(fields, keys["order"]) if "order" in keys else 0,
        text=_texts(fields, keys["text"]) if "text" in keys else {},
        fails=_fails(fields, keys["fails"]) if "fails" in keys else Failing(),
        doubted=_doubted(fields, keys["doubted"]) if "doubted" in keys else Failing(),
        otherwise=fields.word(keys["otherwise"], "otherwise", ANSWERS) if "otherwise" in keys else "",
        applies=read_applies(fields, keys["applies"]) if "applies" in keys else Applies(),
        needs=queries.condition(keys["needs"], "needs") if "needs" in keys else None,
        passed=queries.find(keys["passed"], "passed") if "passed" in keys else None,
        unused=queries.condition(keys["unused"], "unused") if "unused" in keys else None,
        look=queries.find(keys["look"], "look") if "look" in keys else None,
        compared=fields.flag(keys["compared"], "compared") if "compared" in keys else False,
        examples=_examples(fields, keys["examples"]) if "examples" in keys else (),
    )


def _number(fields: Fields, node: YamlNode) -> int:
    value = node.value if isinstance(node, YamlScalar) else None
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    fields.problem(node, "order must be a number from 1")
    return 0


def _texts(fields: Fields, node: YamlNode) -> dict[str, ItemText]:
    texts = {}
    for lang, block in fields.mapping(node, "text", LANGUAGES).items():
        keys = fields.mapping(block, f"text.{lang}", ("title", "look"))
        parts = {part: " ".join(fields.text(value, f"text.{lang}.{part}").split()) for part, value in keys.items()}
        if lang == "zh":
            parts = {part: unfolded(text) for part, text in parts.items()}
        texts[lang] = ItemText(parts.get("title", ""), parts.get("look", ""))
        if len(texts[lang].title) > LONGEST_TITLE:
            fields.problem(block, f"text.{lang}.title has more than {LONGEST_TITLE} characters")
    return texts


def _fails(fields: Fields, node: YamlNode) -> Failing:
    keys = fields.mapping(node, "fails", (), ("topics", "checks", "but", "from", "anywhere"))
    severity = fields.word(keys["from"], "fails.from", SEVERITIES) if "from" in keys else "warning"
    return _failing(fields, keys, "fails", severity)


def _doubted(fields: Fields, node: YamlNode) -> Failing:
    """Findings that leave an item undetermined: those of its matter at any severity."""
    return _failing(fields, fields.mapping(node, "doubted", (), ("topics", "checks", "but")), "doubted", SEVERITIES[0])


def _failing(fields: Fields, keys: Keys, key: str, severity: str) -> Failing:
    def words(name: str, vocabulary: frozenset[str] = frozenset()) -> tuple[str, ...]:
        return fields.words(keys[name], f"{key}.{name}", vocabulary) if name in keys else ()

    return Failing(words("topics", TOPICS), words("checks"), words("but"), severity, words("anywhere"))


def _examples(fields: Fields, node: YamlNode) -> tuple[ItemExample, ...]:
    item_examples = []
    for place, item in enumerate(fields.items(node, "examples")):
        what = f"examples[{place}]"
        outcomes = (*ANSWERS, UNUSED, ABSENT)
        keys = fields.mapping(item, what, (), (*outcomes, "target"))
        answers = [answer for answer in outcomes if answer in keys]
        if len(answers) != 1:
            fields.problem(item, f"{what} must have one of {', '.join(outcomes)}")
            continue
        files, marks = read_files(fields, keys, answers[0], what)
        item_examples.append(ItemExample(answers[0], files, read_target(fields, keys, what), marks))
    return tuple(item_examples)

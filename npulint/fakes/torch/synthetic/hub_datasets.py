"""Data sets of the Hugging Face Hub that are missing: those whose columns are known, with random rows."""

from __future__ import annotations

import csv
import functools
import importlib
import os
import random
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy

from npulint.fakes.torch.errors import Missing
from npulint.fakes.torch.synthetic.absent import is_absent
from npulint.fakes.torch.synthetic.said import say
from npulint.fakes.torch.synthetic.words import lines

_TABLE = os.path.join(os.path.dirname(__file__), "hub_datasets.csv")
_TRAIN, _OTHER, _PICTURES = 2000, 400, 200  # rows
_WIDE = 100  # pixels from which a data set has fewer pictures
_ROW = tuple[list[str], list[tuple[str, str]]]


def change(module: ModuleType) -> None:
    """Let ``load_dataset`` make up what is missing."""
    names = vars(module)
    original = names["load_dataset"]

    @functools.wraps(original)
    def load_dataset(path: Any, name: Any = None, *args: Any, **kwargs: Any) -> Any:
        try:
            return original(path, name, *args, **kwargs)
        except Exception as error:
            if not is_absent(error) and type(error).__name__ not in ("DatasetNotFoundError", "ValueError"):
                raise
            row = known(str(path), str(name or ""))
            if row is None:
                raise Missing(f"the columns of the data set {path} are not known, so it is not made up") from error
            return _loaded(module, str(path), str(name or ""), row, kwargs)

    names["load_dataset"] = load_dataset


def known(path: str, config: str) -> _ROW | None:
    """The splits and the columns of a data set, if they are known."""
    wanted = path.rstrip("/").rpartition("/")[2].lower()
    rows = [row for row in _rows() if row["name"] == wanted]
    if not rows:
        longer = [row for row in _rows() if not row["config"]]  # "wikitext-2" is a "wikitext"
        rows = [row for row in longer if wanted.startswith((f"{row['name']}-", f"{row['name']}_"))]
    if not rows:
        return None
    row = next((row for row in rows if row["config"] in ("", config)), rows[0])
    columns = [tuple(column.split("=", 1)) for column in row["columns"].split()]
    return row["splits"].split(), columns  # type: ignore[return-value]


@functools.cache
def _rows() -> list[dict[str, str]]:
    with open(_TABLE, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _loaded(module: ModuleType, path: str, config: str, row: _ROW, given: dict[str, Any]) -> Any:
    splits, columns = row
    names = vars(module)
    said = "/".join(part for part in (path, config) if part)
    say(f"data set {said}: random rows with the columns {', '.join(name for name, _ in columns)}")
    wanted = given.get("split")
    if wanted is None:
        made = {split: _split(module, split, columns, config) for split in splits}
        kind = "IterableDatasetDict" if given.get("streaming") else "DatasetDict"
        return names[kind]({name: _streamed(dataset, given) for name, dataset in made.items()})
    if isinstance(wanted, (list, tuple)):
        return [_of(module, str(expression), row, config, given) for expression in wanted]
    return _of(module, str(wanted), row, config, given)


def _of(module: ModuleType, wanted: str, row: _ROW, config: str, given: dict[str, Any]) -> Any:
    """One split by its expression: ``train``, ``train[:10%]``, ``train+test``."""
    parts = [re.match(r"\w+", term.strip()) for term in wanted.split("+")]
    made = [_cut(_split(module, part.group(), row[1], config), wanted) for part in parts if part]
    joined = made[0] if len(made) == 1 else vars(module)["concatenate_datasets"](made)
    return _streamed(joined, given)


def _cut(split: Any, expression: str) -> Any:
    match = re.search(r"\[(\d*)(%?):(\d*)(%?)\]", expression)
    if match is None:
        return split
    first, percent, last, other = match.groups()
    total = len(split)
    begin, end = _row_number(first or "0", percent, total), _row_number(last or str(total), other, total)
    return split.select(range(begin, end))


def _row_number(number: str, percent: str, total: int) -> int:
    return min(total, int(number) * total // 100 if percent else int(number))


def _streamed(split: Any, given: dict[str, Any]) -> Any:
    return split.to_iterable_dataset() if given.get("streaming") else split


def _split(module: ModuleType, split: str, columns: list[tuple[str, str]], config: str) -> Any:
    names = vars(module)
    wide = any(kind.startswith("image") and int(kind.split(":")[1]) > _WIDE for _, kind in columns)
    count = _PICTURES if wide else _TRAIN if split.startswith("train") else _OTHER
    data = {name: _values(kind, count, number, config) for number, (name, kind) in enumerate(columns)}
    features = names["Features"]({name: _feature(names, kind, config) for name, kind in columns})
    return names["Dataset"].from_dict(data, features=features, split=names["NamedSplit"](split))


def _feature(names: dict[str, Any], kind: str, config: str) -> Any:
    """The type of a column in the words of the library."""
    base, _, more = kind.partition(":")
    value, sequence, label = names["Value"], names["Sequence"], names["ClassLabel"]
    text = value("string")
    made: dict[str, Callable[[], Any]] = {
        "class": lambda: label(num_classes=int(more)),
        "tags": lambda: sequence(label(num_classes=int(more))),
        "words": lambda: sequence(text),
        "image": names["Image"],
        "messages": lambda: [{"content": text, "role": text}],
        "turns": lambda: [{"input": text, "output": text}],
        "translation": lambda: names["Translation"](languages=_languages(config)),
        "answers": lambda: sequence({"text": text, "answer_start": value("int32")}),
        "replies": lambda: {"a_id": [text], "text": [text], "score": [value("int32")]},
        "objects": lambda: {
            "id": [value("int64")],
            "area": [value("int64")],
            "bbox": [[value("float32")]],
            "category": [label(num_classes=5)],
        },
        "index": lambda: value("int32"),
        "float": lambda: value("float32"),
    }
    return made[base]() if base in made else text


def _languages(config: str) -> list[str]:
    languages = re.findall(r"\b[a-z]{2}\b", config.replace("_", "-"))
    return languages[:2] if len(languages) >= 2 else ["en", "fr"]


def _values(kind: str, count: int, seed: int, config: str) -> list[Any]:
    """Random values of a column."""
    base, _, more = kind.partition(":")
    if base == "image":
        side, channels = map(int, more.split(":"))
        return _pictures(count, side, channels)
    if base in ("words", "tags"):  # a row has as many of both
        chosen = random.Random(seed)
        rows = [line.split() for line in lines(count)]
        return rows if base == "words" else [[chosen.randrange(int(more)) for _ in row] for row in rows]
    if base in _NUMBERS:
        chosen = random.Random(seed)
        return [_NUMBERS[base](number, int(more or 0), chosen) for number in range(count)]
    text = lines(count, seed=seed)
    if base == "translation":
        return [dict.fromkeys(_languages(config), line) for line in text]
    return [_TEXTS[base](line) for line in text] if base in _TEXTS else text


_NUMBERS: dict[str, Callable[[int, int, random.Random], Any]] = {
    "class": lambda number, classes, chosen: chosen.randrange(classes),
    "index": lambda number, classes, chosen: number,
    "float": lambda number, classes, chosen: chosen.uniform(0, 5),
    "id": lambda number, classes, chosen: str(number),
}
_TEXTS: dict[str, Callable[[str], Any]] = {
    "messages": lambda text: [{"content": text, "role": "user"}, {"content": text, "role": "assistant"}],
    "turns": lambda text: [{"input": text, "output": text}],
    "answers": lambda text: {"text": [text.split()[0]], "answer_start": [0]},
    "replies": lambda text: {"a_id": ["0"], "text": [text], "score": [1]},
    "objects": lambda text: {"id": [0], "area": [400], "bbox": [[10.0, 10.0, 20.0, 20.0]], "category": [0]},
}


def _pictures(count: int, side: int, channels: int) -> list[Any]:
    images: Any = importlib.import_module("PIL.Image")
    shape = (side, side, 3) if channels == 3 else (side, side)
    some = numpy.random.default_rng(0).integers(0, 256, (min(count, 50), *shape), dtype=numpy.uint8)
    made = [images.fromarray(pixels) for pixels in some]
    return [made[number % len(made)] for number in range(count)]

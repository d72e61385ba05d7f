"""Data sets of the Hugging Face Hub that are missing: those whose columns are known, with random rows."""

from __future__ import annotations

import csv
import functools
import os
import random
import re
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
        rows = [row for row in _rows() if not row["config"] and wanted.startswith((f"{row['name']}-", f"{row['name']}_"))]
    if not rows:
        return None
    row = next((row for row in rows if row["config"] in ("", config)), rows[0])
    columns = [tuple(one.split("=", 1)) for one in row["columns"].split()]
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
        return names[kind]({name: _streamed(one, given) for name, one in made.items()})
    if isinstance(wanted, (list, tuple)):
        return [_of(module, str(one), row, config, given) for one in wanted]
    return _of(module, str(wanted), row, config, given)


def _of(module: ModuleType, wanted: str, row: _ROW, config: str, given: dict[str, Any]) -> Any:
    """One split by its expression: ``train``, ``train[:10%]``, ``train+test``."""
    parts = [re.match(r"\w+", one.strip()) for one in wanted.split("+")]
    made = [_cut(_split(module, one.group(), row[1], config), wanted) for one in parts if one]
    joined = made[0] if len(made) == 1 else vars(module)["concatenate_datasets"](made)
    return _streamed(joined, given)


def _cut(split: Any, expression: str) -> Any:
    found = re.search(r"\[(\d*)(%?):(\d*)(%?)\]", expression)
    if found is None:
        return split
    first, percent, last, other = found.groups()
    total = len(split)
    ends = [
        int(number) * total // 100 if share else int(number) for number, share in ((first or 0, percent), (last or total, other))
    ]
    return split.select(range(min(ends[0], total), min(ends[1], total)))


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
    base, _, more = kind.partition(":")
    value = names["Value"]
    if base == "class":
        return names["ClassLabel"](num_classes=int(more))
    if base == "tags":
        return names["Sequence"](names["ClassLabel"](num_classes=int(more)))
    if base == "image":
        return names["Image"]()
    if base == "messages":
        return [{"content": value("string"), "role": value("string")}]
    if base == "turns":
        return [{"input": value("string"), "output": value("string")}]
    if base == "translation":
        return names["Translation"](languages=_languages(config))
    if base == "answers":
        return names["Sequence"]({"text": value("string"), "answer_start": value("int32")})
    if base == "replies":
        return {"a_id": [value("string")], "text": [value("string")], "score": [value("int32")]}
    if base == "objects":
        return {"id": [value("int64")], "area": [value("int64")], "bbox": [[value("float32")]], "category": [names["ClassLabel"](num_classes=5)]}
    if base == "words":
        return names["Sequence"](value("string"))
    return value({"index": "int32", "float": "float32"}.get(base, "string"))


def _languages(config: str) -> list[str]:
    found = re.findall(r"\b[a-z]{2}\b", config.replace("_", "-"))
    return found[:2] if len(found) >= 2 else ["en", "fr"]


def _values(kind: str, count: int, seed: int, config: str) -> list[Any]:
    base, _, more = kind.partition(":")
    chosen = random.Random(seed)
    text = lines(count, seed=seed)
    if base == "class":
        return [chosen.randrange(int(more)) for _ in range(count)]
    if base == "tags":
        return [[chosen.randrange(int(more)) for _ in one.split()] for one in lines(count)]
    if base == "words":
        return [one.split() for one in lines(count)]  # as long as the tags
    if base == "index":
        return list(range(count))
    if base == "float":
        return [chosen.uniform(0, 5) for _ in range(count)]
    if base == "id":
        return [str(number) for number in range(count)]
    if base == "image":
        side, channels = map(int, more.split(":"))
        return _pictures(count, side, channels)
    made: dict[str, Any] = {
        "messages": lambda one: [{"content": one, "role": "user"}, {"content": one, "role": "assistant"}],
        "turns": lambda one: [{"input": one, "output": one}],
        "translation": lambda one: dict.fromkeys(_languages(config), one),
        "answers": lambda one: {"text": [one.split()[0]], "answer_start": [0]},
        "replies": lambda one: {"a_id": ["0"], "text": [one], "score": [1]},
        "objects": lambda one: {"id": [0], "area": [400], "bbox": [[10.0, 10.0, 20.0, 20.0]], "category": [0]},
    }
    return [made[base](one) for one in text] if base in made else text


def _pictures(count: int, side: int, channels: int) -> list[Any]:
    from PIL import Image

    shape = (side, side, 3) if channels == 3 else (side, side)
    some = numpy.random.default_rng(0).integers(0, 256, (min(count, 50), *shape), dtype=numpy.uint8)
    made = [Image.fromarray(one) for one in some]
    return [made[number % len(made)] for number in range(count)]

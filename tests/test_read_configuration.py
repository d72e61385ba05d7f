"""Configuration files to leaves with places, whatever is in them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from npulint.discover.files import DiscoverOptions, discover
from npulint.facts.model import Fact, FileFacts
from npulint.read.configuration import LIMIT, ConfigLeaf, read_configuration, typed
from npulint.read.files import load, read
from npulint.read.source import DecodedSource
from tests.growth import ended_if_stuck

SUFFIXES = ("yaml", "yml", "json", "toml", "ini", "cfg", "conf", "gin", "pbtxt", "prototxt", "config")


def facts(text: str, path: str) -> list[Fact]:
    found = read_configuration(DecodedSource(text), path)
    assert found.problems == []
    return found.facts


def values(text: str, path: str = "a.yaml") -> dict[str, object]:
    return {fact.name: fact.value for fact in facts(text, path) if isinstance(fact, ConfigLeaf)}


def by_key(facts: list[Fact]) -> dict[tuple[str, ...], object]:
    return {fact.key: fact.value for fact in facts if isinstance(fact, ConfigLeaf)}


def reason(text: str, path: str = "a.yaml") -> str:
    found = read_configuration(DecodedSource(text), path)
    assert found.facts == []
    return found.problems[0].reason


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1e-3", 0.001),
        ("1E5", 1e5),
        (".5", 0.5),
        ("5.", 5.0),
        ("-1", -1),
        ("+2", 2),
        ("1_000", 1000),
        ("0x10", 16),
        ("010", 8),
        ("on", True),
        ("No", False),
        ("~", None),
        ("None", None),
        (".inf", math.inf),
        ("-inf", -math.inf),
        ("12:30", "12:30"),
        ("2020-01-01", "2020-01-01"),
        ("1.2.3", "1.2.3"),
        ("resnet50", "resnet50"),
        ("e5", "e5"),
        ("1e", "1e"),
        ("-", "-"),
        ("08", 8.0),
    ],
)
def test_a_word_is_what_its_writer_means(written: str, meant: object) -> None:
    assert typed(written) == meant
    assert type(typed(written)) is type(meant)
    assert values(f"a: {written}\n" if written != "-" else "a: '-'\n") == {"a": meant}


def test_the_leaves_of_yaml() -> None:
    text = """
optimizer: {name: 'SGD', lr: 1e-2, betas: [0.9, 0.999]}
base: &base
  depth: 50
  on: yes
model:
  <<: *base
  depth: 101
stages: [{a: 1}, {a: 2}]
quoted: "1"
block: |
  text
empty:
tuple: !!python/tuple [1, 2]
text: !!str 3
other: !include other.yaml
"""
    assert values(text) == {
        "optimizer.name": "SGD",
        "optimizer.lr": 0.01,
        "optimizer.betas": (0.9, 0.999),
        "base.depth": 50,
        "base.on": True,
        "model.depth": 101,
        "model.on": True,
        "stages.0.a": 1,
        "stages.1.a": 2,
        "quoted": "1",
        "block": "text\n",
        "empty": None,
        "tuple": (1, 2),
        "text": "3",
        "other": "other.yaml",
    }


def test_the_place_is_where_the_value_is_written() -> None:
    text = "a: &lr 0.1  # here\nb:\n  c: *lr\n  d: 学习率\n"
    places = {fact.name: fact.span for fact in facts(text, "a.yaml")}
    assert (places["a"].line, places["a"].end_line, places["a"].end_column) == (1, 1, 11)
    assert places["b.c"] == places["a"]
    assert (places["b.d"].line, places["b.d"].column, places["b.d"].end_column) == (4, 6, 9)


def test_of_equal_keys_the_last_counts() -> None:
    assert values("a: 1\nb: 2\na: 3\n") == {"b": 2, "a": 3}
    assert values('{"a": 1, "a": 3}', "a.json") == {"a": 3}


def test_templates_are_text() -> None:
    assert values("a: {{ lr }}\nb: ${oc.env:LR}\nc: x{{ y }}\n") == {
        "a": "{{ lr }}",
        "b": "${oc.env:LR}",
        "c": "x{{ y }}",
    }


def test_json_with_slips() -> None:
    text = '// note\n{"lr": 1e-5, "n": NaN, "steps": [1, [2, 3],], "m": {"x": true, /* no */ "y": null},}'
    assert values(text, "a.json") == {"lr": 1e-5, "n": "NaN", "steps": (1, (2, 3)), "m.x": True, "m.y": None}


def test_sections_of_a_network_of_darknet() -> None:
    text = "[net]\nbatch=64 # all\nlearning_rate=0.001\n\n[convolutional]\nfilters=32\n[convolutional]\nfilters=64\n"
    assert values(text, "yolo.cfg") == {
        "net.batch": 64,
        "net.learning_rate": 0.001,
        "convolutional.filters": 32,
        "convolutional.1.filters": 64,
    }


def test_toml() -> None:
    text = 'title = "x # y"\n[train.optim]\nlr = 1e-3\nbetas = [0.9,\n  0.999]  # two\n"a.b" = true\n'
    assert values(text, "a.toml") == {
        "title": "x # y",
        "train.optim.lr": 1e-3,
        "train.optim.betas": (0.9, 0.999),
        "train.optim.a.b": True,
    }


def test_gin() -> None:
    text = "import tools.optim\nAdam.beta1 = 0.0\ntrain/options.batch_size = 64\nG.act = @relu\nx.shape = (8,\n    8)\n"
    assert values(text, "a.gin") == {
        "Adam.beta1": 0.0,
        "train/options.batch_size": 64,
        "G.act": "@relu",
        "x.shape": (8, 8),
    }


def test_the_text_format_of_protocol_buffers() -> None:
    text = """
train_config: {
  batch_size: 24  # each
  optimizer { adam { learning_rate: 4e-4 use_ema: false } }
  augment { flip { } } augment { crop: "random" }
  steps: [1, 2]  stride: 1 stride: 2
}
"""
    assert values(text, "pipeline.config") == {
        "train_config.batch_size": 24,
        "train_config.optimizer.adam.learning_rate": 4e-4,
        "train_config.optimizer.adam.use_ema": False,
        "train_config.augment.1.crop": "random",
        "train_config.steps": (1, 2),
        "train_config.stride": (1, 2),
    }


def test_the_package_of_hydra() -> None:
    kinds = [(fact.kind, fact.name) for fact in facts("# @package _global_\nlr: 1\n", "a.yaml")]
    assert kinds == [("config_package", "_global_"), ("config_value", "lr")]


@pytest.mark.parametrize(
    ("text", "path", "why"),
    [
        ("a: [1\nb: 2", "a.yaml", "syntax-error"),
        ("a: \x07", "a.yaml", "syntax-error"),
        ("a: 1\n\tb: 2", "a.yaml", "syntax-error"),
        ("lr = 1", "a.json", "json"),
        ("a { b: 1", "a.config", "syntax-error"),
        ("a } b", "a.pbtxt", "syntax-error"),
        ("[" * 500 + "]" * 500, "a.yaml", "too-deep"),
        ("[" * 500 + "]" * 500, "a.json", "too-deep"),
        ("a {" * 500 + "}" * 500, "a.config", "too-deep"),
        ("#" * (LIMIT + 1), "a.yaml", "too-large"),
        ("a: [" + "1, " * 60_000 + "]", "a.yaml", "too-large"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, path: str, why: str) -> None:
    assert reason(text, path) == why


@pytest.mark.parametrize(
    "text",
    [
        "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
        "a0: &a0 {x: 1, y: 2}\n" + "".join(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}\n" for n in range(1, 40)),
        "a0: &a0 {"
        + ", ".join(f"k{n}: {n}" for n in range(500))
        + "}\n"
        + "".join(f"a{n}: {{<<: [{', '.join(['*a0'] * 50)}]}}\n" for n in range(1, 200)),
    ],
)
def test_a_bomb_of_aliases_is_data(text: str) -> None:
    with ended_if_stuck():
        assert reason(text) == "too-large"


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["a = [\n", "[a\n", "[a]\n", "a.b.c = (1,\n", "a {\n", "a: [\n", "- - - a\n", "a: &a\n"]
)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_reading_takes_no_longer_than_the_file_is_long(line: str, suffix: str) -> None:
    with ended_if_stuck():
        read_configuration(DecodedSource(line * (60_000 // len(line))), f"a.{suffix}")


def test_an_anchor_within_itself_is_nothing() -> None:
    assert values("a: &a [1, *a]\n") == {"a": (1, None)}


def test_tags_make_no_objects() -> None:
    text = "a: !!python/object/apply:os.system ['exit 1']\nb: !!python/name:os.system ''\n"
    assert values(text) == {"a": ("exit 1",), "b": ""}


NAMES = st.text(st.sampled_from("abcdefgh_XYZ"), min_size=1, max_size=6)
TEXTS = st.text(st.sampled_from("abcxyz é学:#-{[&*!|>%@'\"\n"), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS | st.floats(-1e9, 1e9)
TREES = st.dictionaries(
    NAMES,
    st.recursive(
        SCALARS,
        lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(NAMES, inner, min_size=1, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


def flattened(value: object, key: tuple[str, ...] = ()) -> dict[tuple[str, ...], object]:
    """The leaves of a value by their keys."""
    if isinstance(value, dict):
        return {k: v for name, inner in value.items() for k, v in flattened(inner, (*key, name)).items()}
    if isinstance(value, list):
        if not _has_mapping(value):
            return {key: _frozen(value)}
        return {k: v for at, inner in enumerate(value) for k, v in flattened(inner, (*key, str(at))).items()}
    return {key: value}


def _has_mapping(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(map(_has_mapping, value)))


def _frozen(value: object) -> object:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@given(TREES)
def test_json_says_what_was_written(tree: dict[str, object]) -> None:
    found = by_key(facts(json.dumps(tree, indent=1), "a.json"))
    assert found == flattened(tree)


@given(TREES, st.booleans())
def test_yaml_says_what_was_written(tree: dict[str, object], flow: bool) -> None:
    text = yaml.safe_dump(tree, default_flow_style=flow, allow_unicode=True, sort_keys=False)
    text = text.replace("\r", "")
    whole = yaml.safe_load(text)
    found = read_configuration(DecodedSource(text), "a.yaml")
    assert by_key(found.facts) == flattened(whole or {})


@given(
    st.text(st.sampled_from("ab1.:-{}[]<>()=,#&*!|>'\"% \n\t@?~\\/é\x00\u2028"), max_size=60), st.sampled_from(SUFFIXES)
)
def test_nothing_that_is_in_a_file_ends_the_reading(text: str, suffix: str) -> None:
    found = read_configuration(DecodedSource(text), f"a.{suffix}")
    lines = text.count("\n") + 1
    assert all(1 <= fact.span.line <= fact.span.end_line <= lines + 1 for fact in found.facts)
    assert all(problem.reason in ("syntax-error", "json", "too-large", "too-deep") for problem in found.problems)


def test_configurations_are_found_when_they_are_wanted(tmp_path: Path) -> None:
    names = ["train.py", "a.yaml", "b.json", "data/c.YML", "lists.json", "large.json", "ignored.yaml", "x.venv/d.yaml"]
    for name in names:
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_text("a: 1\n" if "y" in place.suffix.lower() else '{"a": 1}')
    (tmp_path / "lists.json").write_text('{"black-list": {"to-add": ["Add"]}}')
    (tmp_path / "large.json").write_text('{"a": "' + "x" * 300_000 + '"}')
    (tmp_path / ".gitignore").write_text("ignored.yaml\n")
    (tmp_path / ".git").mkdir()
    without = discover([str(tmp_path)])
    assert {file.kind for file in without.files} == {
        "python",
        "mixlist",
        "data",
    }  # data is only read where it is loaded
    found = discover([str(tmp_path)], DiscoverOptions(configurations=True))
    kinds = {Path(file.path).relative_to(tmp_path).as_posix(): file.kind for file in found.files}
    assert kinds == {
        "train.py": "python",
        "a.yaml": "configuration",
        "b.json": "configuration",
        "data/c.YML": "configuration",
        "lists.json": "mixlist",
        "x.venv/d.yaml": "configuration",
    }
    assert found.problems == []
    source = next(file for file in found.files if file.path.endswith("c.YML"))
    facts: FileFacts = read(load(source))
    assert list(by_key(facts.facts).values()) == [1]

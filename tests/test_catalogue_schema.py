"""Check files: what a valid one becomes, and every mistake at its line and column."""

from __future__ import annotations

import pytest

from npulint.judge.catalogue.check import Applies, Example, Query, Reference
from npulint.judge.catalogue.schema import valid_name
from tests.catalogue_samples import SAMPLE, parsed, problems, sample

_LONG = "x" * 91
_FULL_TEXT = SAMPLE["text"]


def test_a_check_file_becomes_a_check() -> None:
    check = parsed(
        sample(
            applies="{framework: tensorflow, state: [partial, migrated], soc: [910A], tensorflow: '>=1.15,<2', "
            "trains: true}",
            needs='{import: "npu_bridge.**"}',
            related="{input_stage: map}",
            once="file",
        )
    )
    assert (check.code, check.name, check.family, check.since) == ("NPU1101", "a-check", "tensorflow", "0.1")
    assert (check.status, check.topic, check.category) == ("stable", "variable_in_input_fn", "functional")
    assert (check.severity, check.confidence, check.once) == ("error", "high", "file")
    assert check.applies == Applies(
        frameworks=("tensorflow",),
        states=("partial", "migrated"),
        soc=("910A",),
        versions={"tensorflow": ">=1.15,<2"},
        trains=True,
    )
    assert check.find == Query(kind="call", names=("tensorflow.Variable",), where={"in_input": "yes"})
    assert check.needs == Query(kind="import", names=("npu_bridge.**",), active=False)
    assert check.unless is None
    assert check.references == (Reference("Training cases", "https://example.org/cases"),)
    assert check.text["zh"].title == "映射函数中的变量"


def test_optional_keys_have_quiet_defaults() -> None:
    check = parsed(sample())
    assert check.applies == Applies()
    assert (check.needs, check.unless, check.related) == (None, None, None)
    assert (check.once, check.applicability) == ("", "manual")


def test_markers_become_expected_lines_and_leave_the_text() -> None:
    check = parsed(sample())
    assert check.examples[0] == Example(
        True, {"train.py": "import tensorflow as tf\nw = tf.Variable(1.0)\n"}, expect=(("train.py", 2),)
    )
    assert check.examples[1] == Example(False, {"train.py": "import tensorflow as tf\n"})


EXAMPLES = """
  - bad:
      files:
        a/train.sh: |
          #!/bin/bash
          export A=1 \t#  expect \t
          echo "# expect nothing"
          # expect
        ops_info.json: |
          {
            "black-list": {}
          }
        empty.py: ""
      expect: ["ops_info.json:2"]
    target: {tensorflow: "1.15", soc: 910A}
  - bad: |
      export A=1  # expect
    file: run/train.sh
  - good: x = 1
    also: [NPU1203, NPU1301]"""


def test_examples_of_several_files() -> None:
    several, shell, good = parsed(sample(examples=EXAMPLES)).examples
    assert several.files["a/train.sh"] == '#!/bin/bash\nexport A=1\necho "# expect nothing"\n\n'
    assert several.files["empty.py"] == ""
    assert several.expect == (("a/train.sh", 2), ("a/train.sh", 4), ("ops_info.json", 2))
    assert several.target == {"tensorflow": "1.15", "soc": "910A"}
    assert (shell.files, shell.expect) == ({"run/train.sh": "export A=1\n"}, (("run/train.sh", 1),))
    assert (good.bad, good.files, good.also) == (False, {"train.py": "x = 1"}, ("NPU1203", "NPU1301"))


def text(lang: str, **parts: str) -> str:
    """The text block with parts of one language replaced."""
    lines = _FULL_TEXT.split("\n")
    start = lines.index(f"  {lang}:")
    for number in range(start + 1, start + 5):
        part = lines[number].strip().partition(":")[0]
        if part in parts:
            lines[number] = f"    {part}: {parts[part]}"
    return "\n".join(lines)


GOOD = "\n  - good: x"
BAD = "\n  - bad: 'x # expect'"

MISTAKES = [
    ("an unknown key", {"fined": "{call: x}"}, "fined:", "unknown key 'fined' (did you mean 'find'?)"),
    ("a key that is like nothing", {"zzz": "1"}, "zzz:", "check: unknown key 'zzz'"),
    (
        "a code without digits",
        {"code": "NPU11"},
        "NPU11",
        "code: 'NPU11' is not NPU and four digits, of which the third may be a letter",
    ),
    ("a code of another family", {"code": "NPU2101"}, "NPU2101", "the first digit of tensorflow checks is 1, not 2"),
    ("a code of another category", {"code": "NPU1301"}, "NPU1301", "second digit of functional checks is 1, not 3"),
    ("an empty code", {"code": '""'}, '""', "code is empty"),
    ("a release that is no version", {"since": "soon"}, "soon", "since: 'soon' is not a version"),
    ("a release that is a number", {"since": "1"}, "1", "since must be a string; put it in quotes"),
    ("a misspelt status", {"status": "stabel"}, "stabel", "(did you mean 'stable'?)"),
    ("an unknown topic", {"topic": "dropouts"}, "dropouts", "(did you mean 'dropout'?)"),
    ("an unknown category", {"category": "speed"}, "speed", "'speed' is not one of functional, hygiene,"),
    ("an unknown consequence", {"consequence": "crash"}, "crash", "'crash' is not one of hygiene, idle-devices,"),
    ("an unknown occurrence", {"occurs": "never"}, "never", "'never' is not one of always, if-chosen, if-reached,"),
    ("an unknown confidence", {"confidence": "sure"}, "sure", "'sure' is not one of high, low, medium"),
    ("an unknown reach of once", {"once": "true"}, "true", "once must be a string"),
    ("applies as a list", {"applies": "[tensorflow]"}, "[", "applies must be a mapping"),
    ("an unknown framework", {"applies": "{framework: jax}"}, "jax", "'jax' is not one of onnx, tensorflow, torch"),
    ("an unknown state", {"applies": "{state: [done]}"}, "done", "'done' is not one of migrated, not_started, partial"),
    ("an unknown mode", {"applies": "{mode: [eager]}"}, "eager", "'eager' is not one of"),
    ("an empty list of states", {"applies": "{state: []}"}, "[]", "applies.state must be a non-empty list"),
    ("trains as a word", {"applies": "{trains: yes}"}, "yes", "applies.trains must be true or false"),
    ("a range without a version", {"applies": '{tensorflow: ">=x"}'}, '">=x', "not a version range such as"),
    ("a range with an empty part", {"applies": '{torch: ">=2,"}'}, '">=2', "not a version range such as"),
    ("a range as a number", {"applies": "{torch: 2}"}, "2}", "applies.torch must be a string; put it in quotes"),
    ("text that is no mapping", {"text": "hello"}, "hello", "text must be a mapping"),
    ("a third language", {"text": _FULL_TEXT + "\n  fr: {}"}, "fr:", "text: unknown key 'fr'"),
    ("a missing language", {"text": _FULL_TEXT[: _FULL_TEXT.index("  zh")]}, "en:", "text: the key 'zh' is missing"),
    ("a missing part", {"text": text("en").replace("    fix: Create it outside.\n", "")}, "title:", "'fix' is missing"),
    ("an empty part", {"text": text("en", why='""')}, '""', "text.en.why is empty"),
    ("a title of 91 characters", {"text": text("en", title=_LONG)}, _LONG, "has 91 characters, at most 90"),
    ("a title with a placeholder", {"text": text("en", title='"a {name}"')}, '"a {', "one line without placeholders"),
    (
        "a Chinese title in English",
        {"text": text("zh", title="A variable")},
        "A variable",
        "text.zh.title is not Chinese",
    ),
    ("a Chinese reason in English", {"text": text("zh", why="Because.")}, "Because.", "text.zh.why is not Chinese"),
    (
        "placeholders that differ",
        {"text": text("zh", message="映射 `{short}`")},
        "映射",
        "has {short} but text.en.message has {name}",
    ),
    (
        "a placeholder of the other language",
        {"text": text("zh", message="映射 `{name_en}`")},
        "映射",
        "has {name_en} but text.en.message has {name}",
    ),
    (
        "a placeholder in one language",
        {"text": text("zh", fix="改 {name}")},
        "改",
        "has {name} but text.en.fix has no placeholder",
    ),
    ("no reference", {"references": "[]"}, "[]", "references must be a non-empty list"),
    ("a reference without a title", {"references": '[{source: "https://a.b"}]'}, "{source", "'title' is missing"),
    (
        "a source that is no address",
        {"references": "[{title: t, source: seed}]"},
        "seed",
        "neither an address nor owner/repo:path",
    ),
    ("no example", {"examples": "[]"}, "[]", "examples must be a non-empty list"),
    ("no bad example", {"examples": GOOD}, "- good", "there is no bad example"),
    ("no good example", {"examples": BAD}, "- bad", "there is no good example"),
    (
        "both sides in one example",
        {"examples": "\n  - {bad: 'x # expect', good: y}" + BAD + GOOD},
        "{bad",
        "either 'bad' or 'good'",
    ),
    ("an example of no side", {"examples": "\n  - {file: a.py}" + BAD + GOOD}, "{file", "either 'bad' or 'good'"),
    ("an example that is text", {"examples": "\n  - x" + BAD + GOOD}, "x", "examples[0] must be a mapping"),
    ("a bad example without a mark", {"examples": "\n  - bad: x" + GOOD}, "x", "no line is marked with '# expect'"),
    (
        "a good example with a mark",
        {"examples": BAD + "\n  - good: 'x # expect'"},
        "'x",
        "a good example must not expect findings",
    ),
    ("an empty good example", {"examples": BAD + "\n  - good: ' '"}, "' '", "is empty"),
    ("an example that is a number", {"examples": BAD + "\n  - good: 1"}, "1", "must be the text of a file"),
    ("shell without a file name", {"examples": BAD + '\n  - good: "export A=1"'}, '"export', "add 'file: train.sh'"),
    (
        "a script without a file name",
        {"examples": BAD + '\n  - good: "#!/usr/bin/env bash\\n"'},
        '"#!',
        "looks like shell",
    ),
    (
        "a file name beside files",
        {"examples": BAD + "\n  - {good: {files: {a.py: x}}, file: b.py}"},
        "b.py",
        "names a single text",
    ),
    (
        "a file above the folder",
        {"examples": BAD + "\n  - {good: x, file: ../a.py}"},
        "../a.py",
        "not a plain relative file name",
    ),
    (
        "an absolute file",
        {"examples": BAD + "\n  - {good: {files: {/a.py: x}}}"},
        "/a.py",
        "not a plain relative file name",
    ),
    ("a file of another drive", {"examples": BAD + '\n  - {good: x, file: "c:a.py"}'}, '"c:', "not a plain relative"),
    (
        "files without a file",
        {"examples": BAD + "\n  - {good: {files: {}}}"},
        "{}",
        "must be a non-empty mapping",
    ),
    (
        "an expected line of no file",
        {"examples": "\n  - bad: {files: {a.py: x}, expect: ['b.py:1']}" + GOOD},
        "'b.py",
        "no file 'b.py'",
    ),
    (
        "an expected line beyond the end",
        {"examples": "\n  - bad: {files: {a.py: x}, expect: ['a.py:2']}" + GOOD},
        "'a.py",
        "has no line 2",
    ),
    (
        "an expected line zero",
        {"examples": "\n  - bad: {files: {a.py: x}, expect: ['a.py:0']}" + GOOD},
        "'a.py",
        "is not file:line",
    ),
    (
        "an expected line that is empty",
        {"examples": "\n  - bad: {files: {a.py: 'x # expect'}, expect: ['']}" + GOOD},
        "''",
        "expect is empty",
    ),
    ("a title of two lines", {"text": text("en", title='"a\\nb"')}, '"a', "must be one line"),
    ("a text without a language", {"text": "{en: {}, zh: {}}"}, "{}", "text.en: the key 'title' is missing"),
    ("a text that is all wrong", {"text": "{en: x, zh: y}"}, "x,", "text.en must be a mapping"),
    (
        "an unknown target",
        {"examples": BAD + "\n  - {good: x, target: {tensroflow: '2'}}"},
        "tensroflow",
        "did you mean 'tensorflow'",
    ),
    ("a target that is a number", {"examples": BAD + "\n  - {good: x, target: {torch: 2}}"}, "2}", "put it in quotes"),
    ("also with a name", {"examples": BAD + "\n  - {good: x, also: [dropout]}"}, "[dropout", "'dropout' is not a code"),
]


@pytest.mark.parametrize(
    ("changes", "at", "message"), [pytest.param(c, at, message, id=name) for name, c, at, message in MISTAKES]
)
def test_mistakes(changes: dict[str, str], at: str, message: str) -> None:
    source = sample(**changes)
    found = problems(source)
    assert [p.message for p in found if message in p.message], found
    place = next(p for p in found if message in p.message)
    line = source.split("\n")[place.line - 1]
    assert line[place.column - 1 :].startswith(at), (place, line)
    assert place.path == "checks/tensorflow/a-check.yaml"


@pytest.mark.parametrize("key", SAMPLE)
def test_a_missing_key_is_named(key: str) -> None:
    found = problems(sample(**{key: None}))
    assert [str(p) for p in found] == [f"checks/tensorflow/a-check.yaml:1:1: check: the key '{key}' is missing"]


def test_every_mistake_of_a_file_is_reported() -> None:
    source = sample(code="NPU2101", status="new", find="{cal: x}", references="[]", once="often")
    starts = [source.split("\n")[p.line - 1].partition(":")[0] for p in problems(source)]
    assert sorted(starts) == ["code", "find", "once", "references", "status"]


def test_a_broken_tree_is_a_problem_with_its_place() -> None:
    assert [(p.line, p.column) for p in problems("code: NPU1101\ncode: NPU1102\n")] == [(2, 1)]
    assert [(p.line, p.column) for p in problems("[" * 70)] == [(1, 65)]
    assert "check must be a mapping" in problems("- a\n")[0].message


@pytest.mark.parametrize("family", ["", "checks", "jax", "engine"])
def test_a_check_lies_in_the_folder_of_a_family(family: str) -> None:
    assert "must be in the folder of its family" in problems(sample(), family=family)[0].message


@pytest.mark.parametrize("name", ["Upper-case", "under_score", "a--b", "-a", "a-", "1a", "é", "", "a" * 61, "a b"])
def test_names_that_are_not_kebab_case(name: str) -> None:
    assert not valid_name(name)
    assert "must be in kebab case" in problems(sample(), name=name)[0].message


@pytest.mark.parametrize("name", ["dropout", "variable-in-dataset-map", "fp16-2"])
def test_names_in_kebab_case(name: str) -> None:
    assert valid_name(name)


@pytest.mark.parametrize(
    ("find", "placeholder", "fine"),
    [
        pytest.param("{call: tensorflow.x}", "keep_prob", True, id="any argument of a call"),
        pytest.param("{setting: any}", "value", True, id="the value of a setting"),
        pytest.param("{dependency: tensorflow}", "version", True, id="an attribute of the kind"),
        pytest.param("{dependency: tensorflow}", "field", False, id="an attribute of another kind"),
        pytest.param("{any: [{call: a}, {dependency: b}]}", "version", True, id="one that all alternatives fill"),
        pytest.param("{any: [{call: a}, {import: b}]}", "version", False, id="one that an alternative lacks"),
        pytest.param("{call: a}", "Rate", False, id="one that is not lower case"),
    ],
)
def test_placeholders_must_be_filled_by_what_is_found(find: str, placeholder: str, fine: bool) -> None:
    block = _FULL_TEXT.replace("{name}", f"{{{placeholder}}}")
    found = problems(sample(find=find, text=block))
    assert [p.message for p in found] == ([] if fine else [f"text.en.message: nothing fills {{{placeholder}}}"])

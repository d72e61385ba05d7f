"""Documentation pages in both languages."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from npulint.judge.catalogue.check import COMPARE
from npulint.judge.catalogue.page import render_page
from tests.catalogue_samples import TWO_SIDED, parsed, sample

_MANY = """
  - bad:
      files: {train.sh: "export A=1 # expect", a.json: "{}", Dockerfile: "FROM x"}
      expect: ["a.json:1"]
    target: {tensorflow: "1.15"}
  - good: |
      text = "```"  # a fence in the text"""
_TWO_CAPTIONS = (
    ("Reference", "train.py"),
    ("Migrated program", "train.py"),
    ("Reference", "train.py"),
    ("Reference", "train.sh"),
    ("Migrated program", "train.py"),
    ("Migrated program", "train.sh"),
)
CHECK = parsed(
    sample(
        applies="{framework: tensorflow, state: [partial, migrated], soc: [910A], tensorflow: '>=1.15,<2', "
        "trains: true}",
        references='[{title: "a | b", source: "https://a.b/c"}, {title: T, source: "o/r:docs/x.md"}, {title: Book}]',
        examples=_MANY,
        status="preview",
    )
)

ENGLISH = """\
# NPU1101 a-check

A variable in a map function

| Check |  |
| --- | --- |
| Code | NPU1101 |
| Name | `a-check` |
| Severity | error |
| Consequence | The run stops or does not start, in every run that comes to the place |
| Confidence | high |
| Category | functional |
| Topic | `variable_in_input_fn` |
| Applies to | TensorFlow; partly migrated, migrated; `910A`; TensorFlow `>=1.15,<2`; programs that train |
| Since | 0.1 (preview) |
| Fix | manual |

## What it reports

`…` runs in a map function

## Why is this bad?

It runs on the host.

## What to do

Create it outside.

## Reported

`tensorflow=1.15`

`train.sh`

```bash
export A=1
```

`a.json`

```json
{}
```

`Dockerfile`

```docker
FROM x
```

Reported lines: `a.json:1`, `train.sh:1`

## Not reported

`train.py`

````python
text = "```"  # a fence in the text
````

## References

- [a \\| b](<https://a.b/c>)
- [T](<https://github.com/o/r>) `docs/x.md`
- Book
"""


def test_the_english_page() -> None:
    assert render_page(CHECK, "en") == ENGLISH


def test_the_chinese_page_says_the_same() -> None:
    page = render_page(CHECK, "zh")
    assert "映射函数中的变量" in page
    assert "| 适用范围 | TensorFlow；部分迁移、已迁移；`910A`；TensorFlow `>=1.15,<2`；训练程序 |" in page
    assert "| 起始版本 | 0.1 (预览) |" in page
    assert "报告位置： `a.json:1`、`train.sh:1`" in page
    assert [line.count("|") for line in page.split("\n")] == [line.count("|") for line in ENGLISH.split("\n")]


def test_a_check_for_everything_says_so() -> None:
    assert "| Applies to | every program |" in render_page(parsed(sample()), "en")
    assert "| Applies to | programs that do not train |" in render_page(parsed(sample(applies="{trains: false}")), "en")


def test_ways_to_the_npu_are_named() -> None:
    check = parsed(sample(applies="{framework: torch, migration: [none, transfer]}"))
    assert "| Applies to | PyTorch; not ported to the NPU, `transfer_to_npu` |" in render_page(check, "en")
    assert "| 适用范围 | PyTorch；未移植到 NPU、`transfer_to_npu` |" in render_page(check, "zh")


def test_the_page_names_the_checks_that_say_the_same_of_the_source() -> None:
    check = replace(CHECK, joins=("NPU2336", "NPU2337"))
    assert "| Merged on the same line with | NPU2336, NPU2337 |\n" in render_page(check, "en")
    assert "| 同一行合并为 | NPU2336、NPU2337 |\n" in render_page(check, "zh")
    of_run = replace(check, family="run")
    assert "| Confirms in the code | NPU2336, NPU2337 |\n" in render_page(of_run, "en")
    assert "| 可证实的代码检查项 | NPU2336、NPU2337 |\n" in render_page(of_run, "zh")


def test_a_check_without_examples_and_references_has_a_page() -> None:
    page = render_page(replace(CHECK, examples=(), references=()), "en")
    assert "Reported" not in page
    assert "References" not in page


def test_a_third_language_is_refused() -> None:
    with pytest.raises(KeyError):
        render_page(CHECK, "fr")


def test_the_files_of_two_programs_say_which_one_they_belong_to() -> None:
    page = render_page(parsed(sample(code="NPU6101", examples=TWO_SIDED), COMPARE), "en")
    captions = [line for line in page.split("\n") if line.startswith(("Reference `", "Migrated program `"))]
    assert captions == [f"{side} `{name}`" for side, name in _TWO_CAPTIONS]
    assert "Reported lines: `migrated/train.py:2`" in page


MENDED = """
  - bad: |
      import tensorflow as tf
      a = 1
      b = 2
      c = 3
      w = tf.Variable(1.0)  # expect
      d = 4
    fixed: |
      import tensorflow as tf
      import npu
      a = 1
      b = 2
      c = 3
      w = npu.Variable(1.0)
      d = 4
  - bad:
      files: {train.py: "import tensorflow as tf\\nw = tf.Variable(1.0)  # expect\\n", run.sh: "python train.py\\n"}
    fixed:
      files: {run.sh: "npu train.py\\n"}
  - good: |
      import tensorflow as tf
  - good: |
      import tensorflow"""


def test_a_fix_is_shown_as_what_it_makes_of_the_example() -> None:
    rule = "{when: {call: any, args: {0: present}}, applicability: %s, edits: [rename: npu.Variable]}"
    check = parsed(sample(fix=f"[{rule % 'unsafe'}, {rule % 'safe'}]", examples=MENDED))
    page = render_page(check, "en")
    assert "| Fix | safe, unsafe, manual |" in page
    alone = (
        " import tensorflow as tf\n+import npu\n a = 1\n b = 2\n c = 3\n-w = tf.Variable(1.0)\n+w = npu.Variable(1.0)\n"
    )
    assert f"After the fix:\n\n```diff\n{alone}" in page
    assert "```diff\n--- run.sh\n+++ run.sh\n …\n-python train.py\n+npu train.py\n" in page
    assert page.count("```diff") == 2
    assert "修复结果：\n\n```diff\n" in render_page(check, "zh")


def test_a_rule_for_all_that_is_found_leaves_nothing_to_a_person() -> None:
    check = parsed(sample(fix="{applicability: safe, edits: [rename: npu.Variable]}", examples=MENDED))
    assert "| Fix | safe |" in render_page(check, "en")
    assert "| 修复方式 | 安全 |" in render_page(check, "zh")

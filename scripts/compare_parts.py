"""Writes the table of the parts of a comparison into its documentation pages: python -m scripts.compare_parts"""

from __future__ import annotations

import re
from pathlib import Path

from npulint.data.compare_parts import PartSource, part_sources

DOCS = Path(__file__).parent.parent / "docs"
_BEGIN, _END = "<!-- parts -->", "<!-- /parts -->"
_HEADS = {"en": ("item", "part", "where it is looked for"), "zh": ("项目", "内容", "从何处读取")}
_ITEMS = {
    "en": {
        "mixed_precision": "mixed precision",
        "loss_scale": "loss scale",
        "data": "data",
        "preprocessing": "preprocessing",
        "sharding": "sharding",
        "training": "training",
        "hyperparameters": "hyperparameters",
    },
    "zh": {
        "mixed_precision": "混合精度",
        "loss_scale": "Loss Scale",
        "data": "数据集",
        "preprocessing": "数据预处理",
        "sharding": "分片",
        "training": "训练流程",
        "hyperparameters": "超参",
    },
}
_SOURCES = {
    "en": {
        "call": "calls, options, constants, configuration files",
        "formula": "formulas on the inputs",
        "adapter": "settings of the NPU adapter: {names}",
        "variable": "environment variables: {names}",
        "argument": "arguments of training frameworks (command line, DeepSpeed and accelerate files): {names}",
        "launcher": "options of the launcher: {names}",
        "option": "options and constants of other names",
        "order": "the order of the calls of a step: {names}",
    },
    "zh": {
        "call": "函数调用、选项、常量、配置文件",
        "formula": "对输入的运算",
        "adapter": "NPU 适配层的设置：{names}",
        "variable": "环境变量：{names}",
        "argument": "训练框架的参数（命令行、DeepSpeed 与 accelerate 配置文件）：{names}",
        "launcher": "启动器的选项：{names}",
        "option": "其他名称的选项和常量",
        "order": "一个训练步内的调用顺序：{names}",
    },
}


def parts_table(lang: str) -> str:
    """The table of all parts in a language, as Markdown."""
    found: dict[tuple[str, str], list[PartSource]] = {}
    for row in part_sources():
        found.setdefault((row.item, row.part), []).append(row)
    lines = [f"| {' | '.join(_HEADS[lang])} |", "|---|---|---|"]
    joint = "；" if lang == "zh" else "; "
    for (item, part), rows in found.items():
        places = joint.join(_place(row, lang) for row in rows)
        lines.append(f"| {_ITEMS[lang][item]} | `{part}` | {places} |")
    return "\n".join(lines)


def _place(row: PartSource, lang: str) -> str:
    names = ("、" if lang == "zh" else ", ").join(f"`{name.partition('=')[0]}`" for name in row.names)
    return _SOURCES[lang][row.source].format(names=names)


def with_table(text: str, lang: str) -> str:
    """A page with the current table between its marks."""
    return re.sub(f"(?s){_BEGIN}.*?{_END}", lambda _: f"{_BEGIN}\n{parts_table(lang)}\n{_END}", text)


def page(lang: str) -> Path:
    """The page about comparisons in a language."""
    return DOCS / lang / "compare.md"


def main() -> None:
    """Run from the command line."""
    for lang in _HEADS:
        path = page(lang)
        path.write_text(with_table(path.read_text(encoding="utf-8"), lang), encoding="utf-8")


if __name__ == "__main__":
    main()

"""The documentation page of a check and the list of all checks, as Markdown in either language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from npulint.catalogue.check import FAMILIES, Applies, Catalogue, Check, Example, Reference

_LABELS: dict[str, dict[str, str]] = {
    "en": {
        "code": "Code", "name": "Name", "severity": "Severity", "confidence": "Confidence", "category": "Category",
        "topic": "Topic", "applies": "Applies to", "since": "Since", "fix": "Fix", "what": "What it reports",
        "why": "Why is this bad?", "bad": "Reported", "good": "Not reported", "how": "What to do",
        "references": "References", "title": "Check", "index": "Checks", "any": "every program",
        "lines": "Reported:", "trains": "programs that train", "idle": "programs that do not train",
        "unit": "{count} checks", "comma": ", ", "stop": "; ",
    },
    "zh": {
        "code": "编号", "name": "名称", "severity": "严重程度", "confidence": "置信度", "category": "类别",
        "topic": "主题", "applies": "适用范围", "since": "起始版本", "fix": "修复方式", "what": "检查内容",
        "why": "为什么有问题", "bad": "会报告", "good": "不会报告", "how": "如何处理",
        "references": "参考资料", "title": "检查项", "index": "检查项", "any": "所有程序",
        "lines": "报告位置：", "trains": "训练程序", "idle": "非训练程序",
        "unit": "共 {count} 项", "comma": "、", "stop": "；",
    },
}  # fmt: skip
_WORDS: dict[str, dict[str, str]] = {
    "en": {
        "not_started": "not migrated yet", "partial": "partly migrated", "migrated": "migrated",
        "tensorflow": "TensorFlow", "torch": "PyTorch", "pytorch": "PyTorch", "adapter": "NPU adapter", "cann": "CANN",
        "launch": "Launch scripts and environment", "graph": "Graphs", "run": "Run artifacts",
        "compare": "Comparison with the reference", "engine": "npulint itself",
    },
    "zh": {
        "stable": "稳定", "preview": "预览", "deprecated": "已弃用", "error": "错误", "warning": "警告", "note": "提示",
        "high": "高", "medium": "中", "low": "低", "functional": "功能", "precision": "精度", "performance": "性能",
        "hygiene": "规范", "safe": "安全", "unsafe": "可能改变行为", "manual": "手动",
        "not_started": "未迁移", "partial": "部分迁移", "migrated": "已迁移",
        "tensorflow": "TensorFlow", "torch": "PyTorch", "pytorch": "PyTorch", "adapter": "NPU 适配插件", "cann": "CANN",
        "launch": "启动脚本与环境", "graph": "计算图", "run": "运行产物",
        "compare": "与参考工程对比", "engine": "npulint 自身",
    },
}  # fmt: skip
_FENCES = {"py": "python", "sh": "bash", "json": "json", "yaml": "yaml", "yml": "yaml", "toml": "toml"}
_REPOSITORY = re.compile(r"([\w.-]+/[\w.-]+):(\S.*)\Z")


def render_page(check: Check, lang: str) -> str:
    """The page of one check in ``en`` or ``zh``; raises `KeyError` for another language."""
    label, text = _LABELS[lang], check.text[lang]
    sections = [
        f"# {check.code} {check.name}",
        text.title,
        _table((label["title"], ""), _facts(check, lang)),
        f"## {label['what']}\n\n{text.message}",
        f"## {label['why']}\n\n{text.why}",
        *_examples(check.examples, True, label),
        *_examples(check.examples, False, label),
        f"## {label['how']}\n\n{text.fix}",
    ]
    if check.references:
        sections.append(f"## {label['references']}\n\n" + "\n".join(f"- {_reference(r)}" for r in check.references))
    return "\n\n".join(sections) + "\n"


def render_index(catalogue: Catalogue, lang: str) -> str:
    """The table of all checks by family in ``en`` or ``zh``; pages are linked as ``family/name.md``."""
    label = _LABELS[lang]
    sections = [f"# {label['index']}", label["unit"].format(count=len(catalogue.checks))]
    for family in FAMILIES:
        checks = [check for check in catalogue.checks if check.family == family]
        if checks:
            header = (label["code"], label["name"], label["severity"], label["category"], label["what"])
            rows = [_index_row(check, lang) for check in checks]
            sections.append(f"## {_word(family, lang)}\n\n{_table(header, rows)}")
    return "\n\n".join(sections) + "\n"


def _index_row(check: Check, lang: str) -> tuple[str, ...]:
    link = f"[{check.name}]({check.family}/{check.name}.md)"
    status = "" if check.status == "stable" else f" ({_word(check.status, lang)})"
    severity, category = _word(check.severity, lang), _word(check.category, lang)
    return (check.code, link + status, severity, category, check.text[lang].title)


def _facts(check: Check, lang: str) -> list[tuple[str, str]]:
    label = _LABELS[lang]
    return [
        (label["code"], check.code),
        (label["name"], f"`{check.name}`"),
        (label["severity"], _word(check.severity, lang)),
        (label["confidence"], _word(check.confidence, lang)),
        (label["category"], _word(check.category, lang)),
        (label["topic"], f"`{check.topic}`"),
        (label["applies"], _applies(check.applies, lang)),
        (label["since"], f"{check.since} ({_word(check.status, lang)})"),
        (label["fix"], _word(check.applicability, lang)),
    ]


def _applies(applies: Applies, lang: str) -> str:
    label = _LABELS[lang]
    parts = [label["comma"].join(_word(w, lang) for w in group) for group in (applies.frameworks, applies.states)]
    parts += [label["comma"].join(f"`{w}`" for w in group) for group in (applies.modes, applies.soc)]
    parts += [f"{_word(name, lang)} `{wanted}`" for name, wanted in applies.versions.items()]
    if applies.trains is not None:
        parts.append(label["trains" if applies.trains else "idle"])
    return label["stop"].join(part for part in parts if part) or label["any"]


def _examples(examples: Iterable[Example], bad: bool, label: dict[str, str]) -> list[str]:
    chosen = [example for example in examples if example.bad == bad]
    if not chosen:
        return []
    return [f"## {label['bad' if bad else 'good']}", *(_example(example, label) for example in chosen)]


def _example(example: Example, label: dict[str, str]) -> str:
    parts = [f"`{name}`\n\n{_fenced(name, text)}" for name, text in example.files.items()]
    if example.target:
        parts.insert(0, label["comma"].join(f"`{name}={version}`" for name, version in example.target.items()))
    if example.expect:
        places = label["comma"].join(f"`{name}:{line}`" for name, line in example.expect)
        parts.append(f"{label['lines']} {places}")
    return "\n\n".join(parts)


def _fenced(name: str, text: str) -> str:
    """A code block whose fence is longer than any run of backticks inside."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = _FENCES.get(name.rpartition(".")[2], "text") if "." in name else "text"
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def _reference(reference: Reference) -> str:
    source = reference.source
    if source.startswith(("https://", "http://")):
        return f"[{_cell(reference.title)}](<{source}>)"
    match = _REPOSITORY.match(source)
    if match:
        return f"[{_cell(reference.title)}](<https://github.com/{match[1]}>) `{match[2]}`"
    return reference.title


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _word(word: str, lang: str) -> str:
    return _WORDS[lang].get(word, word)

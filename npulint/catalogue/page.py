"""Documentation pages of checks and the list of all checks, as Markdown in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from npulint.catalogue.check import RUN, Check, Example, Reference, two_sided
from npulint.catalogue.forms import PLURALS

_LABELS: dict[str, dict[str, str]] = {
    "en": {
        "code": "Code", "name": "Name", "severity": "Severity", "confidence": "Confidence", "category": "Category",
        "topic": "Topic", "applies": "Applies to", "since": "Since", "fix": "Fix", "what": "What it reports",
        "why": "Why is this bad?", "bad": "Reported", "good": "Not reported", "how": "What to do",
        "references": "References", "title": "Check", "any": "every program",
        "lines": "Reported lines:", "trains": "programs that train", "idle": "programs that do not train",
        "comma": ", ", "stop": "; ", "fixed": "After the fix:",
        "reference": "Reference", "migrated": "Migrated program", "joins": "Merged on the same line with",
        "confirms": "Confirms in the code", "severe": "{word} on {chips}; elsewhere note",
    },
    "zh": {
        "code": "编号", "name": "名称", "severity": "严重程度", "confidence": "置信度", "category": "类别",
        "topic": "主题", "applies": "适用范围", "since": "起始版本", "fix": "修复方式", "what": "检查内容",
        "why": "为什么有问题", "bad": "会报告", "good": "不会报告", "how": "如何处理",
        "references": "参考资料", "title": "检查项", "any": "所有程序",
        "lines": "报告位置：", "trains": "训练程序", "idle": "非训练程序",
        "comma": "、", "stop": "；", "fixed": "修复结果：",
        "reference": "参考基准", "migrated": "迁移后工程", "joins": "同一行合并为",
        "confirms": "可证实的代码检查项", "severe": "{chips} 上为{word}，其他芯片上为提示",
    },
}  # fmt: skip
_WORDS: dict[str, dict[str, str]] = {
    "en": {
        "not_started": "not migrated yet", "partial": "partly migrated", "migrated": "migrated",
        "tensorflow": "TensorFlow", "torch": "PyTorch", "pytorch": "PyTorch", "adapter": "NPU adapter", "cann": "CANN",
        "launch": "Launch scripts and environment", "graph": "Graphs", "run": "Run artifacts",
        "compare": "Comparison with the reference", "engine": "npulint itself",
        "way.none": "not ported to the NPU", "way.transfer": "`transfer_to_npu`", "way.manual": "ported manually",
        "way.agnostic": "a library chooses the device", "way.left": "not ported, unlike other programs",
    },
    "zh": {
        "stable": "稳定", "preview": "预览", "deprecated": "已弃用", "error": "错误", "warning": "警告", "note": "提示",
        "high": "高", "medium": "中", "low": "低", "functional": "功能", "precision": "精度", "performance": "性能",
        "hygiene": "规范", "safe": "安全", "unsafe": "可能改变行为", "manual": "手动",
        "not_started": "未迁移", "partial": "部分迁移", "migrated": "已迁移",
        "tensorflow": "TensorFlow", "torch": "PyTorch", "pytorch": "PyTorch", "adapter": "NPU 适配插件", "cann": "CANN",
        "launch": "启动脚本与环境", "graph": "计算图", "run": "运行产物",
        "compare": "与参考基准对比", "engine": "npulint 自身",
        "way.none": "未移植到 NPU", "way.transfer": "`transfer_to_npu`", "way.manual": "手工移植",
        "way.agnostic": "由库选择设备", "way.left": "同一工程中未移植的程序",
    },
}  # fmt: skip
_FENCES = {
    "py": "python", "sh": "bash", "json": "json", "yaml": "yaml", "yml": "yaml", "toml": "toml",
    "cu": "cuda", "cuh": "cuda", "cpp": "cpp", "ipynb": "json", "diff": "diff",
}  # fmt: skip
_NAMED = {"Dockerfile": "docker"}
_REPOSITORY = re.compile(r"([\w.-]+/[\w.-]+):(\S.*)\Z")
_CAPTURE = re.compile(r"\{[A-Za-z_]\w*(?::(\w+))?\}")


class CheckPage:
    """The documentation page of one check in ``en`` or ``zh``. Subclasses override how parts look outside of a
    terminal; which parts there are, and their order, is fixed."""

    def __init__(self, check: Check, lang: str) -> None:
        """Raises `KeyError` for an unknown language."""
        self.check, self.lang = check, lang
        self.label, self.text = _LABELS[lang], check.text[lang]

    def render(self) -> str:
        """The whole page."""
        text = self.text
        sections = [
            *self.head(),
            self.section("what", self.prose(text.message)),
            self.section("why", self.prose(text.why)),
            self.section("how", self.prose(text.fix)),
            *self.examples(True),
            *self.examples(False),
            *self.references(),
            *self.tail(),
        ]
        return "\n\n".join(sections) + "\n"

    def head(self) -> list[str]:
        """The lines above the first section: name, title and facts."""
        facts = _table((self.label["title"], ""), self.facts())
        return [f"# {self.check.code} {self.check.name}", self.text.title, facts]

    def tail(self) -> list[str]:
        """What follows the last section."""
        return []

    def section(self, name: str, *parts: str) -> str:
        """A section with its heading."""
        return "\n\n".join((f"## {self.label[name]}", *parts))

    def prose(self, text: str) -> str:
        """A text of the check as Markdown."""
        return general(text)

    def facts(self) -> list[tuple[str, str]]:
        """Labels and values of the properties of the check."""
        check, label = self.check, self.label
        joined = "confirms" if check.family == RUN else "joins"
        return [
            (label["code"], check.code),
            (label["name"], f"`{check.name}`"),
            (label["severity"], self.severity()),
            (label["confidence"], word(check.confidence, self.lang)),
            (label["category"], word(check.category, self.lang)),
            (label["topic"], f"`{check.topic}`"),
            (label["applies"], self.applies()),
            *([(label[joined], label["comma"].join(check.joins))] if check.joins else []),
            (label["since"], f"{check.since} ({word(check.status, self.lang)})"),
            (label["fix"], label["comma"].join(word(one, self.lang) for one in applicabilities(check))),
        ]

    def severity(self) -> str:
        """The severity, with the chips on which it holds."""
        plain, chips = word(self.check.severity, self.lang), self.label["comma"].join(self.check.severe_on)
        return self.label["severe"].format(word=plain, chips=chips) if chips else plain

    def applies(self) -> str:
        """The programs that the check applies to."""
        applies, label = self.check.applies, self.label
        groups = (applies.frameworks, applies.states, tuple(f"way.{way}" for way in applies.migrations))
        parts = [label["comma"].join(word(w, self.lang) for w in group) for group in groups]
        parts += [label["comma"].join(f"`{w}`" for w in group) for group in (applies.modes, applies.soc)]
        parts += [f"{word(name, self.lang)} `{wanted}`" for name, wanted in applies.versions.items()]
        if applies.trains is not None:
            parts.append(label["trains" if applies.trains else "idle"])
        return label["stop"].join(part for part in parts if part) or label["any"]

    def examples(self, bad: bool) -> list[str]:
        """The section of bad or good examples; empty if none."""
        chosen = [self.example(example) for example in self.check.examples if example.bad == bad]
        return [self.section("bad" if bad else "good", *chosen)] if chosen else []

    def example(self, example: Example) -> str:
        """One example: target, files, and reported places."""
        parts = [f"{caption(name, example, self.lang)}\n\n{fenced(name, text)}" for name, text in example.files.items()]
        if example.target:
            parts.insert(0, self.label["comma"].join(f"`{name}={given}`" for name, given in example.target.items()))
        if example.expect:
            places = self.label["comma"].join(f"`{name}:{line}`" for name, line in example.expect)
            parts.append(f"{self.label['lines']} {places}")
        return "\n\n".join([*parts, *self.fix_diff(example)])

    def fix_diff(self, example: Example) -> list[str]:
        """The diff of the fixes in an example; empty if none."""
        patch = difference(example)
        return [self.label["fixed"], fenced("fixed.diff", patch)] if patch else []

    def references(self) -> list[str]:
        """The section of references; empty if none."""
        if not self.check.references:
            return []
        return [self.section("references", "\n".join(f"- {self.reference(one)}" for one in self.check.references))]

    def reference(self, reference: Reference) -> str:
        """One reference, linked if it has a URL."""
        link, path = address(reference)
        linked = f"[{_cell(reference.title)}](<{link}>)" if link else reference.title
        return f"{linked} `{path}`" if path else linked


def applicabilities(check: Check) -> list[str]:
    """The applicabilities of its fix rules, with ``manual`` if some findings may not be fixed."""
    known = {rule.applicability for rule in check.fixes}
    if not known or all(rule.when is not None for rule in check.fixes):
        known.add("manual")
    return [word for word in ("safe", "unsafe", "manual") if word in known]


def caption(name: str, example: Example, lang: str) -> str:
    """The caption of a file of an example, for comparisons with its side."""
    side, _, below = name.partition("/")
    return f"{_LABELS[lang][side]} `{below}`" if two_sided(example.files) else f"`{name}`"


def difference(example: Example) -> str:
    """The fixes of an example as a patch, without header for a single file."""
    from difflib import unified_diff  # rarely needed

    lines: list[str] = []
    for name, after in example.fixed.items():
        before = example.files.get(name, "").split("\n")
        patch = list(unified_diff(before, after.split("\n"), name, name, n=2, lineterm=""))
        lines += patch[3:] if len(example.files) == len(example.fixed) == 1 else patch
    return "\n".join(" …" if line.startswith("@@ ") else line for line in lines)


def general(text: str) -> str:
    """A text of a check with its captures as placeholders, outside of a finding."""
    return _CAPTURE.sub(lambda match: f"… {match[1]}" if match[1] in PLURALS else "…", text)


def render_page(check: Check, lang: str) -> str:
    """The page of one check in ``en`` or ``zh``; raises `KeyError` for another language."""
    return CheckPage(check, lang).render()


def fenced(name: str, text: str, options: str = "") -> str:
    """A code block whose fence is longer than any backticks inside; `options` follow the language."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    language = _FENCES.get(name.rpartition(".")[2], "text") if "." in name else _NAMED.get(name, "text")
    return f"{fence}{' '.join(filter(None, (language, options)))}\n{text.rstrip(chr(10))}\n{fence}"


def heading(lang: str, name: str) -> str:
    """The heading of a section or the label of a property."""
    return _LABELS[lang][name]


def word(name: str, lang: str) -> str:
    """The display text of a word of check files (a severity, category or framework)."""
    return _WORDS[lang].get(name, name)


def address(reference: Reference) -> tuple[str, str]:
    """The URL of a reference and the path of the file there; empty without one."""
    source = reference.source
    if source.startswith(("https://", "http://")):
        return source, ""
    match = _REPOSITORY.match(source)
    return (f"https://github.com/{match[1]}", match[2]) if match else ("", "")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

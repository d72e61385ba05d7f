"""Messages of `npulint init`, and comments in the files that it writes."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "init.no-folder": ("{path} is not a folder", "{path} 不是目录"),
    "init.written": ("{path} created", "已生成 {path}"),
    "init.exists": ("{path} already exists, not changed", "{path} 已存在，保持不变"),
    "init.exists.has": ("{path} already contains npulint, not changed", "{path} 已包含 npulint，保持不变"),
    "init.exists.section": ("{path} already configures npulint, not changed", "{path} 已配置 npulint，保持不变"),
    "init.exists.add": ("{path} already exists, not changed; add this to it:", "{path} 已存在，保持不变；请自行添加："),
    "init.several": (
        "{path} not created: it would merge the {n} projects below into one; run npulint init in each of them",
        "未生成 {path}：此目录下有 {n} 个工程，该文件会将它们合并为一个；请在各工程中分别运行 npulint init",
    ),
    "init.more": ("More: npulint init --with {parts}", "还可以：npulint init --with {parts}"),
    "init.next": ("Next: {command}", "下一步：{command}"),
    "init.config.head": (
        "npulint settings for this folder and everything below it. Every key is optional.",
        "npulint 对本目录及其子目录的配置，各项均可省略。",
    ),
    "init.config.more": (
        "All keys: npulint check --help. Checks: {url}",
        "全部配置项：npulint check --help。检查说明：{url}",
    ),
    "init.config.fail-on": (
        "Minimum severity for exit code 1: error, warning, note or never.",
        "达到何种严重程度时退出码为 1：error、warning、note 或 never。",
    ),
    "init.config.ignore": (
        "Checks to ignore: names, codes, topics or categories. For a single line, prefer a comment with the\n"
        "reason: npulint: ignore[name] reason",
        "不报告的检查：名称、编号、主题或类别。仅针对某一行时，建议在该行注释中注明理由：\nnpulint: ignore[名称] 理由",
    ),
    "init.config.exclude": (
        "Files and folders to exclude, in .gitignore syntax.",
        "不检查的文件和目录，语法与 .gitignore 相同。",
    ),
    "init.config.target": (
        "Target environment. Undeclared keys are inferred from the project if possible, otherwise unknown.",
        "目标运行环境。未声明的项在工程中有依据时自动推断，否则视为未知。",
    ),
    "init.config.pinned": ("as in {place}", "取自 {place}"),
}

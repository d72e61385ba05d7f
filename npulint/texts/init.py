"""What `npulint init` says and writes."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "init.no-folder": ("{path} is no folder", "{path} 不是目录"),
    "init.written": ("{path} is written", "已生成 {path}"),
    "init.exists": ("{path} exists and stays as it is", "{path} 已存在，保持不变"),
    "init.exists.has": ("{path} names npulint already and stays as it is", "{path} 已包含 npulint，保持不变"),
    "init.exists.section": ("{path} configures npulint and stays as it is", "{path} 已配置 npulint，保持不变"),
    "init.exists.add": ("{path} exists and stays as it is; add to it:", "{path} 已存在，保持不变；请自行添加："),
    "init.several": (
        "{path} is not written: {n} projects lie below, and it would make them one; run npulint init in each of them",
        "未生成 {path}：此目录下有 {n} 个工程，该文件会将它们合并为一个；请在各工程中分别运行 npulint init",
    ),
    "init.more": ("More: npulint init --with {parts}", "还可以：npulint init --with {parts}"),
    "init.next": ("Next: {command}", "下一步：{command}"),
    "init.config.head": (
        "Settings of npulint for this folder and everything below it. Every key may be left out.",
        "npulint 对本目录及其子目录的配置，各项均可省略。",
    ),
    "init.config.more": (
        "All keys: npulint check --help. About the checks: {url}",
        "全部配置项：npulint check --help。检查说明：{url}",
    ),
    "init.config.fail-on": (
        "From which severity on the exit code is 1: error, warning, note or never.",
        "达到何种严重程度时退出码为 1：error、warning、note 或 never。",
    ),
    "init.config.ignore": (
        "Checks that shall be silent: names, codes, topics or categories. On a single line a comment with the\n"
        "reason is better: npulint: ignore[name] reason",
        "不报告的检查：名称、编号、主题或类别。仅针对某一行时，建议在该行注释中注明理由：\nnpulint: ignore[名称] 理由",
    ),
    "init.config.exclude": (
        "Files and folders to leave out, in the syntax of .gitignore.",
        "不检查的文件和目录，语法与 .gitignore 相同。",
    ),
    "init.config.target": (
        "What the project will run with. What is not declared is inferred where the project tells, else unknown.",
        "目标运行环境。未声明的项在工程中有依据时自动推断，否则视为未知。",
    ),
    "init.config.pinned": ("as in {place}", "取自 {place}"),
}

"""The sentences of the language server."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "server.missing": (
        'the language server requires pygls: install npulint with the lsp extra, or: pip install "pygls>=2.1,<3"',
        '语言服务器依赖 pygls：请安装 npulint 的附加组件 lsp，或执行 pip install "pygls>=2.1,<3"',
    ),
    "server.why": ("Why it matters:", "原因："),
    "server.todo": ("What to do:", "建议："),
    "server.page": ("Documentation of this check", "此检查的说明页面"),
    "server.show": ("Show documentation of `{name}`", "查看 `{name}` 的说明"),
    "server.ignore.line": ("Ignore `{name}` here", "在此处忽略 `{name}`"),
    "server.ignore.file": ("Ignore `{name}` in this file", "在此文件中忽略 `{name}`"),
    "server.fix": ("Fix: {text}", "修复：{text}"),
    "server.fix.unsafe": ("Fix (may change results): {text}", "修复（可能影响结果）：{text}"),
    "server.fix.all": ("Apply all safe npulint fixes in this file", "应用此文件中全部安全的 npulint 修复"),
    "server.settings": (
        "npulint: invalid editor setting: {text}",
        "npulint：无法识别的编辑器设置：{text}",
    ),
    "server.config": (
        "npulint: the configuration is invalid and cannot be used: {text}",
        "npulint：配置无法使用，请先修正：{text}",
    ),
    "server.internal": (
        "npulint: a check failed because of a bug in npulint; see the language server log for details",
        "npulint：npulint 的缺陷导致检查失败，详见语言服务器日志",
    ),
    "server.progress": ("npulint: checking the workspace", "npulint：正在检查工作区"),
}

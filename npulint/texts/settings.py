"""Sentences of `npulint config`."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "settings.file": ("configuration file: {path}", "配置文件：{path}"),
    "settings.none": ("no configuration file", "没有配置文件"),
    "settings.default": ("default", "默认值"),
    "settings.command-line": ("command line", "命令行"),
    "settings.environment": ("environment", "环境变量"),
    "settings.found": ("found automatically", "自动找到"),
}

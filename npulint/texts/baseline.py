"""Sentences about the baseline."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "baseline.unreadable": ("the baseline {path} cannot be read: {detail}", "无法读取基线文件 {path}：{detail}"),
    "baseline.broken": ("{path} is not a valid baseline: {detail}", "{path} 不是有效的基线文件：{detail}"),
    "baseline.version": (
        "the baseline {path} has version {version}; this npulint supports only version 1",
        "基线文件 {path} 的版本为 {version}，当前 npulint 仅支持版本 1",
    ),
    "baseline.known": ("{n} recorded in the baseline|{n} recorded in the baseline", "{n} 个已记录在基线中"),
    "baseline.fixed": (
        "{n} entry of {path} is fixed: --prune-baseline removes it"
        "|{n} entries of {path} are fixed: --prune-baseline removes them",
        "{path} 中有 {n} 条已修复：可用 --prune-baseline 删除",
    ),
    "baseline.pruned": (
        "{n} fixed entry removed from {path}|{n} fixed entries removed from {path}",
        "已从 {path} 中删除 {n} 条已修复的记录",
    ),
    "baseline.written": (
        "{path} contains {n} finding ({added} added, {removed} removed)"
        "|{path} contains {n} findings ({added} added, {removed} removed)",
        "{path} 共记录 {n} 个问题（新增 {added} 个，删除 {removed} 个）",
    ),
    "baseline.none": (
        "there is no baseline to prune: --write-baseline creates one",
        "没有可清理的基线文件：可用 --write-baseline 生成",
    ),
}

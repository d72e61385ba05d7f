"""What reports say of what --fix did."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "fixes.done": ("Fixed {n} finding in {files}|Fixed {n} findings in {files}", "已修复 {n} 个问题，涉及 {files}"),
    "fixes.would": (
        "--fix would mend {n} finding in {files}|--fix would mend {n} findings in {files}",
        "--fix 可修复 {n} 个问题，涉及 {files}",
    ),
    "fixes.files": ("{n} file|{n} files", "{n} 个文件"),
    "fixes.none": ("Nothing was fixed", "没有可修复的问题"),
    "fixes.none.would": ("--fix would change nothing", "--fix 不会做任何修改"),
    "fixes.left": ("{n} finding left|{n} findings left", "剩余 {n} 个问题"),
    "fixes.first": ("What is left for you, most important first", "待人工处理（按重要程度排列）"),
    "fixes.refused": ("{n} could not be fixed:", "有 {n} 个未能修复："),
    "fixes.refused.more": ("... and {n} more: --verbose", "…… 另有 {n} 个：--verbose"),
    "fixes.not-written": (
        "{path}: was not fixed, for it cannot be written: {detail}",
        "{path}：无法写入，未修复：{detail}",
    ),
    "fixes.show": ("change", "修改"),
    "fixes.show.more": ("... and {n} more line|... and {n} more lines", "…… 另有 {n} 行"),
}

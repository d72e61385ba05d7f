"""Sentences about the results of --fix."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "fixes.done": ("Fixed {n} place in {files}|Fixed {n} places in {files}", "已修复 {n} 处，涉及 {files}"),
    "fixes.would": (
        "{flags} would fix {n} place in {files}|{flags} would fix {n} places in {files}",
        "{flags} 可修复 {n} 处，涉及 {files}",
    ),
    "fixes.files": ("{n} file|{n} files", "{n} 个文件"),
    "fixes.none": ("Nothing was fixed", "没有修复任何问题"),
    "fixes.none.would": ("{flags} would not change anything", "{flags} 不会做任何修改"),
    "fixes.left": ("{n} finding remaining|{n} findings remaining", "剩余 {n} 个问题"),
    "fixes.clean": (
        "No findings remaining: {n} file checked|No findings remaining: {n} files checked",
        "没有剩余问题：已检查 {n} 个文件",
    ),
    "fixes.left.title": ("Remaining manual work", "待人工处理"),
    "fixes.left.look": (
        "Review the changes: {n} of them may change results",
        "复核修改：其中 {n} 处可能影响结果",
    ),
    "fixes.left.failed": (
        "{n} more item of {entry} is not ready|{n} more items of {entry} are not ready",
        "{entry} 还有 {n} 项未就绪",
    ),
    "fixes.left.compare": (
        "Check the {n} item of {entry} that cannot be determined from code (--verbose shows where and how)"
        "|Check the {n} items of {entry} that cannot be determined from code (--verbose shows where and how)",
        "人工核对 {entry} 中仅凭代码无法判断的 {n} 项（--verbose 给出位置和方法）",
    ),
    "fixes.refused": ("{n} could not be fixed:", "有 {n} 个未能修复："),
    "fixes.refused.more": ("... and {n} more: --verbose", "…… 另有 {n} 个：--verbose"),
    "fixes.not-written": (
        "{path}: not fixed, because it cannot be written: {detail}",
        "{path}：无法写入，未修复：{detail}",
    ),
    "fixes.show": ("change", "修改"),
    "fixes.show.more": ("... and {n} more line|... and {n} more lines", "…… 另有 {n} 行"),
}

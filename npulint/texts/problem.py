"""Why a file, or part of it, was not read: sentences for findings (short forms in `short`)."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "problem.syntax-error": ("this file has a syntax error", "此文件存在语法错误"),
    "problem.python2": ("this is Python 2, which cannot be parsed", "这是 Python 2 代码，无法解析"),
    "problem.python2-read": (
        "this is Python 2; it was read as far as possible as Python 3",
        "这是 Python 2 代码；已按 Python 3 尽量读取",
    ),
    "problem.encoding": ("the encoding of this file is not accepted by Python", "文本不是 Python 可接受的编码"),
    "problem.too-large": ("the file is too large to be read", "文件过大，未读取"),
    "problem.too-deep": ("the code is nested too deeply to be read", "代码嵌套过深，无法读取"),
    "problem.json": ("this is not valid JSON", "不是有效的 JSON"),
    "problem.missing": ("the path does not exist", "路径不存在"),
    "problem.not-a-file": ("this is not a regular file", "不是普通文件"),
    "problem.unreadable": ("the file cannot be opened", "文件无法打开"),
    "problem.empty": ("the file is empty", "文件为空"),
    "problem.unsupported": ("npulint does not support this kind of file", "npulint 不支持此类文件"),
    "problem.not-a-graph": (
        "this file contains no graph that can be read without executing it",
        "文件中没有无需执行即可读取的计算图",
    ),
    "problem.graph-pickled": (
        "this file contains pickled weights or objects, not a graph; it was not opened, because unpickling runs code",
        "文件中是 pickle 序列化的权重或对象，不含计算图；反序列化会执行代码，因此未打开",
    ),
    "problem.graph-compiled": (
        "this package contains compiled AOTInductor code but no graph",
        "此包中是 AOTInductor 编译后的代码，不含计算图",
    ),
    "problem.graph-damaged": ("the graph in this file is damaged or truncated", "文件中的计算图已损坏或不完整"),
    "problem.graph-too-large": ("the graph in this file is too large to be read", "文件中的计算图过大，未读取"),
    "problem.not-an-artifact": ("this is not a run artifact known to npulint", "不是 npulint 可识别的运行产物"),
    "problem.artifact-damaged": ("this run artifact is damaged or truncated", "此运行产物已损坏或不完整"),
    "problem.artifact-spreadsheet": (
        "this comparison is a spreadsheet; npulint reads only the CSV form",
        "此比对结果为电子表格，npulint 仅读取 CSV 格式",
    ),
    "problem.other": ("the file could not be read", "文件无法读取"),
    "problem.detail": ("{text}: {detail}", "{text}：{detail}"),
    "problem.why": (
        "It was not checked, and results that depend on it may be inaccurate.",
        "其中的内容没有被检查，依赖它的判断也可能不准确。",
    ),
    "problem.why.part": (
        "Part of the file was not checked.",
        "文件的一部分没有被检查。",
    ),
}

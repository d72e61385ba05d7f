"""Why a file was not read: short forms for lists of files (sentences in `problem`)."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "short.syntax-error": ("syntax error", "语法错误"),
    "short.python2": ("Python 2", "Python 2 语法"),
    "short.python2-read": ("Python 2", "Python 2 语法"),
    "short.encoding": ("unknown encoding", "编码无法识别"),
    "short.too-large": ("too large", "文件过大"),
    "short.too-deep": ("nested too deeply", "嵌套过深"),
    "short.json": ("invalid JSON", "JSON 格式错误"),
    "short.missing": ("does not exist", "不存在"),
    "short.not-a-file": ("not a regular file", "不是普通文件"),
    "short.unreadable": ("cannot be opened", "无法打开"),
    "short.empty": ("empty", "空文件"),
    "short.unsupported": ("unsupported file type", "不支持的文件类型"),
    "short.not-a-graph": ("contains no graph", "不含计算图"),
    "short.graph-pickled": ("pickled, no graph", "pickle 文件，不含计算图"),
    "short.graph-compiled": ("compiled, no graph", "已编译，不含计算图"),
    "short.graph-damaged": ("damaged graph", "计算图已损坏"),
    "short.graph-too-large": ("graph too large", "计算图过大"),
    "short.not-an-artifact": ("not a run artifact", "非运行产物"),
    "short.artifact-damaged": ("damaged run artifact", "运行产物已损坏"),
    "short.artifact-spreadsheet": ("spreadsheet", "电子表格"),
    "short.other": ("cannot be read", "无法读取"),
}

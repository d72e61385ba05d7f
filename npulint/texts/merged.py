"""Sentences of findings that a run and the source have in common."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "merged.measured": ("{source} In the run: {run}", "{source}运行中：{run}"),
    "merged.confirms": ("the run confirms it (`{name}`){detail}", "运行产物证实（`{name}`）{detail}"),
    "merged.message": (": {message}", "：{message}"),
    "merged.row": ("the run shows it here", "运行产物中的依据"),
    "merged.again": ("the run shows it here as well", "运行产物中的另一处依据"),
    "merged.line": ("the line named by the run", "运行产物指出的代码行"),
    "merged.cause": ("possible cause in the source, see `{name}`", "原因可能在此处（见 `{name}`）"),
    "merged.scope": ("the operator is named here (`{word}`)", "算子名称来自此处（`{word}`）"),
    "merged.call": ("`{word}` builds such an operator", "`{word}` 会生成该算子"),
    "merged.period": ("happens every {word} steps", "每 {word} 步执行一次"),
}

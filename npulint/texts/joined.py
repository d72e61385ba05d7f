"""What is said where a run and the source speak of the same thing."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "joined.measured": ("{source} In the run: {run}", "{source}运行中：{run}"),
    "joined.confirms": ("the run confirms it (`{name}`){said}", "运行产物证实（`{name}`）{said}"),
    "joined.said": (": {message}", "：{message}"),
    "joined.row": ("the run shows it here", "运行产物中的依据"),
    "joined.again": ("the run shows it here as well", "运行产物中的另一处依据"),
    "joined.line": ("the line named by the run", "运行产物指出的代码行"),
    "joined.told": ("possible cause in the source, see `{name}`", "原因可能在此处（见 `{name}`）"),
    "joined.scope": ("gives the operator its name (`{word}`)", "算子名称由此而来（`{word}`）"),
    "joined.call": ("`{word}` builds such an operator", "`{word}` 会生成该算子"),
    "joined.period": ("happens every {word} steps", "每 {word} 步执行一次"),
}

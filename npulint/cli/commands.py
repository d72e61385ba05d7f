"""The table of commands. A command's module is imported when the command is run."""

from __future__ import annotations

import msgspec

from npulint.options import CHECKS, LANG, LIST_FORMAT, OPTIONS, SELECT, Option


class Command(msgspec.Struct, frozen=True):
    """One verb. `module` below ``npulint.cli`` has ``run(words, options, host, lang) -> int``; `words`
    names what may stand beside the options and `least` how many of it there must be."""

    name: str
    module: str
    help: tuple[str, str]
    words: str
    words_help: tuple[str, str]
    options: tuple[Option, ...]
    least: int = 0
    most: int = 0


COMMANDS: tuple[Command, ...] = (
    Command(
        "check",
        "check",
        ("check projects, files or standard input (-)", "检查工程、文件或标准输入（-）"),
        "PATHS",
        ("files and folders to check (default: this folder)", "要检查的文件和目录（默认当前目录）"),
        OPTIONS,
    ),
    Command(
        "explain",
        "explain",
        ("say what a check means and how to mend it", "说明检查的含义和修改方法"),
        "CODE|NAME",
        ("checks to explain", "要说明的检查"),
        (LANG, CHECKS),
        least=1,
    ),
    Command(
        "rules",
        "rules",
        ("list all checks", "列出全部检查"),
        "",
        ("", ""),
        (SELECT, LIST_FORMAT, LANG, CHECKS),
    ),
    Command(
        "facts",
        "facts",
        ("show the facts that checks see in a file", "显示检查在文件中看到的事实"),
        "FILE",
        ("the file to read", "要读取的文件"),
        (LIST_FORMAT, LANG),
        least=1,
        most=1,
    ),
    Command(
        "new",
        "new",
        ("write the skeleton of a check", "生成检查文件的骨架"),
        "FAMILY/NAME",
        ("family and name of the check", "检查的类别目录和名称"),
        (CHECKS, LANG),
        least=1,
        most=1,
    ),
    Command(
        "test",
        "examples",
        ("run the examples of checks", "运行检查文件中的示例"),
        "FILES",
        ("check files or folders (default: all checks)", "检查文件或目录（默认全部）"),
        (CHECKS, LANG),
    ),
)

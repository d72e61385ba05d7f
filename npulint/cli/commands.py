"""The table of commands. A command's module is imported when it is run."""

from __future__ import annotations

import msgspec

from npulint.options import CHECKS, LANG, LIST_FORMAT, OPTIONS, SELECT, Option


class Command(msgspec.Struct, frozen=True):
    """One command. `module` below ``npulint.cli`` has ``run(words, options, host, lang) -> int``; `words` names the
    positional arguments, `least` is their minimum number."""

    name: str
    module: str
    help: tuple[str, str]
    words: str
    words_help: tuple[str, str]
    options: tuple[Option, ...]
    least: int = 0
    most: int = 0


STDIO = Option(
    "stdio",
    "flag",
    "run",
    ("communicate over standard input and output (the only transport)", "通过标准输入输出通信（唯一方式）"),
    config=False,
)

PARTS = ("config", "pre-commit", "github", "gitlab", "vscode")
INIT: tuple[Option, ...] = (
    Option(
        "with",
        "list",
        "files",
        (
            f"what to write, of {', '.join(PARTS)} (default: config and whatever suits the folder)",
            f"要生成的内容：{'、'.join(PARTS)}（默认 config 以及目录中已使用的工具）",
        ),
        choices=PARTS,
        metavar="PARTS",
        config=False,
    ),
    Option(
        "dry_run",
        "flag",
        "run",
        ("show what would be written as a patch, without writing files", "以补丁形式显示将要生成的内容，不写入文件"),
        config=False,
    ),
)
VERBOSE = Option(
    "verbose",
    "flag",
    "output",
    ("as JSON, with the versions of everything involved", "以 JSON 输出所有相关组件的版本"),
    config=False,
)
SHELLS = ("bash", "zsh", "fish", "powershell")

_NOT_COMPARED = (
    *("reference", "fix", "unsafe_fixes", "diff", "show_fixes", "unfixable", "torch_port"),
    *("supported_ops", "consequences_since", "stdin_filename", "show_files"),
)
COMPARE = tuple(option for option in OPTIONS if option.name not in _NOT_COMPARED)

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
        "compare",
        "compare",
        (
            "compare a migrated project with its reference: the pre-tuning checklist",
            "将迁移后的工程与参考基准对比：精度调优前的检查清单",
        ),
        "REFERENCE MIGRATED",
        (
            "the project before and after migration: folders, or entry scripts for a single program",
            "迁移前、迁移后的工程：目录，或入口脚本（只对比该程序）",
        ),
        COMPARE,
        least=2,
        most=2,
    ),
    Command(
        "explain",
        "explain",
        ("explain what a check means and how to fix it", "说明检查的含义和修改方法"),
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
        ("create the skeleton of a check", "生成检查文件的骨架"),
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
        ("check files or folders to test (default: all checks)", "检查文件或目录（默认全部）"),
        (CHECKS, LANG),
    ),
    Command(
        "server",
        "server",
        ("run the language server for editors", "运行供编辑器使用的语言服务器"),
        "",
        ("", ""),
        (STDIO, LANG),
    ),
    Command(
        "init",
        "init",
        ("create configuration, hooks and CI jobs for a project", "为工程生成配置、提交钩子和 CI 任务"),
        "DIR",
        ("the folder of the project (default: this folder)", "工程目录（默认当前目录）"),
        (*INIT, LANG),
        most=1,
    ),
    Command(
        "config",
        "config",
        ("show every setting and where it comes from", "显示全部配置及其来源"),
        "PATH",
        ("what would be checked (default: this folder)", "要检查的路径（默认当前目录）"),
        OPTIONS,
        most=1,
    ),
    Command(
        "version",
        "version",
        ("print the version; with --verbose everything a bug report needs", "显示版本；加 --verbose 显示反馈所需信息"),
        "",
        ("", ""),
        (VERBOSE, LANG),
    ),
    Command(
        "completion",
        "completion",
        ("print a completion script for a shell", "输出命令行补全脚本"),
        "SHELL",
        (f"one of {', '.join(SHELLS)}", f"{'、'.join(SHELLS)} 之一"),
        (LANG,),
        least=1,
        most=1,
    ),
)

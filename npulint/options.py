"""The table of options: source of the command line, the configuration keys, the help and the documentation."""

from __future__ import annotations

import msgspec

from npulint.findings import CONFIDENCES, SEVERITIES
from npulint.settings import FORMATS, PORTS, TARGET_KEYS

GROUPS = ("rules", "fixes", "output", "files", "run")


class Option(msgspec.Struct, frozen=True):
    """One option. `name` is the field of `Settings`, from which flag and configuration key are derived. Kinds: ``flag``
    (yes/no), ``choice`` (one of `choices`), ``number`` (from 0), ``text``, ``list`` (comma-separated or repeated),
    ``folders`` (repeated; relative to the configuration file that sets it), ``map`` (KEY=VALUE with the keys
    `choices`), ``pairs`` (CHOICE=TEXT, repeated). `default_on` is a flag's default. `config` says whether a
    configuration file may set it. `help` is English, then Chinese."""

    name: str
    kind: str
    group: str
    help: tuple[str, str]
    choices: tuple[str, ...] = ()
    metavar: str = ""
    default_on: bool = False
    config: bool = True

    @property
    def key(self) -> str:
        """The spelling in configuration files."""
        return self.name.replace("_", "-")

    @property
    def flag(self) -> str:
        """The spelling on the command line; ``--no-…`` for a flag that is on by default."""
        return f"--no-{self.key}" if self.default_on else f"--{self.key}"


SELECT = Option(
    "select",
    "list",
    "rules",
    (
        "run only these checks: codes, code prefixes, names, topics or categories",
        "只运行这些检查：编号、编号前缀、名称、主题或类别",
    ),
    metavar="CHECKS",
)
CHECKS = Option(
    "checks",
    "folders",
    "rules",
    ("an additional folder of check files (repeatable)", "附加的检查文件目录（可重复）"),
    metavar="DIR",
)
LANG = Option(
    "lang",
    "choice",
    "output",
    ("language of reports and messages (default: auto, from the environment)", "输出语言（默认 auto，取自环境变量）"),
    choices=("auto", "en", "zh"),
)
REFERENCE = Option(
    "reference",
    "text",
    "rules",
    (
        "the project before migration, a folder or entry script: adds the pre-tuning checklist of differences",
        "迁移前的参考基准（目录或入口脚本）：附加调优前检查清单，列出与其不一致之处",
    ),
    metavar="DIR",
)
FORMAT = Option(
    "format", "choice", "output", ("report format (default: text)", "报告格式（默认 text）"), choices=FORMATS
)
LIST_FORMAT = Option(
    "format",
    "choice",
    "output",
    ("output format (default: text)", "输出格式（默认 text）"),
    choices=("text", "json"),
    config=False,
)

OPTIONS: tuple[Option, ...] = (
    SELECT,
    Option(
        "extend_select",
        "list",
        "rules",
        ("run these checks in addition to --select", "在 --select 之外再加上这些检查"),
        metavar="CHECKS",
    ),
    Option(
        "ignore",
        "list",
        "rules",
        (
            "skip these checks; the more specific of select and ignore takes precedence",
            "排除这些检查；select 与 ignore 中更具体者优先",
        ),
        metavar="CHECKS",
    ),
    Option(
        "min_severity",
        "choice",
        "rules",
        (
            "minimum severity to report (default: warning in human-readable formats, note in others)",
            "只报告不低于此严重程度的问题（面向阅读的格式默认 warning，其余默认 note）",
        ),
        choices=SEVERITIES,
    ),
    Option(
        "min_confidence",
        "choice",
        "rules",
        ("minimum confidence to report (default: low)", "只报告不低于此置信度的问题（默认 low）"),
        choices=CONFIDENCES,
    ),
    CHECKS,
    Option(
        "target",
        "map",
        "rules",
        (
            "target environment, such as tensorflow=1.15, torch=2.7, cann=8.0, soc=910B (repeatable)",
            "目标环境，例如 tensorflow=1.15、torch=2.7、cann=8.0、soc=910B（可重复）",
        ),
        choices=TARGET_KEYS,
        metavar="KEY=VALUE",
    ),
    Option(
        "supported_ops",
        "folders",
        "rules",
        (
            "the TensorFlow operators that CANN supports: an npu_supported_ops.json or the folder of an operator "
            "package; later ones are merged over earlier ones (default: from ASCEND_OPP_PATH, otherwise the built-in "
            "list)",
            "CANN 支持的 TensorFlow 算子清单：npu_supported_ops.json 文件或算子包目录，其后给出的依次合并覆盖"
            "（默认取 ASCEND_OPP_PATH 所指目录，否则使用内置清单）",
        ),
        metavar="PATH",
    ),
    Option(
        "fix",
        "flag",
        "fixes",
        (
            "apply safe fixes in place, then report the remaining findings",
            "就地应用安全的修复，然后报告剩余问题",
        ),
    ),
    Option(
        "unsafe_fixes",
        "flag",
        "fixes",
        (
            "with --fix and --diff: also apply fixes that move code to the NPU or may change results",
            "与 --fix、--diff 同用：同时应用把代码迁移到 NPU 或可能影响结果的修复",
        ),
    ),
    Option(
        "diff",
        "flag",
        "fixes",
        (
            "show what --fix would change as a patch, without writing files; exit with 1 if there are changes",
            "以补丁形式显示 --fix 将做的修改，不写入文件；有修改时退出码为 1",
        ),
        config=False,
    ),
    Option(
        "show_fixes",
        "flag",
        "fixes",
        (
            "show the change that fixes each finding; with --fix and --diff, list the fixed findings",
            "显示修复每个问题的具体修改；与 --fix、--diff 同用时列出已修复的问题",
        ),
    ),
    Option(
        "unfixable",
        "list",
        "fixes",
        ("never fix findings of these checks", "不修复这些检查的问题"),
        metavar="CHECKS",
    ),
    Option(
        "torch_port",
        "choice",
        "fixes",
        (
            "how to port PyTorch programs to the NPU: explicit rewrites every place to NPU names, "
            "transfer imports transfer_to_npu in the entry script (default: explicit)",
            "PyTorch 程序的迁移方式：explicit 逐处改写为 NPU 接口，"
            "transfer 在启动脚本中导入 transfer_to_npu（默认 explicit）",
        ),
        choices=PORTS,
    ),
    REFERENCE,
    FORMAT,
    Option(
        "output",
        "pairs",
        "output",
        (
            "write an additional report to a file, or - for standard output (repeatable)",
            "另将一份报告写入文件，- 表示标准输出（可重复）",
        ),
        choices=FORMATS,
        metavar="FORMAT=FILE",
        config=False,
    ),
    LANG,
    Option(
        "color",
        "choice",
        "output",
        ("colours (default: auto)", "是否使用颜色（默认 auto）"),
        choices=("auto", "always", "never"),
    ),
    Option(
        "docs_url",
        "text",
        "output",
        (
            "base URL of the published check pages, for links in reports",
            "检查说明页面的发布地址，用于报告中的链接",
        ),
        metavar="URL",
    ),
    Option(
        "verbose",
        "flag",
        "output",
        (
            "list every related place of a finding and, in comparisons, identical values",
            "列出每个问题的全部相关位置，以及对比中相同的内容",
        ),
    ),
    Option(
        "silenced",
        "flag",
        "output",
        (
            "omit findings suppressed by comments or the baseline from SARIF, JUnit and HTML reports",
            "SARIF、JUnit 和 HTML 报告中不包含被注释或基线忽略的问题",
        ),
        default_on=True,
    ),
    Option("statistics", "flag", "output", ("count findings per check and category", "按检查和类别统计问题数")),
    Option(
        "exclude",
        "list",
        "files",
        (
            "patterns of files and folders to exclude, replacing the defaults",
            "要排除的文件和目录模式（替换默认值）",
        ),
        metavar="PATTERNS",
    ),
    Option(
        "extend_exclude",
        "list",
        "files",
        ("additional patterns to exclude", "额外排除的模式"),
        metavar="PATTERNS",
    ),
    Option(
        "respect_gitignore",
        "flag",
        "files",
        ("also check files listed in .gitignore", "也检查 .gitignore 列出的文件"),
        default_on=True,
    ),
    Option(
        "force_exclude",
        "flag",
        "files",
        ("exclude files that match even if specified explicitly", "即使明确指定路径，也应用排除规则"),
    ),
    Option(
        "consequences_since",
        "text",
        "files",
        (
            "also report what changes in the specified files since this git revision cause elsewhere in their project "
            "(auto: the revision pre-commit compares with, otherwise HEAD)",
            "同时报告指定文件自此 git 版本以来的改动在工程其他文件中引起的问题（auto：pre-commit 的比较版本或 HEAD）",
        ),
        metavar="REV",
        config=False,
    ),
    Option(
        "stdin_filename",
        "text",
        "files",
        ("file name of the source on standard input (-)", "标准输入（-）中源码的文件名"),
        metavar="FILE",
        config=False,
    ),
    Option(
        "show_files",
        "flag",
        "files",
        ("list the files that would be read and exit", "列出将要读取的文件后退出"),
        config=False,
    ),
    Option(
        "fail_on",
        "choice",
        "run",
        ("minimum severity for exit code 1 (default: error)", "达到此严重程度时退出码为 1（默认 error）"),
        choices=("error", "warning", "note", "never"),
    ),
    Option(
        "baseline",
        "text",
        "run",
        (
            "do not report findings recorded in this file (default: npulint-baseline.json, if present)",
            "不报告此文件中已记录的问题（默认 npulint-baseline.json，如存在）",
        ),
        metavar="FILE",
    ),
    Option(
        "write_baseline",
        "flag",
        "run",
        ("accept the current findings: write them to the baseline and exit", "将当前问题写入基线文件后退出"),
        config=False,
    ),
    Option(
        "prune_baseline",
        "flag",
        "run",
        ("remove fixed findings from the baseline", "从基线文件中删除已修复的问题"),
        config=False,
    ),
    Option("exit_zero", "flag", "run", ("exit with 0 even if there are findings", "即使有问题退出码也为 0")),
    Option(
        "jobs",
        "number",
        "run",
        ("processes that read files (default: 0 = auto)", "读取文件的进程数（默认 0，表示自动）"),
        metavar="N",
    ),
    Option(
        "cache",
        "flag",
        "run",
        ("ignore the cache and read every file again", "不使用缓存，重新读取所有文件"),
        default_on=True,
    ),
    Option(
        "config",
        "text",
        "run",
        ("use this configuration file", "使用此配置文件"),
        metavar="FILE",
        config=False,
    ),
    Option(
        "isolated",
        "flag",
        "run",
        ("ignore all configuration files", "不使用任何配置文件"),
        config=False,
    ),
)

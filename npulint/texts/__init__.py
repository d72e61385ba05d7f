"""Every sentence that npulint itself says, in English and Chinese. Checks carry their own texts."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    # words
    "severity.error": ("error", "错误"),
    "severity.warning": ("warning", "警告"),
    "severity.note": ("note", "提示"),
    "applicability.safe": ("safe to apply", "可安全应用"),
    "applicability.unsafe": ("may change results", "可能影响结果"),
    "list.and": (", ", "、"),
    "list.clause": ("; ", "；"),
    "aside": (" ({text})", "（{text}）"),
    "error": ("error: {text}", "错误：{text}"),
    # the text report
    "why": ("why", "原因"),
    "fix": ("fix", "建议"),
    "confidence": ("confidence {level}", "置信度{level}"),
    "confidence.low": ("low", "低"),
    "confidence.medium": ("medium", "中"),
    "confidence.high": ("high", "高"),
    "category.functional": ("functional", "功能"),
    "category.precision": ("precision", "精度"),
    "category.performance": ("performance", "性能"),
    "category.hygiene": ("hygiene", "规范"),
    "related.more": ("... and {n} more place|... and {n} more places", "…… 另有 {n} 处"),
    "programs": ("Programs", "程序"),
    "programs.more": ("... and {n} more program|... and {n} more programs", "…… 另有 {n} 个程序"),
    "target": ("Target", "目标环境"),
    "target.given": ("specified", "指定"),
    "target.inferred": ("inferred", "推断"),
    "target.assumed": ("assumed", "假定"),
    "target.unlikely": ("{chips} unlikely", "不太可能是 {chips}"),
    "target.shown": ("inferred from {word}", "由 {word} 推断"),
    "target.shown.at": ("inferred from {word} in {path}:{line}", "由 {path}:{line} 的 {word} 推断"),
    "on.chips": ("On {chips}: ", "在 {chips} 上："),
    "target.any": ("any (not declared)", "任意（未声明）"),
    "first": ("What to do first", "优先处理"),
    "first.places": (
        "{name}: {n} place, at {place}|{name}: {n} places, the first at {place}",
        "{name}：{n} 处，首处 {place}",
    ),
    "statistics": ("Counts", "统计"),
    "seconds": ("{seconds:.2f} s", "用时 {seconds:.2f} 秒"),
    "framework.torch": ("PyTorch", "PyTorch"),
    "framework.pytorch": ("PyTorch", "PyTorch"),
    "framework.tensorflow": ("TensorFlow", "TensorFlow"),
    "framework.tensorflow 1.x": ("TensorFlow 1.x", "TensorFlow 1.x"),
    "framework.tensorflow 2.x": ("TensorFlow 2.x", "TensorFlow 2.x"),
    "framework.none": ("no framework", "未使用框架"),
    "mode.session": ("session", "Session"),
    "mode.estimator": ("Estimator", "Estimator"),
    "mode.keras": ("Keras", "Keras"),
    "mode.function": ("tf.function", "tf.function"),
    "state.not_started": ("not started", "未迁移"),
    "state.automatic": ("automatic", "自动迁移"),
    "state.partial": ("partly migrated", "部分迁移"),
    "state.migrated": ("migrated", "已迁移"),
    "role.train": ("trains", "训练"),
    "role.evaluate": ("evaluates", "评估"),
    "role.export": ("exports", "导出"),
    "role.data": ("prepares data", "数据处理"),
    "role.library": ("library", "库"),
    "devices.multi": ("several devices", "多卡"),
    "devices.single": ("one device", "单卡"),
    "checklist.passed": ("{n} ready", "{n} 项就绪"),
    "checklist.failed": ("{n} not ready", "{n} 项未就绪"),
    "checklist.unknown": ("{n} to review", "{n} 项待核对"),
    "readiness": ("Readiness of {entry}", "{entry} 的就绪清单"),
    "readiness.counts": (
        "{passed} passed, {failed} failed, {unknown} undetermined",
        "通过 {passed} 项，未通过 {failed} 项，无法判断 {unknown} 项",
    ),
    "readiness.more": (
        "{n} more readiness checklist: --verbose|{n} more readiness checklists: --verbose",
        "另有 {n} 个程序的就绪清单：--verbose",
    ),
    "status.passed": ("passed", "通过"),
    "status.failed": ("failed", "未通过"),
    "status.unknown": ("undetermined", "无法判断"),
    # the Markdown report
    "markdown.title": ("Readiness for Ascend NPUs", "昇腾 NPU 就绪报告"),
    "markdown.item": ("Item", "检查项"),
    "markdown.result": ("Result", "结果"),
    "markdown.evidence": ("Evidence", "依据"),
    "markdown.look": ("Needs review", "人工核对"),
    "markdown.findings": ("Findings", "检查结果"),
    "markdown.severity": ("Severity", "严重程度"),
    "markdown.check": ("Check", "检查"),
    "markdown.place": ("Place", "位置"),
    "markdown.message": ("Message", "说明"),
    "markdown.mend": ("How to fix it", "修改建议"),
    "markdown.more": (
        "{n} more finding does not fit in this summary.|{n} more findings do not fit in this summary.",
        "另有 {n} 个问题因篇幅限制未列出。",
    ),
    # the last lines
    "found": ("Found {n} finding|Found {n} findings", "共 {n} 个问题"),
    "count.error": ("{n} error|{n} errors", "{n} 个错误"),
    "count.warning": ("{n} warning|{n} warnings", "{n} 个警告"),
    "count.note": ("{n} note|{n} notes", "{n} 个提示"),
    "in.files": (" in {bad} of {n} file| in {bad} of {n} files", "，涉及 {n} 个文件中的 {bad} 个"),
    "clean": (
        "All checks passed: {n} file checked|All checks passed: {n} files checked",
        "检查通过：已检查 {n} 个文件，没有需要处理的问题",
    ),
    "clean.known": (
        "No new findings: {n} file checked|No new findings: {n} files checked",
        "没有新增问题：已检查 {n} 个文件",
    ),
    "clean.read": (
        "No findings in the {n} file that was read|No findings in the {n} files that were read",
        "已读取的 {n} 个文件中没有发现问题",
    ),
    "clean.no-framework": (
        "{n} file checked: no program uses TensorFlow or PyTorch, nothing to migrate"
        "|{n} files checked: no program uses TensorFlow or PyTorch, nothing to migrate",
        "已检查 {n} 个文件：没有使用 TensorFlow 或 PyTorch 的程序，无需迁移",
    ),
    "nothing": ("Nothing was checked: no file was read", "没有检查任何内容：未读取任何文件"),
    "nothing.below": (
        "warning: no files to check in {paths}",
        "警告：{paths} 中没有可检查的文件",
    ),
    "below-threshold": (
        "{n} finding below {severity} not shown (--min-severity note)"
        "|{n} findings below {severity} not shown (--min-severity note)",
        "{n} 个低于“{severity}”的问题未显示（--min-severity note）",
    ),
    "hidden": ("{n} hidden by thresholds|{n} hidden by thresholds", "{n} 个因阈值设置未显示"),
    "beyond": (
        "{n} finding is in a file that was not specified but depends on one that was: {list}"
        "|{n} findings are in files that were not specified but depend on some that were: {list}",
        "有 {n} 个问题位于未指定的文件中，因为它们与指定的文件有关：{list}",
    ),
    "beyond.change": (
        "{n} finding is in a file outside this change that depends on a changed one: {list}"
        "|{n} findings are in files outside this change that depend on changed ones: {list}",
        "有 {n} 个问题位于本次未改动的文件中，因为它们与改动的文件有关：{list}",
    ),
    "elsewhere": (
        "{n} finding in files that were not specified (npulint check)"
        "|{n} findings in files that were not specified (npulint check)",
        "未指定的文件中有 {n} 个问题（npulint check）",
    ),
    "suppressed": ("{n} suppressed by a comment|{n} suppressed by comments", "{n} 个已被注释忽略"),
    "sarif.root": ("The folder in which npulint was started", "运行 npulint 时所在的目录"),
    "sarif.cut": (
        "{n} finding was omitted, because a run holds at most {limit}: check fewer paths, or raise --min-severity"
        "|{n} findings were omitted, because a run holds at most {limit}: check fewer paths, or raise --min-severity",
        "略去了 {n} 个问题（一次运行最多容纳 {limit} 个）：请缩小检查范围，或提高 --min-severity",
    ),
    "silenced.comment": ("suppressed by a comment", "已被注释忽略"),
    "silenced.baseline": ("recorded in the baseline", "基线中已有"),
    "unread": ("{n} file was not read: {list}|{n} files were not read: {list}", "{n} 个文件未能读取：{list}"),
    "partly-read": (
        "{n} file was only partly read: {list}|{n} files were only partly read: {list}",
        "{n} 个文件仅部分读取：{list}",
    ),
    "unread.more": ("{n} more|{n} more", "另有 {n} 个"),
    "change.hint": (
        "Correct as is? Add to the line: # npulint: ignore[{name}] reason. Fix later: npulint check --write-baseline",
        "确认无误：在该行末尾加上 # npulint: ignore[{name}] 理由；以后再改：npulint check --write-baseline",
    ),
    "explain.hint": ("Learn more: npulint explain {name}", "查看说明：npulint explain {name}"),
    # fixable findings
    "fixable.safe": ("{n} fixable with --fix", "{n} 个可用 --fix 修复"),
    "fixable.more": ("{n} more with --unsafe-fixes", "另有 {n} 个可用 --unsafe-fixes 修复"),
    "fixable.unsafe": ("{n} fixable with --fix --unsafe-fixes", "{n} 个可用 --fix --unsafe-fixes 修复"),
    "doubt.encoding": ("Python does not accept the encoding of this text", "Python 不接受此文本的编码"),
    "doubt.why": (
        "It was checked anyway, but Python 3 stops here when the program starts.",
        "文件已照常检查，但 Python 3 启动程序时会在此处报错。",
    ),
    "fix.syntax-error": ("Fix the syntax, then run npulint again.", "修正语法后重新运行 npulint。"),
    "fix.python2": (
        "Port it to Python 3 first (2to3 does most of the work); the adapters also require Python 3.",
        "请先移植到 Python 3（2to3 可完成大部分工作）；NPU 适配插件同样要求 Python 3。",
    ),
    "fix.python2-read": (
        "Port it to Python 3 first (2to3 does most of the work); the adapters also require Python 3.",
        "请先移植到 Python 3（2to3 可完成大部分工作）；NPU 适配插件同样要求 Python 3。",
    ),
    "fix.encoding": (
        "Save it as UTF-8, or declare its encoding in the first line.",
        "保存为 UTF-8，或在首行声明编码。",
    ),
    "fix.too-large": ("Move data out of the source, or exclude the file.", "将数据移出源码，或排除此文件。"),
    "fix.too-deep": ("Split the expression, or exclude the file.", "拆分表达式，或排除此文件。"),
    "fix.empty": ("Specify the file that the run wrote, or exclude it.", "请指定运行实际写出的文件，或排除此文件。"),
    "fix.json": ("Fix the JSON.", "修正 JSON 格式。"),
    "fix.not-a-graph": (
        "Specify a GraphDef, MetaGraph, SavedModel, exported program (.pt2) or TorchScript archive; "
        "a checkpoint contains no graph.",
        "请指定 GraphDef、MetaGraph、SavedModel、导出程序（.pt2）或 TorchScript 文件；checkpoint 中没有计算图。",
    ),
    "fix.graph-pickled": (
        "Specify the graph instead: export the model with torch.export.save (.pt2) or torch.jit.save.",
        "请改为指定计算图：用 torch.export.save（.pt2）或 torch.jit.save 导出模型。",
    ),
    "fix.graph-compiled": (
        "Specify the exported program that it was compiled from (torch.export.save).",
        "请指定编译前的导出程序（torch.export.save）。",
    ),
    "fix.graph-damaged": ("Export the graph again, or exclude the file.", "重新导出计算图，或将此文件排除。"),
    "fix.graph-too-large": ("Export a smaller graph, or exclude the file.", "导出更小的计算图，或将此文件排除。"),
    "fix.not-an-artifact": (
        "Specify a profiler table, comparison result, overflow record or log as written by the tools.",
        "请指定工具原样输出的性能数据表、比对结果、溢出记录或日志。",
    ),
    "fix.artifact-damaged": ("Export or copy the file again, or exclude it.", "重新导出或复制此文件，或将其排除。"),
    "fix.artifact-spreadsheet": ("Save the sheet as CSV and specify that file.", "请将表格另存为 CSV 后指定该文件。"),
    "fix.missing": ("Check the spelling of the path.", "请检查路径拼写。"),
    "fix.not-a-file": ("Specify a file or folder, or exclude it.", "请指定文件或目录，或将其排除。"),
    "fix.unreadable": ("Check its permissions, or exclude it.", "请检查权限，或将其排除。"),
    "fix.unsupported": ("Specify a supported file, or exclude it.", "请指定 npulint 支持的文件，或将其排除。"),
    "fix.other": ("Fix the file, or exclude it.", "修复此文件，或将其排除。"),
    # the engine's own checks
    "title.syntax-error": ("Source cannot be parsed", "源码无法解析"),
    "title.file-not-read": ("File could not be read", "文件未能读取"),
    "title.unused-suppression": ("Unused suppression comment", "无用的忽略注释"),
    "title.invalid-suppression": ("Invalid suppression comment", "忽略注释无效"),
    "about.syntax-error": (
        "A file that Python cannot parse is not checked, and results that depend on it may be inaccurate. "
        "Fix the syntax. Python 2 sources must be ported first: the adapters also require Python 3.",
        "无法解析的文件不会被检查，依赖它的判断也可能不准确。请修正语法；Python 2 源码请先移植到 Python 3。",
    ),
    "about.file-not-read": (
        "A file or part of it could not be read: it is missing, too large, nested too deeply, in an unknown "
        "encoding, or not a regular file. Fix it, or exclude it.",
        "文件或其一部分无法读取：不存在、过大、嵌套过深、编码无法识别或不是普通文件。请修复或将其排除。",
    ),
    "about.unused-suppression": (
        "A comment such as `# npulint: ignore[name]` names a check that reports nothing there. Remove the name: an "
        "unused suppression may hide a real problem later.",
        "`# npulint: ignore[名称]` 所指的检查在此处没有问题。请删除该名称：无作用的忽略注释日后可能掩盖真正的问题。",
    ),
    "about.invalid-suppression": (
        "A suppression comment names a nonexistent check, or no check, so it has no effect. "
        "Write `# npulint: ignore[name-or-code] reason`.",
        "忽略注释所指的检查不存在，或没有指明检查，因此不起作用。请写成 `# npulint: ignore[名称或编号] 理由`。",
    ),
    "unused.message": ("unused suppression: `{name}` reports nothing here", "此处没有 `{name}` 的问题"),
    "unused.why": (
        "An unused suppression may hide a real problem later.",
        "目前无作用的忽略注释，日后可能掩盖真正的问题。",
    ),
    "unused.fix": ("Remove it from the comment.", "从注释中删除它。"),
    "invalid.unknown": ("there is no check named `{name}`", "没有名为 `{name}` 的检查"),
    "invalid.blanket": (
        "the comment names no check, so it has no effect",
        "注释没有指明检查，因此不起作用",
    ),
    "invalid.why": (
        "The comment is ignored; the findings that it should suppress are still reported.",
        "此注释不会生效，相应的问题仍会报告。",
    ),
    "invalid.fix.unknown": (
        "Correct the name; `npulint rules` lists all checks.",
        "请更正名称；`npulint rules` 可列出全部检查。",
    ),
    "invalid.fix.blanket": (
        "Name the check: `# npulint: ignore[name-or-code] reason`.",
        "写明检查名称：`# npulint: ignore[名称或编号] 理由`。",
    ),
    # options and configuration
    "meant": ("; did you mean `{word}`?", "；是否想写 `{word}`？"),
    "unknown.key": ("unknown key `{word}`", "未知的配置项 `{word}`"),
    "unknown.option": ("unknown option `{word}`", "未知选项 `{word}`"),
    "unknown.command": ("unknown command `{word}`", "未知命令 `{word}`"),
    "unknown.value": ("`{word}` is not one of {choices}", "`{word}` 不是 {choices} 之一"),
    "unknown.check": ("there is no check, topic or category named `{word}`", "没有名为 `{word}` 的检查、主题或类别"),
    "unknown.revision": ("git cannot find the revision `{word}`", "git 找不到版本 `{word}`"),
    "unknown.ignored": (
        "warning: `{option}` names `{word}`, which is not a check, topic or category",
        "警告：`{option}` 中的 `{word}` 不是任何检查、主题或类别",
    ),
    "command.path": ("; to check it: npulint check {path}", "；若要检查它：npulint check {path}"),
    "bad.type": ("expected {wanted}, got {given}", "此处应为 {wanted}，实际为 {given}"),
    "bad.pair": ("`{word}` does not have the form {form}", "`{word}` 不符合 {form} 的形式"),
    "bad.number": ("`{word}` is not a non-negative integer", "`{word}` 不是非负整数"),
    "bad.version": ("`{word}` does not look like a version", "`{word}` 不像是版本号"),
    "bad.quoted": ('versions must be quoted: {key} = "{value}"', '版本号需加引号：{key} = "{value}"'),
    "bad.soc": ("`{word}` does not look like a SoC name such as 910B", "`{word}` 不像是 910B 这样的 SoC 名称"),
    "bad.empty": ("is empty", "为空"),
    "bad.stdin": (
        "standard input (-) cannot be combined with other paths",
        "标准输入（-）只能单独检查，不能与其他路径同时给出",
    ),
    "bad.combination": ("{one} and {other} cannot be used together", "{one} 与 {other} 不能同时使用"),
    "config.unreadable": ("{path}: cannot be read: {detail}", "{path}：无法读取：{detail}"),
    "config.broken": ("{path}:{place}: invalid TOML: {detail}", "{path}:{place}：TOML 格式错误：{detail}"),
    "type.flag": ("true or false", "true 或 false"),
    "type.text": ("a string", "字符串"),
    "type.number": ("an integer", "整数"),
    "type.list": ("a list of strings", "字符串列表"),
    "type.map": ("a table", "表"),
    # commands
    "usage": ("usage: ", "用法："),
    "usage.commands": ("npulint COMMAND [OPTIONS] ...", "npulint 命令 [选项] ..."),
    "usage.options": ("[OPTIONS]", "[选项]"),
    "heading": ("{text}:", "{text}："),
    "about": (
        "Checks the Ascend NPU readiness of training projects before you spend NPU time.",
        "在占用 NPU 资源之前，检查训练工程是否已具备在昇腾 NPU 上运行的条件。",
    ),
    "commands": ("commands", "命令"),
    "command.help": (
        "`npulint COMMAND --help` shows the options of a command.",
        "`npulint 命令 --help` 显示该命令的选项。",
    ),
    "group.arguments": ("arguments", "参数"),
    "group.rules": ("checks", "检查内容"),
    "group.fixes": ("fixes", "修复"),
    "group.output": ("output", "输出"),
    "group.files": ("files", "文件"),
    "group.run": ("run", "运行"),
    "group.help": ("help", "帮助"),
    "help.help": ("show this help", "显示帮助"),
    "exit.codes": (
        "exit codes: 0 no findings at or above --fail-on, 1 findings, 2 the run failed, 130 interrupted",
        "退出码：0 没有达到 --fail-on 的问题；1 有问题；2 运行失败；130 被中断",
    ),
    "unexpected.argument": ("unexpected argument `{word}`", "多余的参数 `{word}`"),
    "version.help": ("`npulint --version` prints the version.", "`npulint --version` 显示版本。"),
    "missing.argument": ("{word} is missing", "缺少 {word}"),
    "missing.usage": ("; usage: {usage}", "；用法：{usage}"),
    "interrupted": ("interrupted", "已中断"),
    "progress": ("npulint: {done} of {total} files", "npulint：已处理 {done}/{total} 个文件"),
    "internal": (
        "internal error: this is a bug in npulint, please report it with the lines above",
        "内部错误：这是 npulint 的缺陷，请连同以上内容一起反馈",
    ),
    "output.failed": ("{path}: cannot be written: {detail}", "{path}：无法写入：{detail}"),
    "output.full": (
        "warning: {path}: the report does not fit in the summary of this step",
        "警告：{path}：此步骤的摘要空间不足，无法写入报告",
    ),
    "exists": ("{path} already exists", "{path} 已存在"),
    "written": (
        "{path} created: fill in its texts, then run npulint test {path}",
        "已生成 {path}：补全内容后运行 npulint test {path}",
    ),
    "test.held": ("{n} example passed|all {n} examples passed", "{n} 个示例全部通过"),
    "test.failed": (
        "{failed} of {n} example failed|{failed} of {n} examples failed",
        "{n} 个示例中有 {failed} 个未通过",
    ),
    "facts.none": ("no facts in {path}", "{path} 中没有事实"),
    "new.form": (
        "specify the check as FAMILY/NAME, such as tensorflow/variable-in-dataset-map",
        "请以 FAMILY/NAME 形式指定检查，例如 tensorflow/variable-in-dataset-map",
    ),
}


FAMILIES: tuple[str, ...] = (
    "baseline",
    "compare",
    "fix",
    "fixes",
    "github",
    "graphs",
    "html",
    "imaginary",
    "init",
    "joined",
    "live",
    "problem",
    "runs",
    "server",
    "settings",
    "short",
)
"""The first words of keys whose sentences are in a module of their own below this package: read when one is said."""


def say(lang: str, key: str, /, **values: object) -> str:
    """The sentence `key` in `lang` (``en`` or ``zh``) with its values filled in."""
    text = _entry(key)[lang == "zh"]
    return text.format(**values) if values else text


def count(lang: str, key: str, n: int, /, **values: object) -> str:
    """The same for a sentence about `n` things; English tells one from many by ``one|many``."""
    one, _, many = _entry(key)[lang == "zh"].partition("|")
    return (many if many and n != 1 else one).format(n=n, **values)


def known(key: str) -> bool:
    """Whether there is such a sentence."""
    try:
        return bool(_entry(key))
    except KeyError:
        return False


def _entry(key: str) -> tuple[str, str]:
    family = key.partition(".")[0]
    if key in TEXTS or family not in FAMILIES:
        return TEXTS[key]
    from importlib import import_module

    table: dict[str, tuple[str, str]] = import_module(f"npulint.texts.{family}").TEXTS
    return table[key]

"""The sentences of the site that come from no check, in English and Chinese."""

from __future__ import annotations

LANGUAGES = ("en", "zh")
LANGUAGE_NAMES = {"en": "English", "zh": "中文"}

TEXTS: dict[str, tuple[str, str]] = {
    "site": ("npulint", "npulint"),
    "about": (
        "Checks whether a TensorFlow or PyTorch training project is ready for Huawei Ascend NPUs.",
        "训练工程是否已为昇腾 NPU 做好准备？面向开发者与 CI 的静态检查工具。",
    ),
    "nav.home": ("Home", "首页"),
    "nav.guides": ("Guides", "使用指南"),
    "nav.checks": ("Checks", "检查项"),
    "nav.all": ("All checks", "全部检查项"),
    "nav.topics": ("By topic", "按主题"),
    "nav.categories": ("By category", "按类别"),
    "nav.readiness": ("Readiness checklist", "就绪清单"),
    "nav.pretuning": ("Pre-tuning checklist", "调优前检查清单"),
    "nav.authors": ("For authors", "扩展开发"),
    # around every page
    "page.skip": ("Skip to content", "跳到正文"),
    "page.sections": ("Sections", "栏目"),
    "page.search": ("Search", "搜索"),
    "page.none": ("Nothing found", "没有找到"),
    "page.some": ("No page has all these words; some of them:", "没有页面包含全部词语，以下页面包含其中一部分："),
    "page.more": ("{n} more", "另有 {n} 项"),
    "page.dark": ("Light or dark", "浅色或深色"),
    "page.crumbs": ("Path", "当前位置"),
    "page.around": ("Previous and next page", "上一页与下一页"),
    "page.toc": ("On this page", "本页内容"),
    # the page of a check
    "preview": ("preview", "预览"),
    "preview.tip": (
        "New: it has not been confirmed on enough real projects yet.",
        "新检查项：在真实工程上的验证还不充分。",
    ),
    "confidence": ("{word} confidence", "置信度{word}"),
    "fix.safe": ("safe fix", "可安全修复"),
    "fix.unsafe": ("fix may change results", "修复可能影响结果"),
    "applies": ("Applies to", "适用范围"),
    "since": ("since {version}", "自 {version} 版本"),
    "target": ("With {target}", "目标环境：{target}"),
    "line": ("line {line}", "第 {line} 行"),
    "lines.none": ("Not reported here", "此处不报告"),
    "file": ("in `{name}`", "`{name}`"),
    "silence": ("If the code is correct", "确认无误时如何忽略"),
    "silence.about": (
        "Suppress the finding on its line, with a reason, or ignore the check in `npulint.toml`: {setting}. "
        "[Suppressions and baseline]({link})",
        "在代码所在行忽略该问题并写明理由，或在 `npulint.toml` 中忽略此检查项：{setting}。[忽略与基线]({link})",
    ),
    "silence.reason": ("why this is correct here", "此处正确的理由"),
    "related": ("Other checks about {topic}", "同主题检查：{topic}"),
    "related.more": ("All {n} checks about {topic}", "“{topic}”主题的全部 {n} 个检查项"),
    # pages of the engine
    "engine.about": (
        "This check is about reading the project, not about the NPU.",
        "此检查项针对读取工程的过程，而非 NPU 相关代码。",
    ),
    # codes that are gone
    "retired": ("{code}: retired", "{code}：已停用"),
    "retired.about": (
        "The check with this code was removed; the code is never reused. The reason:",
        "此编号对应的检查项已停用，编号不再使用。原因：",
    ),
    "retired.remove": (
        "Remove it from suppression comments and configurations that still name it. [All checks]({link})",
        "如配置或忽略注释中仍有此编号，可以删除。[全部检查项]({link})",
    ),
    # lists
    "checks.about": (
        "{n} checks. Each page says what the check reports, why it matters on the NPU and how to fix it, with "
        "examples and sources.",
        "共 {n} 个检查项。每项都说明检查内容、在 NPU 上的影响、处理方法，并附示例与来源。",
    ),
    "checks.also": (
        "See also the checks by [topic]({topics}) and by category ({categories}), and the "
        "[readiness checklist]({readiness}) of a training program.",
        "也可按[主题]({topics})、按类别（{categories}）浏览，或查看训练程序需要通过的[就绪清单]({readiness})。",
    ),
    "filter.text": ("Name, code or words", "名称、编号或关键词"),
    "filter.framework": ("Framework", "框架"),
    "filter.category": ("Category", "类别"),
    "filter.severity": ("Severity", "严重程度"),
    "filter.topic": ("Topic", "主题"),
    "filter.any": ("any", "不限"),
    "filter.shown": ("{n} shown", "显示 {n} 项"),
    "filter.none": ("No matching checks.", "没有符合条件的检查项。"),
    "filter.clear": ("Clear", "清除"),
    "column.check": ("Check", "检查项"),
    "column.status": ("Status", "状态"),
    "column.useful": ("Useful", "有用"),
    "column.useless": ("Right but useless", "正确但无用"),
    "column.false": ("False", "误报"),
    "column.safe": ("Why its safe fixes are safe", "为什么是安全修复"),
    "column.projects": ("Projects", "工程数"),
    "column.about": ("Description", "内容"),
    "column.topic": ("Topic", "主题"),
    "column.checks": ("Checks", "检查项数"),
    "topics": ("Topics", "主题"),
    "topics.about": ("The topics of the checks.", "各检查项所属的主题。"),
    "count": ("{n} checks", "{n} 个检查项"),
    "count.one": ("1 check", "1 个检查项"),
    # readiness
    "readiness": ("Readiness checklist", "就绪清单"),
    "readiness.about": (
        "For every training program, npulint reports each of these {n} items as *passed*, *failed* or *undetermined*, "
        "with the place that is the evidence. Items that do not apply to a program are not listed.",
        "npulint 针对每个训练程序，对以下 {n} 项逐一给出“通过”“未通过”或“无法判断”，并指出依据所在位置；"
        "与该程序无关的项目不列出。",
    ),
    "readiness.item": ("Item", "检查项"),
    "readiness.otherwise": ("Without evidence", "没有依据时"),
    "readiness.fails": ("When it fails", "何时不通过"),
    "readiness.doubted": ("Findings that leave it undetermined", "会使其无法判断的问题"),
    "readiness.fails.none": (
        "The code cannot show that it fails: confirm this item manually.",
        "仅凭代码无法判定：此项需人工确认。",
    ),
    "readiness.topics": (
        "Findings of at least severity *{severity}* about:",
        "以下主题中严重程度不低于“{severity}”的问题：",
    ),
    "readiness.checks": ("These checks, regardless of severity:", "以下检查（不论严重程度）："),
    "readiness.but": ("Not counted:", "不计入："),
    "readiness.look": ("What to review", "人工核对"),
    "readiness.passed": ("Passed", "通过"),
    "readiness.failed": ("Failed", "未通过"),
    "readiness.unknown": ("Undetermined", "无法判断"),
    "readiness.absent": ("Not listed", "不列出"),
    "readiness.key": ("In machine-readable reports: `{key}`", "机器可读报告中的名称：`{key}`"),
    "readiness.decided": ("How it is decided", "判定方式"),
    "readiness.decided.passed": (
        "Passed unless one of the following fails it.",
        "没有下述情况即为通过。",
    ),
    "readiness.decided.evidence": (
        "Passed if npulint finds the code that does it, failed by what is listed below, otherwise *undetermined*.",
        "找到相应代码即为通过，出现下述情况为未通过，否则为“无法判断”。",
    ),
    "readiness.decided.person": (
        "The code cannot show that it is met: *undetermined* until it is reviewed manually, failed by what is listed "
        "below.",
        "代码无法证明其通过：人工核对之前均为“无法判断”，出现下述情况为未通过。",
    ),
    # pre-tuning checklist
    "side.reference": ("Reference", "参考基准"),
    "side.migrated": ("Migrated program", "迁移后工程"),
    "pretuning": ("Pre-tuning checklist", "调优前检查清单"),
    "pretuning.about": (
        "`npulint compare REFERENCE MIGRATED` reports each of these {n} items for each training program and its "
        "reference as *consistent*, *differs* or *undetermined*, and shows both sides of every difference.",
        "`npulint compare REFERENCE MIGRATED` 针对每个训练程序及其参考基准，对以下 {n} 项逐一给出“一致”“不一致”或"
        "“无法判断”，并列出不一致之处两侧的内容。",
    ),
    "pretuning.decided": (
        "Consistent if something was compared, every value is known and nothing below is found; otherwise *differs* or "
        "*undetermined*.",
        "比较了相应内容、取值均可确定且没有下述问题即为一致，否则为“不一致”或“无法判断”。",
    ),
    "pretuning.fails": ("When it differs", "何时不一致"),
    "pretuning.passed": ("Consistent", "一致"),
    "pretuning.failed": ("Differs", "不一致"),
    "pretuning.unknown": ("Undetermined", "无法判断"),
    "pretuning.absent": ("Not listed", "不列出"),
    # guides
    "only.english": ("This page is in English.", "本页目前只有英文版。"),
    # tables that are generated
    "option.flag": ("Command line", "命令行"),
    "option.key": ("Configuration", "配置项"),
    "option.default": ("Default", "默认值"),
    "option.help": ("Meaning", "含义"),
    "option.values": (": {choices}", "：{choices}"),
    "starts.framework": ("Framework", "框架"),
    "starts.keys": ("Keys of its files", "文件中的键"),
    "starts.commands": ("Commands, modules, launchers", "命令、模块与启动器"),
    "argument.argument": ("Argument", "参数"),
    "argument.values": ("Values", "取值"),
    "argument.effect": ("On the NPU", "在 NPU 上"),
    "argument.only": ("Only with", "条件"),
    "argument.instead": ("Instead", "改为"),
    "argument.check": ("Check", "检查项"),
    "argument.set": ("any", "任意"),
    "argument.unset": ("not set", "未设置"),
    "effect.refused": ("fails", "报错"),
    "effect.wrong": ("wrong results", "结果错误"),
    "effect.slow": ("slow", "变慢"),
    "effect.cpu": ("runs on the CPU", "在 CPU 上执行"),
    "effect.ignored": ("no effect", "不生效"),
    "options.there": ("See the [table of options]({link}).", "见[选项表]({link})。"),
}  # fmt: skip

TOPICS: dict[str, tuple[str, str]] = {
    "affinity_op": ("Fused NPU operators", "亲和算子"),
    "apex_amp": ("Apex mixed precision", "Apex 混合精度"),
    "control_flow_v2": ("Control flow", "控制流"),
    "dataloader_perf": ("Data loading", "数据加载"),
    "debug_leftover": ("Debugging leftovers", "调试残留"),
    "dependency": ("Dependencies", "依赖"),
    "deprecated_api": ("Deprecated interfaces", "废弃接口"),
    "determinism": ("Determinism", "确定性"),
    "device_cuda": ("CUDA and devices", "CUDA 与设备"),
    "distribution": ("Distributed training", "分布式训练"),
    "drop_remainder": ("Last batches", "尾批次"),
    "dropout": ("Dropout", "Dropout"),
    "dynamic_shape": ("Dynamic shapes", "动态 shape"),
    "agnostic": ("Device-agnostic code", "设备无关代码"),
    "env_vars": ("Environment variables", "环境变量"),
    "estimator_migration": ("Estimator migration", "Estimator 迁移"),
    "framework_support": ("NPU support of frameworks", "训练框架的 NPU 支持"),
    "fused_optimizer": ("Fused optimizers", "融合优化器"),
    "graph_op": ("Graph operators", "图算子"),
    "host_sync": ("Host-device synchronization", "Host 与 Device 同步"),
    "iterations_per_loop": ("Iteration offload", "循环下沉"),
    "loss_scale": ("Loss scale", "Loss Scale"),
    "mix_compile": ("Mixed computing", "混合计算"),
    "mixed_precision": ("Mixed precision", "混合精度"),
    "mixlist": ("Mixed precision lists", "混合精度名单"),
    "other": ("Other", "其他"),
    "parse": ("Reading the project", "工程读取"),
    "py_func": ("Python in the graph", "图中的 Python 函数"),
    "recipe_difference": ("Differences from the reference", "与参考基准的差异"),
    "run_artifact": ("Run artifacts", "运行产物"),
    "session_config": ("Session configuration", "Session 配置"),
    "setting": ("Adapter options", "适配插件参数"),
    "topk": ("Top-k", "Top-k"),
    "unsupported_op": ("Unsupported operators", "不支持的算子"),
    "variable_in_input_fn": ("Variables in the input pipeline", "输入流水线中的变量"),
}

CATEGORIES: dict[str, tuple[str, str]] = {
    "functional": (
        "The run stops, hangs, or never uses the NPU.",
        "运行报错、卡住，或根本没有使用 NPU。",
    ),
    "precision": (
        "The run continues but trains something else: overflow, lost gradients, unintended precision.",
        "训练能运行但结果不对：溢出、梯度丢失、实际计算精度与预期不符。",
    ),
    "performance": (
        "The run is correct but slow: operators on the host, compilation in every step, waiting for data.",
        "结果正确但速度慢：算子回退到 Host、每步重新编译、等待数据。",
    ),
    "hygiene": (
        "Nothing breaks today: leftovers, deprecated interfaces and settings without effect.",
        "暂不影响运行：残留代码、旧接口，以及不起作用的设置。",
    ),
}  # fmt: skip


def say(lang: str, key: str, /, **values: object) -> str:
    """The sentence `key` in ``en`` or ``zh``, its values filled in."""
    text = TEXTS[key][lang == "zh"]
    return text.format(**values) if values else text


def topic(lang: str, name: str) -> str:
    """The title of a topic."""
    return TOPICS[name][lang == "zh"]


def number(lang: str, n: int) -> str:
    """So many checks."""
    return say(lang, "count.one") if n == 1 else say(lang, "count", n=n)

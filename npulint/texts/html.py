"""What the HTML report says besides findings and readiness lists."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "html.title": ("Readiness for Ascend NPUs", "昇腾 NPU 就绪报告"),
    "html.skip": ("Skip to the findings", "跳到检查结果"),
    "html.sections": ("Sections", "章节"),
    "html.section.first": ("What to do first", "优先处理"),
    "html.section.overview": ("Overview", "概览"),
    "html.section.programs": ("Readiness", "就绪清单"),
    "html.section.graphs": ("Graphs", "计算图"),
    "html.section.compared": ("Pre-tuning checklist", "调优前检查清单"),
    "html.section.findings": ("Findings", "检查结果"),
    "html.section.fixed": ("Mended", "已修复的问题"),
    "html.section.silenced": ("Silenced", "已忽略的问题"),
    "html.section.unread": ("Files not read", "未读取的文件"),
    "html.section.run": ("About this run", "本次检查"),
    # the verdict
    "html.verdict.blocked": ("Not ready", "尚未就绪"),
    "html.verdict.open": ("Work remains", "仍有待处理项"),
    "html.verdict.check": ("Nothing found that blocks it", "未发现阻碍训练的问题"),
    "html.verdict.ready": ("Ready", "已就绪"),
    "html.verdict.unused": ("Nothing to migrate", "无需迁移"),
    "html.verdict.nothing": ("Nothing was checked", "未检查任何内容"),
    "html.blocked": (
        "{n} error has to be repaired before this is run on an NPU."
        "|{n} errors have to be repaired before this is run on an NPU.",
        "有 {n} 个错误需要先修复，再上 NPU 训练。",
    ),
    "html.open": (
        "No error was found; {n} warning is left.|No error was found; {n} warnings are left.",
        "没有错误；仍有 {n} 个警告。",
    ),
    "html.open.items": (
        "No error and no warning was found, but items of the readiness list fail.",
        "没有错误和警告，但就绪清单中有未通过的项。",
    ),
    "html.known": (
        "{n} finding that the baseline knows is not counted.|{n} findings that the baseline knows are not counted.",
        "基线中已有的 {n} 个问题未计入。",
    ),
    "html.check": (
        "No error, no warning, and no item of the readiness list fails.",
        "没有错误和警告，就绪清单中也没有未通过的项。",
    ),
    "html.ready": ("Every item of the readiness list is passed.", "就绪清单全部通过。"),
    "html.unused": ("No program uses TensorFlow or PyTorch.", "没有使用 TensorFlow 或 PyTorch 的程序。"),
    "html.nothing": ("No file was read.", "没有读取任何文件。"),
    "html.persons": (
        "{n} item of the readiness list cannot be told from source text; a person has to look at it."
        "|{n} items of the readiness list cannot be told from source text; a person has to look at them.",
        "就绪清单中有 {n} 项无法由源码判断，需要人工核对。",
    ),
    "html.unjudged": (
        "{n} file was not read, so nothing is said about it.|{n} files were not read, so nothing is said about them.",
        "有 {n} 个文件未能读取，其内容未作判断。",
    ),
    "html.tile.programs": ("training programs without a failing item", "个训练程序无未通过项"),
    "html.tile.files": ("files read", "个文件已读取"),
    "html.tile.error": ("error|errors", "个错误"),
    "html.tile.warning": ("warning|warnings", "个警告"),
    "html.tile.note": ("note|notes", "个提示"),
    "html.of": ("{part} of {n}", "{part} / {n}"),
    "html.places": ("{n} place|{n} places", "{n} 处"),
    "html.first.at": ("the first at", "首处"),
    "html.speaks-for": ("speaks for {n} place|speaks for {n} places", "代表 {n} 处"),
    "html.below": (
        "{n} finding below {severity} is left out of this report"
        "|{n} findings below {severity} are left out of this report",
        "本报告未包含 {n} 个低于“{severity}”的问题",
    ),
    # charts
    "html.chart.categories": ("Findings by category and severity", "按类别和严重程度统计的问题"),
    "html.chart.checks": ("Most frequent checks", "出现最多的检查"),
    "html.chart.items": ("Readiness items over all programs", "所有程序的就绪项"),
    "html.chart.none": ("No findings", "没有问题"),
    "html.bar": ("Share", "比例"),
    "html.total": ("Total", "合计"),
    "html.category": ("Category", "类别"),
    "html.rule": ("Check", "检查"),
    "html.code": ("Code", "编号"),
    "html.traits": ("What it is", "概况"),
    "html.item": ("Item", "检查项"),
    "html.status": ("Result", "结果"),
    "html.evidence": ("Evidence", "依据"),
    "html.look": ("To be looked at", "人工核对"),
    # programs
    "html.programs.none": (
        "No program that trains was found, so there is no readiness list.",
        "没有发现训练程序，因此没有就绪清单。",
    ),
    "html.programs.clear": (
        "{clear} of {n} training program has no failing item.|{clear} of {n} training programs have no failing item.",
        "{n} 个训练程序中有 {clear} 个没有未通过的项。",
    ),
    "html.programs.cut": (
        "{n} more program with a readiness list is left out of this page; the JSON report has it."
        "|{n} more programs with a readiness list are left out of this page; the JSON report has them.",
        "另有 {n} 个程序的就绪清单未列入本页，请见 JSON 报告。",
    ),
    "html.programs.folded": (
        "Only the lists that were open are printed.",
        "仅打印已展开的就绪清单。",
    ),
    "html.programs.others": ("{n} other program|{n} other programs", "其他 {n} 个程序"),
    "html.program": ("Program", "程序"),
    "html.of-program": ("in the program", "所属程序"),
    "html.files": ("{n} file|{n} files", "{n} 个文件"),
    "html.more": ("{n} more|{n} more", "另有 {n} 处"),
    # filters and findings
    "html.filter": ("Filter the findings", "筛选检查结果"),
    "html.search": ("Search", "搜索"),
    "html.search.hint": ("path, message, code…", "路径、说明、代码…"),
    "html.severity": ("Severity", "严重程度"),
    "html.topic": ("Topic", "主题"),
    "html.all-topics": ("all topics", "全部主题"),
    "html.group": ("Group by", "分组依据"),
    "html.group.check": ("check", "检查"),
    "html.group.file": ("file", "文件"),
    "html.reset": ("Reset", "重置"),
    "html.shown": ("{shown} of {all} findings shown", "显示 {shown} / {all} 个问题"),
    "html.no-match": ("No finding matches the filter.", "没有符合筛选条件的问题。"),
    "html.findings.none": ("There are no findings.", "没有问题。"),
    "html.findings.cut": (
        "{n} finding is left out of this page, because it would be too large to use; it is counted above, and the "
        "JSON report has it."
        "|{n} findings are left out of this page, because it would be too large to use; they are counted above, and "
        "the JSON report has them.",
        "为保证本页可用，有 {n} 个问题未列入；上面的统计包含它们，详情请见 JSON 报告。",
    ),
    "html.rest": ("more places", "处未展开"),
    "html.about": ("Why and how to mend it", "原因与建议"),
    "html.documentation": ("Documentation", "文档"),
    "html.source": ("Source", "源码"),
    "html.related": ("Related places", "相关位置"),
    "html.edits": ("The change", "具体修改"),
    "html.fingerprint": ("Fingerprint", "指纹"),
    # what is not reported
    "html.silenced": (
        "{n} finding is silenced by a comment or the baseline|{n} findings are silenced by comments or the baseline",
        "有 {n} 个问题被注释或基线忽略",
    ),
    "html.by": ("Silenced by", "忽略方式"),
    "html.by.comment": ("comment", "注释"),
    "html.by.baseline": ("baseline", "基线"),
    "html.reason": ("Reason", "理由"),
    "html.no-reason": ("no reason given", "未说明理由"),
    "html.fixed.done": ("mended", "已修复"),
    "html.fixed.refused": ("not mended", "未能修复"),
    "html.place": ("Place", "位置"),
    "html.message": ("Message", "说明"),
    "html.rows.cut": (
        "{n} more row is left out of this page.|{n} more rows are left out of this page.",
        "另有 {n} 行未列入本页。",
    ),
    "html.unread.fatal": ("not read", "未读取"),
    "html.unread.partly": ("read in part", "部分读取"),
    "html.unread.encoding": ("read, in a doubtful encoding", "已读取，编码可疑"),
    "html.file": ("File", "文件"),
    # about the run
    "html.run.version": ("npulint", "npulint"),
    "html.run.found": ("files found", "发现的文件"),
    "html.run.read": ("files read", "已读取的文件"),
    "html.run.skipped": ("files not read", "未读取的文件"),
    "html.run.findings": ("findings in this report", "本报告中的问题"),
    "html.run.safe": ("of all, to be mended with --fix", "其中可用 --fix 修复"),
    "html.run.unsafe": ("of all, to be mended with --fix --unsafe-fixes", "其中可用 --fix --unsafe-fixes 修复"),
    "html.run.hidden": ("left out by thresholds", "因阈值略去"),
    "html.run.comments": ("silenced by comments", "被注释忽略"),
    "html.run.known": ("known to the baseline", "基线中已有"),
    "html.run.root": ("Paths are relative to the folder", "路径相对于目录"),
    "html.counts": ("Findings per check", "各检查的问题数"),
}

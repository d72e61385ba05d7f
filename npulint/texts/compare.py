"""Sentences about the comparison of a migrated project with its reference."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "compare.missing": ("{path}: does not exist, so there is nothing to compare", "{path}：不存在，无法对比"),
    "compare.title": ("Pre-tuning checklist", "调优前检查清单"),
    "compare.title.report": ("Comparison with the reference", "与参考基准的对比"),
    "compare.counts": (
        "{consistent} consistent, {differs} different, {unknown} undetermined",
        "一致 {consistent} 项，不一致 {differs} 项，无法判断 {unknown} 项",
    ),
    # the two sides
    "compare.reference": ("reference", "参考基准"),
    "compare.migrated": ("migrated", "迁移后"),
    "compare.heading.what": ("What", "对比内容"),
    "compare.heading.reference": ("Reference", "参考基准"),
    "compare.heading.migrated": ("Migrated", "迁移后"),
    "compare.heading.item": ("Item", "检查项"),
    "compare.heading.result": ("Result", "结果"),
    "compare.heading.rows": ("Compared", "对比情况"),
    "compare.heading.look": ("Needs review", "人工核对"),
    "compare.started": ("started by {path}", "由 {path} 启动"),
    "compare.started.alone": ("started without a launcher", "无启动脚本"),
    "compare.absent": ("absent", "无"),
    # answers
    "compare.status.consistent": ("consistent", "一致"),
    "compare.status.differs": ("differs", "不一致"),
    "compare.status.unknown": ("undetermined", "无法判断"),
    "compare.answer.same": ("same", "相同"),
    "compare.answer.differs": ("differs", "不一致"),
    "compare.answer.unknown": ("undetermined", "无法判断"),
    "compare.answer.note": ("note", "提示"),
    "compare.rows.differs": ("{n} differs|{n} differ", "{n} 处不一致"),
    "compare.rows.note": ("{n} note|{n} notes", "{n} 处提示"),
    "compare.rows.unknown": ("{n} undetermined|{n} undetermined", "{n} 处无法判断"),
    "compare.rows.same": ("{n} same|{n} same", "{n} 处相同"),
    "compare.rows.more": ("... and {n} more (--verbose)|... and {n} more (--verbose)", "…… 另有 {n} 处（--verbose）"),
    "compare.rows.above": (
        "... and {n} listed above|... and {n} listed above",
        "…… 另有 {n} 处，上文已列出",
    ),
    "compare.rows.same.hint": (
        "{n} compared value is the same: --verbose|{n} compared values are the same: --verbose",
        "另有 {n} 处对比结果相同：--verbose",
    ),
    # programs
    "compare.pairs.more": (
        "{n} more pair of programs (details with --verbose):|{n} more pairs of programs (details with --verbose):",
        "另有 {n} 对程序（--verbose 显示详情）：",
    ),
    "compare.pairs.none": (
        "No training program of the reference has a counterpart in the migrated project, so nothing was compared",
        "参考基准的训练程序在迁移后的工程中没有对应程序，未作对比",
    ),
    "compare.unmanageable": (
        "{reference} and {migrated}: not compared, because the code is nested too deeply or is recursive",
        "{reference} 与 {migrated}：代码嵌套过深或存在循环引用，未作对比",
    ),
    "compare.beyond": (
        "Pairs of programs compared: {n}. The project is too large for more; to compare others, specify two scripts",
        "工程规模过大，仅对比了前 {n} 对程序；如需对比其他程序，请直接指定两个脚本",
    ),
    "compare.only.reference": (
        "{n} training program of the reference has no counterpart: {list}"
        "|{n} training programs of the reference have no counterpart: {list}",
        "参考基准中有 {n} 个训练程序没有对应程序：{list}",
    ),
    "compare.only.migrated": (
        "{n} training program of the migrated project has no counterpart: {list}"
        "|{n} training programs of the migrated project have no counterpart: {list}",
        "迁移后的工程中有 {n} 个训练程序没有对应程序：{list}",
    ),
    "compare.only.more": ("{n} more|{n} more", "另有 {n} 个"),
    "compare.cut": (
        "{n} more row does not fit in this summary.|{n} more rows do not fit in this summary.",
        "另有 {n} 行因篇幅限制未列出。",
    ),
    # the last line
    "compare.clean": (
        "No difference from the reference: {n} file read|No difference from the reference: {n} files read",
        "未发现与参考基准的差异：已读取 {n} 个文件",
    ),
    "compare.clean.unknown": (
        "{n} item cannot be determined from source|{n} items cannot be determined from source",
        "有 {n} 项无法由源码判断",
    ),
    "compare.clean.items": (
        "{n} item differs from the reference|{n} items differ from the reference",
        "有 {n} 项与参考基准不一致",
    ),
    "compare.end": (".", "。"),
    # the HTML report
    "compare.verdict.differs": ("Differs from the reference", "与参考基准不一致"),
    "compare.verdict.unsure": ("No difference found", "未发现差异"),
    "compare.verdict.same": ("Consistent with the reference", "与参考基准一致"),
    "compare.verdict.nothing": ("Nothing was compared", "未作对比"),
    "compare.summary.differs": (
        "{n} item of the pre-tuning checklist differs. Resolve it before tuning precision."
        "|{n} items of the pre-tuning checklist differ. Resolve them before tuning precision.",
        "调优前检查清单中有 {n} 项与参考基准不一致，请在精度调优前处理。",
    ),
    "compare.summary.findings": (
        "No item of the checklist differs, but some findings need review.",
        "检查清单中没有不一致的项，但检查结果中仍有需要核对的内容。",
    ),
    "compare.summary.unsure": (
        "No difference was found in what can be determined from source.",
        "在可由源码判断的范围内未发现差异。",
    ),
    "compare.summary.same": (
        "All items of the pre-tuning checklist are consistent with the reference.",
        "调优前检查清单各项均与参考基准一致。",
    ),
    "compare.summary.manual": (
        "{n} item cannot be determined from source and needs manual review."
        "|{n} items cannot be determined from source and need manual review.",
        "有 {n} 项无法由源码判断，需要人工核对。",
    ),
    "compare.pair": ("{reference} and {migrated}", "{reference} 与 {migrated}"),
    "compare.filter": ("Filter the comparison", "筛选对比结果"),
    "compare.filter.search": ("Search", "搜索"),
    "compare.filter.hint": ("setting, value, path…", "参数、取值、路径…"),
    "compare.filter.reset": ("Reset", "重置"),
    "compare.filter.shown": ("{shown} of {all} shown", "显示 {shown} / {all} 处"),
    "compare.filter.none": ("Nothing matches the filter.", "没有符合筛选条件的内容。"),
    "compare.came": ("Origin", "取值来源"),
    "compare.code": ("Source of {side}", "{side}源码"),
    "compare.equal": ("{n} same|{n} same", "{n} 处相同"),
    "compare.tile.items": ("items consistent", "项一致"),
}

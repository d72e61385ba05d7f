"""The sentences of live checks and of the pytest plugin."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "live.failed": (
        "`{name}` is not ready for the NPU; findings to fix: {n}",
        "`{name}` 尚未就绪，无法直接用于 NPU：需处理的问题共 {n} 个",
    ),
    "live.operators": ("Operators  {list}", "算子  {list}"),
    "live.syncs": ("The host waits for the device {n} times per step", "每步 Host 等待 Device {n} 次"),
    "live.note": ("Not covered: {text}", "未覆盖：{text}"),
    "live.also": ("also created here", "此处同样创建"),
    "live.more": ("{n} more row|{n} more rows", "另有 {n} 行"),
    "live.column.operator": ("operator", "算子"),
    "live.column.verdict": ("verdict", "结论"),
    "live.column.phase": ("phase", "阶段"),
    "live.column.times": ("count", "次数"),
    "live.column.place": ("place", "位置"),
    "live.column.via": ("reported as", "回退名称"),
    "live.column.per-step": ("per step", "每步"),
    "live.phase.forward": ("forward", "前向"),
    "live.phase.backward": ("backward", "反向"),
    "live.phase.optimizer": ("optimizer", "优化器"),
    "live.verdict.npu": ("NPU", "NPU"),
    "live.verdict.npu_out": ("NPU", "NPU"),
    "live.verdict.decomposes": ("decomposes", "分解"),
    "live.verdict.generic": ("generic", "通用实现"),
    "live.verdict.cpu": ("CPU", "CPU"),
    "live.verdict.cpu_out": ("CPU", "CPU"),
    "live.verdict.error": ("fails", "报错"),
    "live.verdict.custom": ("custom", "自定义"),
    "live.verdict.unknown": ("unknown", "未知"),
    "live.verdict.device": ("NPU", "NPU"),
    "live.verdict.host": ("host", "Host"),
    "live.verdict.older": ("host with an older CANN", "旧版 CANN 在 Host"),
    "live.verdict.mixed": ("host in mixed computing", "混合计算时在 Host"),
    "live.verdict.aicpu": ("AI CPU", "AI CPU"),
    "live.test": (
        "{test}: {new} new, {known} accepted; operators off the NPU: {leaving}; the host waits {syncs} times per step",
        "{test}：新增 {new} 个，已接受 {known} 个；未在 NPU 上执行的算子 {leaving} 次；每步 Host 等待 {syncs} 次",
    ),
    "live.tests": (
        "{n} test checked, new findings: {new}|{n} tests checked, new findings: {new}",
        "已检查 {n} 个测试，新增问题 {new} 个",
    ),
    "live.accepted": ("Written to the baseline: {path}", "已写入基线：{path}"),
    "live.no-graph": (
        "{name}: npulint cannot get a TensorFlow graph from this object",
        "{name}：npulint 无法从该对象获取 TensorFlow 计算图",
    ),
    "live.path": (
        "{name} is a path: use `npulint check {name}`",
        "{name} 是路径：请使用 `npulint check {name}`",
    ),
}

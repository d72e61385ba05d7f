"""Sentences about recording a PyTorch step, on the fake NPU or on ordinary tensors."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "recording.real-npu": (
        "torch_npu is loaded: a real NPU backend and the fake NPU cannot coexist in one process; run the check in a "
        "process without torch_npu, or with method='dispatch'.",
        "当前进程已加载 torch_npu：真实 NPU 后端与虚拟 NPU 不能在同一进程中共存；"
        "请在未加载 torch_npu 的进程中检查，或使用 method='dispatch'。",
    ),
    "recording.other-backend": (
        "the backend `{backend}` is already registered, and PyTorch supports only one; run the check in a process "
        "without it, or with method='dispatch'.",
        "已注册后端 `{backend}`，而 PyTorch 只能容纳一个自定义后端；"
        "请在未注册该后端的进程中检查，或使用 method='dispatch'。",
    ),
    "recording.old-torch": (
        "PyTorch {version} does not support the fake NPU (2.10 or newer required); use method='dispatch'.",
        "PyTorch {version} 不支持虚拟 NPU（需要 2.10 及以上版本）；请使用 method='dispatch'。",
    ),
    "recording.too-old": (
        "a step on the fake NPU, which PyTorch {version} does not support (2.10 or newer required)",
        "虚拟 NPU 上的步骤：PyTorch {version} 不支持虚拟 NPU（需要 2.10 及以上版本）",
    ),
    "recording.data-parallel": (
        "the model contains a {kind}, which spreads a step over several devices: check its `.module`, and train with "
        "DistributedDataParallel on NPUs.",
        "模型中含有 {kind}，会将一步计算分散到多个 Device："
        "请检查其 `.module`；在 NPU 上应使用 DistributedDataParallel 训练。",
    ),
    "recording.distributed": (
        "the model contains a {kind}: check its `.module`, which computes the same without other processes.",
        "模型中含有 {kind}：请检查其 `.module`，计算内容相同且不依赖其他进程。",
    ),
    "recording.uninitialised": (
        "the model has lazy parameters without a shape: call it once before checking it.",
        "模型含有尚未确定形状的惰性参数：请先调用一次模型再检查。",
    ),
    "recording.subclass": (
        "tensors of the class {kind} use their own dispatch.",
        "{kind} 类张量自带分发逻辑。",
    ),
    "recording.no-gradient": (
        "no output of the model depends on its parameters: pass `loss`, or check with train=False.",
        "模型输出不依赖其参数，无法求梯度：请传入 `loss`，或使用 train=False 检查。",
    ),
    "recording.nothing": (
        "pass a model with example inputs, or a function as `step`.",
        "请传入模型及示例输入，或通过 `step` 传入函数。",
    ),
    "recording.busy": (
        "another live PyTorch check is running in this process.",
        "本进程中已有另一个 PyTorch 实时检查正在进行。",
    ),
    "recording.unfinished": (
        "recording has not finished: get the result after the `with` block.",
        "记录尚未结束：请在 `with` 代码块之后获取结果。",
    ),
    "recording.dispatch": (
        "copies between host and device, operators on CPU tensors that would be moved, and how composites "
        "decompose on an NPU: the step ran on ordinary tensors",
        "Host 与 Device 之间的拷贝、作用于待搬移 CPU 张量的算子，以及组合算子在 NPU 上的拆分方式：该步在普通张量上运行",
    ),
    "recording.watched": (
        "copies between host and device, because the training loop runs on the CPU",
        "Host 与 Device 之间的拷贝（训练循环在 CPU 上运行）",
    ),
    "recording.fell-back": (
        "the step on the fake NPU, which stopped at {at}: {why}; the step was run again on ordinary tensors",
        "虚拟 NPU 上的步骤在 {at} 处中止：{why}；已改用普通张量重新执行一次并记录",
    ),
    "recording.why.mixed": (
        "it receives both CPU and NPU tensors, which raises an error on a real NPU",
        "同时收到 CPU 与 NPU 上的张量，在真实 NPU 上会报错",
    ),
    "recording.why.sparse": (
        "it uses sparse tensors, which have no fallback",
        "涉及稀疏张量，没有回退实现",
    ),
    "recording.why.other": ("{text}", "{text}"),
}

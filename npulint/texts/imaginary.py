"""The sentences of the recorders of PyTorch."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "imaginary.real-npu": (
        "torch_npu is loaded: a real NPU backend and an imaginary one cannot be in one process; run the check in a "
        "process without torch_npu, or with method='dispatch'.",
        "当前进程已加载 torch_npu：真实 NPU 后端与虚拟 NPU 不能同处一个进程；"
        "请在未加载 torch_npu 的进程中检查，或使用 method='dispatch'。",
    ),
    "imaginary.other-backend": (
        "the backend `{backend}` is registered already, and PyTorch has room for one; run the check in a process "
        "without it, or with method='dispatch'.",
        "已注册后端 `{backend}`，而 PyTorch 只能容纳一个自定义后端；"
        "请在未注册该后端的进程中检查，或使用 method='dispatch'。",
    ),
    "imaginary.old-torch": (
        "PyTorch {version} cannot host an imaginary NPU, which 2.10 and newer can; use method='dispatch'.",
        "PyTorch {version} 不支持虚拟 NPU（需要 2.10 及以上版本）；请使用 method='dispatch'。",
    ),
    "imaginary.too-old": (
        "a step on an imaginary NPU, for PyTorch {version} cannot host one (2.10 and newer can)",
        "虚拟 NPU 上的步骤：PyTorch {version} 不支持虚拟 NPU（需要 2.10 及以上版本）",
    ),
    "imaginary.data-parallel": (
        "the model holds a {kind}, which spreads a step over several devices: check its `.module`, and train with "
        "DistributedDataParallel on NPUs.",
        "模型中含有 {kind}，会将一步计算分散到多个设备："
        "请检查其 `.module`；在 NPU 上应使用 DistributedDataParallel 训练。",
    ),
    "imaginary.distributed": (
        "the model holds a {kind}: check its `.module`, which computes the same without other processes.",
        "模型中含有 {kind}：请检查其 `.module`，计算内容相同且不依赖其他进程。",
    ),
    "imaginary.uninitialised": (
        "the model has lazy parameters without a shape: call it once before it is checked.",
        "模型含有尚未确定形状的惰性参数：请先调用一次模型再检查。",
    ),
    "imaginary.subclass": (
        "tensors of the class {kind} bring a dispatch of their own.",
        "{kind} 类张量自带分发逻辑。",
    ),
    "imaginary.no-gradient": (
        "nothing that the model gives depends on its parameters: give `loss`, or check with train=False.",
        "模型输出与其参数之间没有梯度：请给出 `loss`，或使用 train=False 检查。",
    ),
    "imaginary.nothing": (
        "give a model with example inputs, or a function as `step`.",
        "请给出模型及示例输入，或用 `step` 给出函数。",
    ),
    "imaginary.busy": (
        "another live check of PyTorch is running in this process.",
        "本进程中已有另一个 PyTorch 实时检查正在进行。",
    ),
    "imaginary.unfinished": (
        "the recording is not over: ask for the result after the `with` block.",
        "记录尚未结束：请在 `with` 代码块之后获取结果。",
    ),
    "imaginary.dispatch": (
        "copies between host and device, operators on tensors of the CPU that would move, and how composites fall "
        "apart on an NPU: the step ran on ordinary tensors",
        "主机与设备之间的拷贝、本应在设备上的 CPU 张量上的算子，以及组合算子在 NPU 上的拆分方式：该步在普通张量上运行",
    ),
    "imaginary.watched": (
        "copies between host and device where the loop runs on the CPU",
        "在 CPU 上运行的训练循环中主机与设备之间的拷贝",
    ),
    "imaginary.fell-back": (
        "the step on the imaginary NPU, which stopped at {at}: {why}; the step ran a second time, on ordinary tensors",
        "虚拟 NPU 上的步骤在 {at} 处中止：{why}；已改用普通张量重新执行一次并记录",
    ),
    "imaginary.why.mixed": (
        "it gets tensors of the CPU and of the NPU, which raises an error on a real one",
        "同时收到 CPU 与 NPU 上的张量，在真实 NPU 上会报错",
    ),
    "imaginary.why.sparse": (
        "it works on sparse tensors, which have no fallback",
        "涉及稀疏张量，没有回退实现",
    ),
    "imaginary.why.other": ("{text}", "{text}"),
}

"""How much slower a training step is under the live checks and ``npulint try`` than on the plain CPU.

``python bench/live.py`` measures five models and prints a table: the plain step, its ratio in `check_torch` and
`watch_torch`, that in ``npulint try``, and the seconds that ``npulint try`` adds besides its imports and steps. All are
CPU times of one thread, so that other programs on the machine matter little.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS = 6
HEAD = """
import queue, sys, time
began = time.process_time()
import torch
from torch import nn
imported = time.process_time()
torch.set_num_threads(1)
torch.manual_seed(0)
DEVICE = "npu" if "torch_npu" in sys.modules or sys.argv[1:] == ["npu"] else "cpu"
if DEVICE == "npu":
    import torch_npu
    imported = time.process_time()
"""
MODELS = {
    "MLP": """
net = nn.Sequential(*[part for _ in range(6) for part in (nn.Linear(512, 512), nn.LayerNorm(512), nn.GELU())])
def batch():
    return torch.randn(256, 512)
""",
    "convolutions": """
def block(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))
net = nn.Sequential(block(3, 32), block(32, 64), block(64, 128), block(128, 128), nn.Flatten(), nn.Linear(512, 10))
def batch():
    return torch.randn(32, 3, 32, 32)
""",
    "transformer": """
layer = nn.TransformerEncoderLayer(128, 4, 512, batch_first=True)
net = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
def batch():
    return torch.randn(16, 64, 128)
""",
    "LSTM": """
class Net(nn.LSTM):
    def forward(self, x):
        return super().forward(x)[0]
net = Net(64, 128, 2, batch_first=True)
def batch():
    return torch.randn(32, 50, 64)
""",
    "many small operators": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(64))
    def forward(self, x):
        for _ in range(100):
            x = torch.sin(x) * self.scale + 0.1
        return x
net = Net()
def batch():
    return torch.randn(64, 64)
""",
}
LOOP = """
net = net.to(DEVICE)
optimizer = torch.optim.AdamW(net.parameters())
def step(x):
    start = time.process_time()
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
    times.put(time.process_time() - start)
times = queue.SimpleQueue()  # a list would be put back
def best():
    return min(times.get() for _ in range(times.qsize()))
"""
RUN = (
    LOOP
    + f"""
for number in range({STEPS}):
    step(batch().to(DEVICE))
    if number == {STEPS - 2}:  # the last one ends the program
        print("STEP", best(), time.process_time() - imported, imported - began, file=sys.stderr, flush=True)
"""
)
LIVE = (
    LOOP
    + f"""
from npulint.live import check_torch, watch_torch
x = batch()
for _ in range({STEPS}):
    step(x)
plain = best()
for _ in range({STEPS - 2}):
    check_torch(example_inputs=(x,), step=step, target={{"torch": "2.7"}})
checked = best()
with watch_torch(target={{"torch": "2.7"}}):
    for _ in range({STEPS - 2}):
        step(x)
print("STEP", plain, checked, best(), file=sys.stderr, flush=True)
"""
)


def main() -> None:
    """Measure and print a table in Markdown."""
    print("| model | plain step (ms) | check_torch | watch_torch | npulint try | set-up of npulint try (s) |")
    print("|---|---|---|---|---|---|")
    for name, model in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            plain, checked, watched = measured(folder, HEAD + model + LIVE)
            tried, setup = measured_try(folder, HEAD + model + RUN)
        ratios = " | ".join(f"{one / plain:.1f}" for one in (checked, watched, tried))
        print(f"| {name} | {1000 * plain:.1f} | {ratios} | {setup:.1f} |", flush=True)


def measured(folder: str, program: str) -> list[float]:
    """The numbers that a program prints."""
    path = Path(folder, "live.py")
    path.write_text(program, encoding="utf-8")
    done = subprocess.run([sys.executable, str(path)], env=os.environ, capture_output=True, text=True, check=True)
    return numbers(done.stderr)


def measured_try(folder: str, program: str) -> tuple[float, float]:
    """The shortest step in ``npulint try``, and the seconds besides imports and the program itself."""
    Path(folder, "train.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "npulint", "try", "--isolated", "--no-cache", "--steps", str(STEPS), "train.py"]
    start = spent()
    done = subprocess.run(
        [*command, "--", "npu"], cwd=folder, env=os.environ, capture_output=True, text=True, check=False
    )
    took = spent() - start
    best, ran, imports = numbers(done.stderr)
    return best, took - ran - imports


def spent() -> float:
    """The CPU seconds of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def numbers(text: str) -> list[float]:
    """The numbers of the last line that begins with STEP."""
    return [float(word) for word in [line for line in text.split("\n") if line.startswith("STEP")][-1].split()[1:]]


if __name__ == "__main__":
    main()

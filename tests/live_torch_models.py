"""Small models of many kinds; comments on lines mark operators that an NPU would not compute.

``# cpu: X`` on a line: operators made there that have no kernel on the NPU with any release; ``# cpu 2.1: X``, with
that one; ``# sync: X``: operators there that make the host wait. Operators of the gradient
belong to the line that needs them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

Case = dict[str, Any]
CASES: dict[str, Callable[[], Case]] = {}


def case(function: Callable[[], Case]) -> Callable[[], Case]:
    CASES[function.__name__] = function
    return function


def module(forward: Callable[..., Any], **parts: Any) -> nn.Module:
    """A module of named parts whose forward is a plain function of them and the inputs."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

        def forward(self, *given: Any, **named: Any) -> Any:
            return forward(self, *given, **named)

    return Net()


@case
def cnn() -> Case:
    def forward(net: Any, x: torch.Tensor) -> Any:
        x = F.max_pool2d(F.relu(net.bn(net.conv(x))), 2)
        x = F.interpolate(x, scale_factor=2.0, mode="bilinear")
        x = F.adaptive_avg_pool2d(net.drop(x), 1)
        return net.fc(x.flatten(1))

    net = module(
        forward, conv=nn.Conv2d(3, 8, 3, padding=1), bn=nn.BatchNorm2d(8), drop=nn.Dropout(0.2), fc=nn.Linear(8, 5)
    )
    return {
        "model": net,
        "inputs": torch.randn(2, 3, 16, 16),
        "loss": nn.CrossEntropyLoss(),
        "targets": torch.tensor([1, 3]),
    }


@case
def detector() -> Case:
    def forward(net: Any, x: torch.Tensor) -> Any:
        scores = net.head(x).flatten(2)[:, 0]
        boxes = net.box(x).flatten(2)
        keep = scores > scores.median()
        chosen = scores[keep]  # sync: index
        top = scores.topk(3).indices
        picked = boxes.gather(2, top[:, None].expand(-1, 4, -1))
        if keep.any():  # sync: _local_scalar_dense
            chosen = chosen * 2
        order = torch.nonzero(keep)  # sync: nonzero
        masked = scores.masked_select(keep)  # sync: masked_select
        return {"cls": chosen.sum() + masked.mean(), "box": picked.abs().mean() + order.float().mean() * 0}

    net = module(forward, head=nn.Conv2d(3, 1, 1), box=nn.Conv2d(3, 4, 1))
    return {"model": net, "inputs": torch.randn(2, 3, 8, 8)}


@case
def transformer() -> Case:
    def forward(net: Any, tokens: torch.Tensor) -> Any:
        x = net.embed(tokens)
        q, k, v = net.qkv(x).view(2, 6, 3, 4, 8).permute(2, 0, 3, 1, 4)
        x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(2, 6, 32)
        x = net.norm(x)
        return net.out(F.gelu(net.up(x)))

    net = module(
        forward,
        embed=nn.Embedding(20, 32),
        qkv=nn.Linear(32, 96),
        norm=nn.LayerNorm(32),
        up=nn.Linear(32, 64),
        out=nn.Linear(64, 20),
    )

    def loss(out: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(out.view(-1, 20), y.view(-1))

    return {"model": net, "inputs": torch.randint(0, 20, (2, 6)), "loss": loss, "targets": torch.randint(0, 20, (2, 6))}


@case
def encoder_layer() -> Case:
    net = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
    return {"model": net, "inputs": torch.randn(2, 5, 16)}


@case
def recurrent() -> Case:
    def forward(net: Any, x: torch.Tensor) -> Any:
        packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([4, 3]), batch_first=True)
        out, _ = nn.utils.rnn.pad_packed_sequence(net.packed(packed)[0], batch_first=True)
        out, _ = net.lstm(out)
        return net.rnn(out)[0]

    net = module(
        forward,
        packed=nn.LSTM(4, 6, batch_first=True),
        lstm=nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True),
        rnn=nn.RNN(10, 4, batch_first=True),
    )
    return {"model": net, "inputs": torch.randn(2, 4, 4)}


@case
def gru() -> Case:
    net = nn.GRU(4, 6, num_layers=2)
    return {"model": net, "inputs": torch.randn(5, 2, 4)}


@case
def gan() -> Case:
    make, judge = nn.Linear(4, 6), nn.Linear(6, 1)
    of_make, of_judge = torch.optim.Adam(make.parameters()), torch.optim.SGD(judge.parameters(), 0.1, momentum=0.9)

    def step(noise: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        of_judge.zero_grad()
        fake = make(noise)
        right = F.binary_cross_entropy_with_logits(judge(real), torch.ones(real.shape[0], 1, device=real.device))
        wrong = F.softplus(judge(fake.detach())).mean()
        torch.autograd.backward(right + wrong)
        of_judge.step()
        of_make.zero_grad()
        lost = F.softplus(-judge(fake)).mean()
        torch.autograd.backward(lost)
        of_make.step()
        return lost

    return {"step": step, "inputs": (torch.randn(3, 4), torch.randn(3, 6)), "models": [make, judge]}


@case
def custom_loss() -> Case:
    net = nn.Linear(4, 3)

    def loss(out: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        near = F.huber_loss(out, y)  # cpu: huber_loss huber_loss_backward.out
        far = torch.fmax(out, y).mean()  # cpu: fmax.out
        return near + far + torch.hypot(out, y).sum()  # cpu: hypot.out

    return {"model": net, "inputs": torch.randn(5, 4), "loss": loss, "targets": torch.randn(5, 3)}


@case
def linear_algebra() -> Case:
    def forward(net: Any, x: torch.Tensor) -> Any:
        a = net.fc(x)
        s = a @ a.mT + torch.eye(4, device=x.device)
        inverse = torch.linalg.inv(s)  # cpu: linalg_inv_ex.inverse # sync: _local_scalar_dense
        values = torch.linalg.eigvalsh(s)  # cpu: _linalg_eigh.eigenvalues
        singular = torch.linalg.svdvals(a)
        root = torch.linalg.cholesky(s)  # cpu 2.1: linalg_cholesky_ex.L
        return inverse.sum() + values.sum() + singular.sum() + root.sum()

    return {"model": module(forward, fc=nn.Linear(4, 4)), "inputs": torch.randn(4, 4)}


@case
def uniques() -> Case:
    def forward(net: Any, x: torch.Tensor) -> Any:
        codes = (x * 2).round()
        kinds, where = torch.unique(codes, return_inverse=True)  # sync: _unique2
        often = torch.mode(codes, dim=1).values  # cpu: mode
        sums = torch.zeros(kinds.shape[0], device=x.device).index_add(0, where.flatten(), net.fc(x).flatten())
        return sums.sum() + often.sum() * 0

    return {"model": module(forward, fc=nn.Linear(4, 4)), "inputs": torch.randn(4, 4)}


@case
def bags() -> Case:
    def forward(net: Any, tokens: torch.Tensor, starts: torch.Tensor) -> Any:
        return net.bag(tokens, starts).square().mean()  # cpu: _embedding_bag_backward

    net = module(forward, bag=nn.EmbeddingBag(10, 4, mode="sum"))
    return {"model": net, "inputs": (torch.tensor([1, 2, 4, 5]), torch.tensor([0, 2]))}


@case
def scatters() -> Case:
    def forward(net: Any, x: torch.Tensor, where: torch.Tensor) -> Any:
        y = net.fc(x)
        base = torch.zeros(4, 4, device=x.device)
        added = base.scatter_add(1, where, y)
        most = base.scatter_reduce(1, where, y, "amax")  # cpu 2.1: scatter_reduce.two_out
        mean = base.index_reduce(0, where[0], y, "mean")  # cpu: index_reduce.out
        return added.sum() + most.sum() + mean.sum()

    net = module(forward, fc=nn.Linear(4, 4))
    return {"model": net, "inputs": (torch.randn(4, 4), torch.randint(0, 4, (4, 4)))}


@case
def speech() -> Case:
    def forward(net: Any, wave: torch.Tensor) -> Any:
        spectrum = torch.stft(wave, 16, 8, window=net.window, return_complex=True).abs()
        return net.fc(spectrum.transpose(1, 2)).log_softmax(-1).transpose(0, 1)

    def loss(out: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return F.ctc_loss(out, target, torch.tensor([out.shape[0]] * 2), torch.tensor([2, 2]))

    net = module(forward, fc=nn.Linear(9, 6))
    net.register_buffer("window", torch.hann_window(16))
    return {"model": net, "inputs": torch.randn(2, 64), "loss": loss, "targets": torch.randint(1, 6, (2, 2))}


@case
def fourier() -> Case:
    def forward(net: Any, x: torch.Tensor) -> Any:
        spectrum = torch.fft.rfft(net.fc(x)) * net.scale
        return torch.fft.irfft(spectrum, n=8).square().mean() + torch.lgamma(x.abs() + 1).mean()  # cpu: lgamma.out

    net = module(forward, fc=nn.Linear(8, 8), scale=nn.Parameter(torch.randn(5, dtype=torch.complex64)))
    return {"model": net, "inputs": torch.randn(3, 8)}


@case
def half_precision() -> Case:
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    return {"model": net, "inputs": torch.randn(3, 4), "autocast": "bfloat16"}


Function: Any = torch.autograd.Function


class Clipped(Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x.clamp(-1, 1)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        scale = torch.heaviside(1 - x.abs(), torch.zeros((), device=x.device))  # cpu: heaviside.out
        return grad * scale


@case
def own_function() -> Case:
    def forward(net: Any, x: torch.Tensor) -> Any:
        return Clipped.apply(net.fc(x)).sum()

    return {"model": module(forward, fc=nn.Linear(4, 4)), "inputs": torch.randn(4, 4)}


@case
def checkpointed() -> Case:
    def part(net: Any, x: torch.Tensor) -> torch.Tensor:
        return torch.logcumsumexp(net.fc(x), 1)  # cpu: _logcumsumexp

    def forward(net: Any, x: torch.Tensor) -> Any:
        x = checkpoint(part, net, x, use_reentrant=False)
        return F.huber_loss(x, torch.zeros_like(x))  # cpu: huber_loss huber_loss_backward.out

    return {"model": module(forward, fc=nn.Linear(4, 4)), "inputs": torch.randn(4, 4)}


@case
def in_place() -> Case:
    def forward(net: Any, x: torch.Tensor) -> Any:
        y = net.fc(x)
        y[:, 0] = y[:, 1] * 2
        y[1:].mul_(3).add_(1)
        y.t_()
        z = torch.cat([y, y.flip(0)]).unfold(0, 2, 2)
        z = z.repeat_interleave(2, dim=0).roll(1, 0).clone()
        z.masked_fill_(z > 3, 0.0)
        return z.var(dim=1).sum() + torch.einsum("ij,kj->ik", y, y).tril().sum()

    return {"model": module(forward, fc=nn.Linear(4, 4)), "inputs": torch.randn(4, 4)}


@case
def evaluation() -> Case:
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4 * 36, 2))
    return {"model": net, "inputs": torch.randn(1, 3, 8, 8), "train": False}


@case
def cells() -> Case:
    def forward(net: Any, x: torch.Tensor) -> Any:
        hidden, cell = net.lstm(x)
        return net.gru(hidden, cell)

    net = module(forward, lstm=nn.LSTMCell(4, 5), gru=nn.GRUCell(5, 5))
    return {"model": net, "inputs": torch.randn(3, 4)}


@case
def scaled() -> Case:
    net = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)

    def step(x: torch.Tensor) -> torch.Tensor:
        scaler = torch.amp.GradScaler(x.device.type, init_scale=4.0)
        optimizer.zero_grad()
        loss = net(x).square().mean()
        torch.autograd.backward(scaler.scale(loss))
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)  # sync: _local_scalar_dense
        scaler.update()
        lost: torch.Tensor = loss + norm.item() * 0  # sync: _local_scalar_dense
        return lost

    return {"step": step, "inputs": torch.randn(3, 4), "models": [net]}

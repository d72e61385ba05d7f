"""Code that torch_npu has one fused operation for: shapes in several styles, near misses, and fused calls."""

from __future__ import annotations

from textwrap import dedent, indent

import pytest

from tests.support import facts

HEAD = """
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_npu
from einops import rearrange
from torch import einsum

def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)

def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)

class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.conv = nn.Conv2d(dim, dim, 1)
        self.weight = nn.Parameter(torch.ones(dim))
        self.memory = nn.Parameter(torch.ones(dim, dim))
        self.drop = nn.Dropout(0.1)
        self.softmax = nn.Softmax(dim=-1)
        self.over_rows = nn.Softmax(dim=1)
        self.act = nn.SiLU()
        self.gelu = nn.GELU()
        self.norm = nn.GroupNorm(32, dim)
        self.ln = nn.LayerNorm(dim)
        self.pos = nn.Parameter(torch.zeros(1, 5, dim))
"""


def shapes(body: str, params: str = "self, x, y, mask, q, k, v, cos, sin") -> dict[str, dict[str, str]]:
    """The affinity facts of one method, by name, with their attributes."""
    method = f"    def forward({params}):\n{indent(dedent(body).strip(), ' ' * 8)}\n"
    found = facts(HEAD + method, "affinity")
    return {fact.name: {key: str(fact.get(key)) for key in fact.attribute_names()} for fact in found}


ATTENTION = {
    "operators and methods": """
        attn = (q @ k.transpose(-2, -1)) * self.scale
        attn = attn.softmax(dim=-1)
        attn = self.drop(attn)
        return attn @ v
    """,
    "functions over several statements": """
        scores = torch.matmul(q, k.transpose(-1, -2))
        scores = scores / math.sqrt(64)
        if mask is not None:
            scores = scores + mask
        probs = F.softmax(scores.float(), dim=-1).type_as(scores)
        probs = F.dropout(probs, p=0.1, training=self.training)
        return torch.matmul(probs, v)
    """,
    "batched products of views": """
        w = torch.bmm(q, k.transpose(1, 2))
        w = w.masked_fill(mask, -1e4)
        w = self.softmax(w)
        return torch.bmm(w, v)
    """,
    "einsum": """
        sim = einsum("b i d, b j d -> b i j", q, k) * self.scale
        attn = sim.softmax(dim=-1)
        return einsum("b i j, b j d -> b i d", attn, v)
    """,
    "one expression": "return torch.softmax(q @ k.mT * 0.125, -1) @ v",
    "module made in place and updates": """
        scores = torch.matmul(q, k.permute(0, 1, 3, 2))
        scores /= 8
        scores += mask
        return torch.matmul(nn.Softmax(dim=-1)(scores), v)
    """,
    "product with a bias in one call": """
        scores = torch.baddbmm(mask, q, k.transpose(1, 2), beta=0.0, alpha=0.125)
        return torch.bmm(scores.softmax(-1), v)
    """,
}
NO_ATTENTION = {
    "over another dimension": "return torch.softmax(q @ k.transpose(-2, -1), dim=1) @ v",
    "over another dimension, by a module": "return self.over_rows(q @ k.transpose(-2, -1)) @ v",
    "a learned memory": "return torch.softmax(x @ self.memory, dim=-1) @ y",
    "plain matrices": "return torch.softmax(q @ k.t(), dim=-1) @ v",
    "linear attention": "return torch.softmax(q, dim=-1) @ (torch.softmax(k, dim=-2).transpose(1, 2) @ v)",
    "an activation between": "return torch.softmax(F.leaky_relu(q @ k.transpose(-2, -1)), dim=-1) @ v",
    "negated scores": """
        energy = torch.bmm(q, k.transpose(1, 2))
        energy = torch.max(energy, -1, keepdim=True)[0].expand_as(energy) - energy
        return torch.bmm(torch.softmax(energy, dim=-1), v)
    """,
    "pooling by one query": """
        weights = torch.softmax(self.q(x).squeeze(-1), dim=-1)
        return torch.bmm(weights.unsqueeze(1), x)
    """,
    "no product": "return torch.softmax(q * k, dim=-1) * v",
}


@pytest.mark.parametrize("body", ATTENTION.values(), ids=ATTENTION)
def test_attention(body: str) -> None:
    assert list(shapes(body)) == ["attention"]


@pytest.mark.parametrize("body", NO_ATTENTION.values(), ids=NO_ATTENTION)
def test_what_is_no_attention(body: str) -> None:
    assert shapes(body) == {}


@pytest.mark.parametrize(
    ("rest", "returned"),
    [
        ("return attn @ v", "no"),
        ("out = attn @ v\nreturn out, attn", "yes"),
        ("out = attn @ v\nself.kept = attn\nreturn out", "yes"),
        ("out = attn @ v\nif self.show:\n    self.save(attn)\nreturn out", "maybe"),
        ("out = attn @ v\nreturn (out, attn) if self.show else (out,)", "maybe"),
        ("out = attn @ v\nif not self.show:\n    attn = None\nreturn out, attn", "maybe"),
        ("out = attn @ v\nresult = (out, attn) if self.show else (out,)\nreturn result", "maybe"),
    ],
)
def test_whether_the_weights_are_returned(rest: str, returned: str) -> None:
    found = shapes(f"attn = torch.softmax(q @ k.transpose(-2, -1), dim=-1)\n{rest}")
    assert found["attention"]["returned"] == returned


def test_what_the_fused_call_must_be_told() -> None:
    found = shapes("""
        attn = (q @ k.transpose(-2, -1)).masked_fill(mask, -1e4)
        return self.drop(attn.softmax(-1)) @ v
    """)
    assert (found["attention"]["mask"], found["attention"]["conditions"]) == ("boolean", "boolean mask, dropout")


def test_the_written_out_branch_beside_a_fused_one() -> None:
    found = shapes("""
        if self.fused:
            return F.scaled_dot_product_attention(q, k, v)
        return torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ v
    """)
    assert found["attention"]["guarded"] == "yes"


SINGLE = {
    # RMSNorm
    "rms_norm: method chain": (
        "rms_norm",
        "return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight",
    ),
    "rms_norm: over statements, in float32": (
        "rms_norm",
        """
        kind = x.dtype
        x = x.to(torch.float32)
        variance = torch.mean(x * x, dim=-1, keepdim=True)
        x = x * torch.rsqrt(variance + self.eps)
        return self.weight * x.to(kind)
        """,
    ),
    "rms_norm: division by the root": (
        "rms_norm",
        "return x / torch.sqrt(torch.mean(torch.square(x), axis=-1, keepdim=True) + self.eps) * self.weight",
    ),
    "rms_norm: not over channels": ("", "return x * torch.rsqrt(x.pow(2).mean(1, keepdim=True) + 1e-8)"),
    "rms_norm: not of deviations": (
        "",
        "d = x - y\nreturn d * torch.rsqrt(d.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight",
    ),
    "rms_norm: not of another tensor": ("", "return y * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)"),
    "rms_norm: not of a sum": ("", "return x * torch.rsqrt(x.pow(2).sum([2, 3], keepdim=True) + 1e-8)"),
    # SwiGLU and GEGLU
    "swiglu: chunks by index": ("swiglu", "x = torch.chunk(x, 2, dim=-1)\nreturn F.silu(x[0]) * x[1]"),
    "swiglu: chunks by name, module": ("swiglu", "gate, up = self.q(x).chunk(2, -1)\nreturn self.act(gate) * up"),
    "swiglu: slices": ("swiglu", "d = x.shape[-1] // 2\nreturn F.silu(x[..., :d]) * x[..., d:]"),
    "swiglu: two projections": ("swiglu", "return self.v(F.silu(self.q(x)) * self.k(x))"),
    "swiglu: not of two tensors": ("", "return F.silu(x) * y"),
    "swiglu: not of projections of two tensors": ("", "return F.silu(self.q(x)) * self.k(y)"),
    "swiglu: not of convolutions": ("", "return F.silu(self.conv(x)) * self.conv(x)"),
    "geglu: second half": ("geglu", "x, gate = self.q(x).chunk(2, dim=-1)\nreturn x * F.gelu(gate)"),
    "geglu: module": ("geglu", "a, b = x.chunk(2, -1)\nreturn self.gelu(a) * b"),
    "geglu: split": ("geglu", "a, b = torch.split(x, 64, dim=-1)\na = F.gelu(a)\nreturn a * b"),
    "geglu: not a bare gelu": ("", "return F.gelu(x)"),
    "geglu: not of other tensors": ("", "return F.gelu(self.conv(x)) * y"),
    "geglu: not three chunks": ("", "a, b, c = x.chunk(3, -1)\nreturn F.gelu(a) * c"),
    # rotary embedding
    "rotary: function": ("rotary", "return q * cos + rotate_half(q) * sin"),
    "rotary: over statements": ("rotary", "turned = rotate_half(q)\nout = (q * cos) + (turned * sin)\nreturn out"),
    "rotary: inline": (
        "rotary",
        "a, b = q.chunk(2, dim=-1)\nreturn q * cos + torch.cat((-b, a), dim=-1) * sin",
    ),
    "rotary: neighbours": ("rotary", "return (q * cos) + (rotate_every_two(q) * sin)"),
    "rotary: not of two tensors": ("", "return q * cos + rotate_half(k) * sin"),
    "rotary: not a difference": ("", "return q * cos - rotate_half(q) * sin"),
    "rotary: not without factors": ("", "return q + rotate_half(q)"),
    # activations
    "activation: swish": ("activation", "return x * torch.sigmoid(x)"),
    "activation: swish in place": ("activation", "return x.mul_(x.sigmoid())"),
    "activation: swish by name": ("activation", "gate = F.sigmoid(x)\nreturn gate * x"),
    "activation: mish": ("activation", "return x * torch.tanh(F.softplus(x))"),
    "activation: mish by methods": ("activation", "return x.mul(F.softplus(x).tanh())"),
    "activation: hardswish": ("activation", "return x * F.relu6(x + 3.0) / 6.0"),
    "activation: hardswish by parts": ("activation", "out = F.relu6(x + 3, inplace=True) / 6\nreturn out * x"),
    "activation: gelu": ("activation", "return x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))"),
    "activation: gelu by parts": ("activation", "cdf = 0.5 * (1.0 + torch.erf(x / 1.414))\nreturn x * cdf"),
    "activation: tanh gelu": (
        "activation",
        "return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * torch.pow(x, 3))))",
    ),
    "activation: quick gelu": ("quick_gelu", "return x * torch.sigmoid(1.702 * x)"),
    "activation: not a gate": ("", "return x * torch.sigmoid(y)"),
    "activation: not an excitation": ("", "return x * torch.sigmoid(self.conv(x))"),
    "activation: not of a changed tensor": ("", "gate = torch.sigmoid(x)\nx = self.conv(x)\nreturn x * gate"),
    "activation: not another slope": ("", "return x * torch.sigmoid(self.beta * x)"),
    "activation: not half a cell": ("", "return torch.sigmoid(x) * torch.tanh(y)"),
    "activation: not another relu6": ("", "return y * F.relu6(x + 3) / 6"),
    # norms with what stands beside them
    "group_norm_silu: by name": ("group_norm_silu", "h = self.norm(x)\nreturn self.act(h)"),
    "group_norm_silu: nested": ("group_norm_silu", "return F.silu(self.norm(x))"),
    "group_norm_silu: side by side": ("group_norm_silu", "return nn.Sequential(nn.GroupNorm(8, 64), nn.SiLU())(x)"),
    "group_norm_silu: not another norm": ("", "return F.silu(self.ln(x))"),
    "group_norm_silu: not another activation": ("", "return F.relu(self.norm(x))"),
    "group_norm_silu: not with a layer between": ("", "return F.silu(self.conv(self.norm(x)))"),
    "add_layer_norm: argument": ("add_layer_norm", "return self.ln(x + self.drop(y))"),
    "add_layer_norm: by name": ("add_layer_norm", "x = x + self.q(x)\nreturn self.ln(x)"),
    "add_layer_norm: update": ("add_layer_norm", "x += self.q(y)\nreturn self.ln(x)"),
    "add_layer_norm: not of a learned offset": ("", "return self.ln(x + self.pos)"),
    "add_layer_norm: not of a plain tensor": ("", "return self.ln(x)"),
    "add_layer_norm: not before the sum": ("", "return x + self.ln(y)"),
    "add_layer_norm: not of an embedding": ("", "return self.ln(x + embed_pos)"),
    "addmm: sum": ("addmm", "return torch.mm(x, y) + self.weight"),
    "addmm: scaled": ("addmm", "return 0.5 * x.mm(y) + 2 * q"),
    "addmm: by name": ("addmm", "product = torch.mm(x, y)\nreturn q + product"),
    "addmm: not a number": ("", "return torch.mm(x, y) + 1"),
    "addmm: not a batch": ("", "return torch.bmm(x, y) + q"),
    "addmm: not a product": ("", "return torch.mm(x, y) * q"),
    "token_permute: method": ("token_permute", "order = torch.argsort(mask)\nreturn x.index_select(0, order // 2)"),
    "token_permute: function": ("token_permute", "return torch.index_select(x, 0, mask.argsort() // self.topk)"),
    "token_permute: by names": ("token_permute", "o = mask.argsort()\nrows = o // 2\nreturn x.index_select(0, rows)"),
    "token_permute: not a plain sort": ("", "return x.index_select(0, torch.argsort(mask))"),
    "token_permute: not other rows": ("", "return x.index_select(0, mask // 2)"),
    "token_permute: not a gather": ("", "return x.gather(0, torch.argsort(mask) // 2)"),
    # masked softmax, in a function of that name (or where attention returns its weights)
    "masked_softmax: weights returned": (
        "attention masked_softmax",
        """
        scores = torch.matmul(q, k.transpose(-2, -1)) / 8
        scores = scores.masked_fill(mask == 0, -1e4)
        weights = torch.softmax(scores, dim=-1)
        return weights @ v, weights
        """,
    ),
    "masked_softmax: not without a scale": ("", "return torch.softmax(x.masked_fill(mask, -1e4), dim=-1)"),
    "masked_softmax: not elsewhere": ("", "return torch.softmax((x * 0.1).masked_fill(mask, -1e4), dim=-1) * y"),
}


@pytest.mark.parametrize(("names", "body"), SINGLE.values(), ids=SINGLE)
def test_shapes_and_near_misses(names: str, body: str) -> None:
    assert sorted(shapes(body)) == names.split()


@pytest.mark.parametrize(
    ("body", "name", "attribute", "value"),
    [
        ("a, b = x.chunk(2, -1)\nreturn F.silu(a) * b", "swiglu", "half", "first"),
        ("a, b = x.chunk(2, -1)\nreturn F.silu(b) * a", "swiglu", "half", "second"),
        ("a, b = x.chunk(2, -1)\nreturn F.silu(a) * b", "swiglu", "form", "halves"),
        ("return F.silu(self.q(x)) * self.k(x)", "swiglu", "form", "projections"),
        ("a, b = x.chunk(2, -1)\nreturn F.gelu(a) * b", "geglu", "exact", "yes"),
        ('a, b = x.chunk(2, -1)\nreturn F.gelu(a, approximate="tanh") * b', "geglu", "exact", "no"),
        ("return q * cos + rotate_half(q) * sin", "rotary", "mode", "half"),
        ("return q * cos + rotate_every_two(q) * sin", "rotary", "mode", "interleave"),
        ("return x * torch.sigmoid(x)", "activation", "instead", "torch.nn.functional.silu(x)"),
        ("return x * F.softplus(x).tanh()", "activation", "form", "mish"),
        ("return x * 0.5 * (1.0 + torch.erf(x / 1.4))", "activation", "form", "gelu"),
    ],
)
def test_attributes(body: str, name: str, attribute: str, value: str) -> None:
    assert shapes(body)[name][attribute] == value


def test_a_function_is_told_of_once() -> None:
    assert (
        len(facts(HEAD + "    def forward(self, x):\n        return F.silu(x) * torch.sigmoid(x) * x\n", "affinity"))
        < 2
    )
    twice = """
    def forward(self, q, k, v):
        a = torch.softmax(q @ k.transpose(-2, -1), dim=-1) @ v
        return a + torch.softmax(q @ v.transpose(-2, -1), dim=-1) @ k
    """
    assert len(facts(HEAD + twice, "affinity", "attention")) == 1


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("def drop_path(x, p):\n    return x * torch.rand(3).floor_()", ["drop_path"]),
        ("def drop_path(path):\n    return path.strip()", []),
        ("def channel_shuffle(x, g):\n    return x.view(1).transpose(1, 2)", ["channel_shuffle"]),
        ("def channel_shuffle(x, order):\n    return x[order]", []),
        ("class ROIAlign:\n    def __init__(self, output_size, spatial_scale, ratio):\n        pass", ["roi_align"]),
        ("class ROIAlign:\n    def __init__(self, config):\n        pass", []),
        ("def swish_backward(x):\n    return x * torch.sigmoid(x)", []),
    ],
)
def test_definitions_by_name(source: str, names: list[str]) -> None:
    found = facts(f"import torch\n{source}\n", "affinity")
    assert [fact.name for fact in found] == names
    assert all(fact.get("confidence") == "name" for fact in found)


def fused(body: str, attribute: str) -> str:
    """An attribute of the one fused call of a method."""
    method = f"    def forward(self, x, y, q, k, v, mask):\n{indent(dedent(body).strip(), ' ' * 8)}\n"
    [fact] = facts(HEAD + method, "fused_call")
    return str(fact.get(attribute))


NORM = "torch_npu.npu_rms_norm(x, self.weight)"


@pytest.mark.parametrize(
    ("body", "use"),
    [
        (f"return {NORM}[0]", "element"),
        (f"return {NORM}", "returned"),
        (f"return {NORM}.to(x.dtype)", "tensor"),
        (f"return {NORM} * 2", "tensor"),
        (f"y, rstd = {NORM}\nreturn y", "element"),
        (f"out = {NORM}\nreturn out[0]", "element"),
        (f"out = {NORM}\nreturn out.view(1)", "tensor"),
        (f"out = {NORM}\nout = out[0]\nreturn out.view(1)", "element"),
        (f"out = {NORM}\nreturn out + x", "tensor"),
        (f"out = {NORM}\nreturn self.take(out)", "unknown"),
    ],
)
def test_use_of_a_fused_result(body: str, use: str) -> None:
    assert fused(body, "used") == use


@pytest.mark.parametrize(
    ("arguments", "attribute", "value"),
    [
        ("self.q(x), k, v, 8, 'BSH'", "scaled", "no"),
        ("self.q(x) * self.scale, k, v, 8, 'BSH'", "scaled", "yes"),
        ("self.q(x), self.k(x) / 8, v, 8, 'BSH'", "scaled", "yes"),
        ("self.q(x), k, v, 8, 'BSH', scale=1.0", "scaled", "yes"),
        ("self.q(x), k, v, 8, 'BSH', None, None, mask, 0.1", "scaled", "yes"),
        ("q, k, v, 8, 'BSH'", "scaled", "unknown"),
        ("q, k, v, 8, 'BSH'", "mask", "none"),
        ("q, k, v, 8, 'BSH', atten_mask=mask", "mask", "other"),
        ("q, k, v, 8, 'BSH', atten_mask=mask.float()", "mask", "additive"),
        ("q, k, v, 8, 'BSH', atten_mask=(1.0 - mask) * -10000.0", "mask", "additive"),
        ("q, k, v, 8, 'BSH', keep_prob=self.dropout_p", "keep", "dropped"),
        ("q, k, v, 8, 'BSH', keep_prob=self.attn_drop", "keep", "dropped"),
        ("q, k, v, 8, 'BSH', keep_prob=1 - self.dropout_p", "keep", "other"),
        ("q, k, v, 8, 'BSH', keep_prob=self.keep_prob", "keep", "other"),
        ("q, k, v, 8, 'BSH'", "keep", "none"),
    ],
)
def test_arguments_of_fused_attention(arguments: str, attribute: str, value: str) -> None:
    assert fused(f"return torch_npu.npu_fusion_attention({arguments})[0]", attribute) == value


def test_a_mask_that_is_given_to_both_kinds_of_attention() -> None:
    body = """
        if self.npu:
            return torch_npu.npu_fusion_attention(q, k, v, 8, "BNSD", atten_mask=mask, scale=0.1)[0]
        {change}
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    """
    assert fused(body.replace("{change}", "pass"), "mask") == "shared"
    assert fused(body.replace("{change}", "mask = ~mask"), "mask") == "other"


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("return torch_npu.npu_add_rms_norm(x, y, self.weight)[0]", "yes"),
        ("if not self.training:\n    return torch_npu.npu_add_rms_norm(x, y, self.weight)[0]", "no"),
        ("with torch.no_grad():\n    return torch_npu.npu_add_rms_norm(x, y, self.weight)[0]", "no"),
        ("if x.requires_grad:\n    return x\nelse:\n    return torch_npu.npu_add_rms_norm(x, y, self.weight)[0]", "no"),
    ],
)
def test_inference_operators_kept_from_training(body: str, answer: str) -> None:
    assert fused(body, "training_only") == answer
    assert fused(body, "gradient") == "no"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("torch.exp(x.half())", ["exp"]),
        ("F.softmax(x.to(torch.float16), dim=-1)", ["softmax"]),
        ("x.half().view(-1).norm()", ["norm"]),
        ("torch.log(x.type(torch.float16))", ["log"]),
        ("torch.exp(x.half().float())", []),
        ("torch.softmax(x.half(), -1, dtype=torch.float32)", []),
        ("torch.exp(x.to(device))", []),
        ("math.exp(x.half())", []),
    ],
)
def test_sensitive_mathematics_on_half_tensors(line: str, names: list[str]) -> None:
    found = facts(
        f"import math\nimport torch\nimport torch.nn.functional as F\ndef f(x):\n    return {line}\n", "half_math"
    )
    assert [fact.name for fact in found] == names

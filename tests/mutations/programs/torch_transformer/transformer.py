"""Encoder and decoder."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    """Scaled attention of several heads."""

    def __init__(self, dim, heads, dropout):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key_value = nn.Linear(dim, 2 * dim)
        self.out = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, memory, mask=None):
        b, n, d = x.shape
        q = self.query(x).view(b, n, self.heads, -1).transpose(1, 2)
        k, v = self.key_value(memory).view(b, memory.size(1), 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        weights = q @ k.transpose(-2, -1) / math.sqrt(d // self.heads)
        if mask is not None:
            weights = weights.masked_fill(mask, -1e4)
        weights = self.dropout(F.softmax(weights, dim=-1))
        return self.out((weights @ v).transpose(1, 2).reshape(b, n, d))


class Block(nn.Module):
    """Attention and two linear layers."""

    def __init__(self, dim, heads, dropout, cross):
        super().__init__()
        self.attention = Attention(dim, heads, dropout)
        self.cross = Attention(dim, heads, dropout) if cross else None
        self.norms = nn.ModuleList([nn.LayerNorm(dim, eps=1e-6) for _ in range(3)])
        self.feed = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Dropout(dropout), nn.Linear(4 * dim, dim))

    def forward(self, x, memory=None, mask=None):
        normed = self.norms[0](x)
        x = x + self.attention(normed, normed, mask)
        if self.cross is not None:
            x = x + self.cross(self.norms[1](x), memory)
        return x + self.feed(self.norms[2](x))


class Translator(nn.Module):
    """Sequence to sequence."""

    def __init__(self, vocabulary, dim=256, heads=4, layers=3, dropout=0.0):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, dim, padding_idx=0)
        self.position = nn.Parameter(torch.zeros(1, 512, dim))
        self.encoder = nn.ModuleList([Block(dim, heads, dropout, cross=False) for _ in range(layers)])
        self.decoder = nn.ModuleList([Block(dim, heads, dropout, cross=True) for _ in range(layers)])
        self.head = nn.Linear(dim, vocabulary, bias=False)
        nn.init.trunc_normal_(self.position, std=0.02)
        nn.init.xavier_uniform_(self.head.weight)

    def forward(self, source, target):
        memory = self.embed(source) * math.sqrt(self.embed.embedding_dim) + self.position[:, :source.size(1)]
        for block in self.encoder:
            memory = block(memory)
        size = target.size(1)
        mask = torch.ones(size, size, device=target.device).triu(1).bool()
        x = self.embed(target) * math.sqrt(self.embed.embedding_dim) + self.position[:, :size]
        for block in self.decoder:
            x = block(x, memory, mask)
        return self.head(x)

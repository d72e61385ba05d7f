"""Backbone and heads."""
import torch
from torch import nn


def stage(inp, oup):
    return nn.Sequential(nn.Conv2d(inp, oup, 3, padding=1), nn.GroupNorm(8, oup), nn.SiLU(), nn.MaxPool2d(2, 2))


class Backbone(nn.Module):
    """Four stages."""

    def __init__(self, width):
        super().__init__()
        self.stages = nn.ModuleList([stage(3, width), stage(width, 2 * width), stage(2 * width, 4 * width),
                                     stage(4 * width, 8 * width)])

    def forward(self, x):
        for block in self.stages:
            x = block(x)
        return x


class Detector(nn.Module):
    """Scores and offsets of all anchors."""

    def __init__(self, classes, width=32, anchors=4, dropout=0.0):
        super().__init__()
        self.classes = classes
        self.backbone = Backbone(width)
        self.neck = nn.Sequential(nn.Conv2d(8 * width, 256, 1), nn.BatchNorm2d(256, eps=1e-3), nn.ReLU())
        self.drop = nn.Dropout2d(p=dropout)
        self.score = nn.Conv2d(256, anchors * (classes + 1), 3, padding=1)
        self.offset = nn.Conv2d(256, anchors * 4, 3, padding=1)
        nn.init.xavier_uniform_(self.score.weight, gain=0.5)
        nn.init.constant_(self.score.bias, -4.6)

    def forward(self, images):
        x = self.drop(self.neck(self.backbone(images)))
        scores = self.score(x).permute(0, 2, 3, 1).reshape(x.size(0), -1, self.classes + 1)
        offsets = self.offset(x).permute(0, 2, 3, 1).reshape(x.size(0), -1, 4)
        return scores, torch.tanh(offsets) * 2.0

"""The network and its loss."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 32, 3, 2, 1), nn.BatchNorm2d(32), nn.ReLU6())
        self.head = nn.Linear(32, classes)

    def forward(self, images):
        return self.head(self.features(images).mean((2, 3)))


def hard_example_loss(output, target, worst=0.7):
    """The mean loss of the samples that are not easy yet."""
    losses = F.cross_entropy(output, target, reduction="none")
    hard = (losses > worst).float()
    return (losses * hard).sum() / hard.sum().clamp(min=1)

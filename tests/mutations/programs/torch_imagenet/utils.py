"""Meters."""
import torch


class AverageMeter:
    """Running mean."""

    def __init__(self, name):
        self.name = name
        self.sum = 0.0
        self.count = 0

    @property
    def avg(self):
        return self.sum / max(self.count, 1)

    def update(self, value, n=1):
        self.sum += float(value) * n
        self.count += n


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        _, predicted = output.topk(max(topk), 1, True, True)
        correct = predicted.t().eq(target.view(1, -1))
        return [correct[:k].reshape(-1).float().sum() * 100.0 / target.size(0) for k in topk]

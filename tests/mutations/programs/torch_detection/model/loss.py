"""Loss with hard negatives."""
import torch
import torch.nn.functional as F
from torch import nn


class DetectionLoss(nn.Module):
    """Cross entropy of the labels and distance of the boxes."""

    def __init__(self, classes, iou_threshold=0.5, negative_ratio=3, box_weight=1.0):
        super().__init__()
        self.classes = classes
        self.iou_threshold = iou_threshold
        self.negative_ratio = negative_ratio
        self.box_weight = box_weight

    def match(self, offsets, boxes):
        distance = torch.cdist(offsets, boxes.float(), p=2)
        nearest, index = distance.min(dim=2)
        return nearest < self.iou_threshold, index

    def forward(self, scores, offsets, boxes, labels):
        positive, index = self.match(offsets, boxes)
        target = torch.gather(labels, 1, index).long() * positive
        entropy = F.cross_entropy(scores.flatten(0, 1), target.flatten(), reduction='none').view_as(positive)
        hard, _ = entropy.masked_fill(positive, 0.0).sort(dim=1, descending=True)
        count = int(positive.sum()) * self.negative_ratio
        class_loss = (entropy * positive).sum() + hard[:, :count].sum()
        chosen = torch.gather(boxes, 1, index.unsqueeze(-1).expand(-1, -1, 4)).float()
        box_loss = F.smooth_l1_loss(offsets[positive], chosen[positive], reduction='sum', beta=0.11)
        return (class_loss + self.box_weight * box_loss) / positive.sum().clamp(min=1)

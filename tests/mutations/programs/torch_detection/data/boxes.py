"""Images with boxes."""
import os
import random

import cv2
import numpy as np
import torch
from torch.utils.data import Dataset


class BoxDataset(Dataset):
    """Reads a list of images."""

    scale = (0.3, 1.0)

    def __init__(self, root, names, size, hyper, training):
        self.root = root
        self.size = size
        self.hyper = hyper
        self.training = training
        with open(os.path.join(root, names)) as f:
            self.names = [line.strip() for line in f]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        name = self.names[index]
        image = cv2.imread(os.path.join(self.root, 'images', name + '.jpg'))
        target = np.loadtxt(os.path.join(self.root, 'boxes', name + '.txt'), ndmin=2)
        boxes, labels = target[:, 1:], target[:, 0]
        if self.training:
            image = self.distort(image)
            image, boxes = self.mirror(image, boxes)
        image = cv2.resize(image, (self.size, self.size), interpolation=cv2.INTER_LINEAR)
        image = image.astype(np.float32) - np.array(self.hyper.mean)
        return torch.from_numpy(image.transpose(2, 0, 1)).float(), torch.tensor(boxes), torch.tensor(labels)

    def distort(self, image):
        if random.random() < 0.5:
            image = image + random.uniform(-self.hyper.brightness, self.hyper.brightness)
        image = cv2.GaussianBlur(np.float32(image), (3, 3), 0)
        return np.clip(image, 0, 255)

    def mirror(self, image, boxes):
        if random.random() < self.hyper.flip:
            image = image[:, ::-1].copy()
            boxes = boxes.copy()
            boxes[:, 0::2] = 1.0 - boxes[:, 2::-2]
        return image, boxes


def collate(batch):
    images, boxes, labels = zip(*batch)
    pad = torch.nn.utils.rnn.pad_sequence
    return torch.stack(images), pad(boxes, batch_first=True), pad(labels, batch_first=True)

"""Loaders of the images."""
import os

import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from torchvision import datasets, transforms

IMAGE_SIZE = 224


def train_transform():
    return transforms.Compose([
        transforms.RandomResizedCrop(IMAGE_SIZE, scale=(0.2, 1.0)),
        transforms.RandomHorizontalFlip(),
        transforms.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ])


def val_transform():
    return transforms.Compose([
        transforms.Resize(256),
        transforms.CenterCrop(IMAGE_SIZE),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ])


def build_loaders(root, batch_size, workers, world_size, rank):
    train_set = datasets.ImageFolder(os.path.join(root, 'train'), train_transform())
    val_set = datasets.ImageFolder(os.path.join(root, 'val'), val_transform())
    sampler = None
    if world_size > 1:
        sampler = DistributedSampler(train_set, num_replicas=world_size, rank=rank, shuffle=True)
    train_loader = DataLoader(train_set, batch_size=batch_size, shuffle=sampler is None, sampler=sampler,
                              num_workers=workers, pin_memory=True)
    val_loader = DataLoader(val_set, batch_size=100, shuffle=False, num_workers=workers, pin_memory=True)
    return train_loader, val_loader, sampler

"""Trains a one-stage detector as its configuration says."""
import argparse
import json
import os
import random
from types import SimpleNamespace

import numpy as np
import torch
import yaml
from torch.utils.data import DataLoader, RandomSampler

from data.boxes import BoxDataset, collate
from model.detector import Detector
from model.loss import DetectionLoss
from solver import build_optimizer, build_scheduler


def load_config(path):
    with open(path) as f:
        return yaml.safe_load(f)


def load_hyper(path):
    with open(path) as f:
        return SimpleNamespace(**json.load(f))


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = True


def build_loader(cfg, hyper):
    dataset = BoxDataset(cfg['data']['root'], cfg['data']['train'], cfg['data']['size'], hyper, training=True)
    sampler = RandomSampler(dataset, replacement=cfg['data']['replacement'])
    return DataLoader(dataset, batch_size=cfg['train']['batch_size'], sampler=sampler, drop_last=False,
                      num_workers=cfg['data']['workers'], collate_fn=collate)


def train_epoch(loader, model, criterion, optimizer, accumulate, clip):
    model.train()
    total = 0.0
    optimizer.zero_grad()
    for i, (images, boxes, labels) in enumerate(loader):
        images = images.cuda()
        scores, offsets = model(images)
        loss = criterion(scores, offsets, boxes.cuda(), labels.cuda()) / accumulate
        loss.backward()
        if (i + 1) % accumulate == 0:
            torch.nn.utils.clip_grad_value_(model.parameters(), clip)
            optimizer.step()
            optimizer.zero_grad()
        total += loss.item()
    return total / len(loader)


def validate(loader, model, criterion):
    model.eval()
    with torch.no_grad():
        values = [criterion(*model(images.cuda()), boxes.cuda(), labels.cuda()).item()
                  for images, boxes, labels in loader]
    return sum(values) / len(values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--config', default='config/voc.yaml')
    parser.add_argument('--hyper', default='config/hyper.json')
    parser.add_argument('--output', default='runs')
    args = parser.parse_args()
    cfg = load_config(args.config)
    hyper = load_hyper(args.hyper)
    set_seed(cfg['seed'])

    model = Detector(cfg['data']['classes'], **cfg['model']).cuda()
    if cfg['train']['backbone']:
        model.backbone.load_state_dict(torch.load(cfg['train']['backbone']), strict=False)
    if cfg['train']['freeze_backbone']:
        model.backbone.requires_grad_(False)
    criterion = DetectionLoss(cfg['data']['classes'], hyper.iou_threshold, hyper.negative_ratio, hyper.box_weight)
    optimizer = build_optimizer(model, cfg['train'])
    scheduler = build_scheduler(optimizer, cfg['train'])
    loader = build_loader(cfg, hyper)
    valid_set = BoxDataset(cfg['data']['root'], cfg['data']['valid'], cfg['data']['size'], hyper, training=False)
    valid_loader = DataLoader(valid_set, batch_size=1, shuffle=False, collate_fn=collate)
    for epoch in range(cfg['train']['epochs']):
        loss = train_epoch(loader, model, criterion, optimizer, cfg['train']['accumulate'], hyper.clip_value)
        scheduler.step()
        print(f'epoch {epoch}: {loss:.4f}')
        if epoch % 5 == 4:
            print(f'validation: {validate(valid_loader, model, criterion):.4f}')
            torch.save(model.state_dict(), os.path.join(args.output, f'{epoch}.pth'))


if __name__ == '__main__':
    main()

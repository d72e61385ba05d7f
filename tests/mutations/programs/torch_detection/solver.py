"""Optimizer and schedule."""
import torch
from torch import optim


def build_optimizer(model, cfg):
    options = cfg['optimizer']
    heads = [p for n, p in model.named_parameters() if not n.startswith('backbone')]
    groups = [{'params': model.backbone.parameters(), 'lr': options['lr'] * 0.1}, {'params': heads}]
    return optim.SGD(groups, lr=options['lr'], momentum=options['momentum'], weight_decay=options['weight_decay'])


def build_scheduler(optimizer, cfg, last_epoch=-1):
    return optim.lr_scheduler.MultiStepLR(optimizer, last_epoch=last_epoch, **cfg['scheduler'])

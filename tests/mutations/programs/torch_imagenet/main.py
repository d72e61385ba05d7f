"""Trains a classifier on one device or several."""
import argparse
import os
import random
import time

import numpy as np
import torch
import torch.backends.cudnn as cudnn
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from loader import build_loaders
from model import MobileNet
from utils import AverageMeter, accuracy

parser = argparse.ArgumentParser(description='image classification')
parser.add_argument('data', metavar='DIR', help='path to the images')
parser.add_argument('-j', '--workers', default=8, type=int)
parser.add_argument('--epochs', default=150, type=int, help='epochs to run')
parser.add_argument('-b', '--batch-size', default=256, type=int, help='batch of one device')
parser.add_argument('--lr', '--learning-rate', default=0.1, type=float, dest='lr')
parser.add_argument('--momentum', default=0.9, type=float)
parser.add_argument('--wd', '--weight-decay', default=4e-5, type=float, dest='weight_decay')
parser.add_argument('--milestones', default='60,100,130', type=str)
parser.add_argument('--gamma', default=0.1, type=float)
parser.add_argument('--label-smoothing', default=0.0, type=float)
parser.add_argument('--max-norm', default=10.0, type=float)
parser.add_argument('--width-mult', default=1.0, type=float)
parser.add_argument('--pretrained', default='', type=str, help='weights to begin with')
parser.add_argument('--freeze-features', action='store_true')
parser.add_argument('--seed', default=42, type=int)
parser.add_argument('--print-freq', default=50, type=int)
parser.add_argument('--dist-backend', default='nccl', type=str)

best_acc = 0.0


def init_distributed(args):
    args.world_size = int(os.environ.get('WORLD_SIZE', 1))
    args.rank = int(os.environ.get('RANK', 0))
    args.local_rank = int(os.environ.get('LOCAL_RANK', 0))
    if args.world_size > 1:
        dist.init_process_group(args.dist_backend, init_method='env://', world_size=args.world_size, rank=args.rank)
    torch.cuda.set_device(args.local_rank)


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    cudnn.deterministic = True
    cudnn.benchmark = False


def split_parameters(model, weight_decay):
    decayed, plain = [], []
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        (plain if name.endswith('bias') else decayed).append(parameter)
    return [{'params': decayed, 'weight_decay': weight_decay}, {'params': plain, 'weight_decay': 0.0}]


def build_model(args):
    model = MobileNet(num_classes=1000, width_mult=args.width_mult)
    if args.pretrained:
        model.load_state_dict(torch.load(args.pretrained, map_location='cpu'), strict=True)
    if args.freeze_features:
        for parameter in model.features.parameters():
            parameter.requires_grad = False
    return model.cuda()


def main():
    global best_acc
    args = parser.parse_args()
    init_distributed(args)
    set_seed(args.seed)

    model = build_model(args)
    if args.world_size > 1:
        model = DDP(model, device_ids=[args.local_rank], find_unused_parameters=False)
    criterion = nn.CrossEntropyLoss(label_smoothing=args.label_smoothing).cuda()
    optimizer = torch.optim.SGD(split_parameters(model, args.weight_decay), lr=args.lr * args.world_size,
                                momentum=args.momentum, nesterov=True)
    milestones = [int(m) for m in args.milestones.split(',')]
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=milestones, gamma=args.gamma)
    train_loader, val_loader, sampler = build_loaders(args.data, args.batch_size, args.workers,
                                                      args.world_size, args.rank)

    for epoch in range(args.epochs):
        if sampler is not None:
            sampler.set_epoch(epoch)
        train(train_loader, model, criterion, optimizer, epoch, args)
        scheduler.step()
        acc = validate(val_loader, model, criterion)
        if args.rank == 0 and acc > best_acc:
            best_acc = acc
            torch.save({'epoch': epoch, 'state_dict': model.state_dict()}, 'best.pth')


def train(loader, model, criterion, optimizer, epoch, args):
    losses, top1 = AverageMeter('loss'), AverageMeter('top1')
    model.train()
    end = time.time()
    for i, (images, target) in enumerate(loader):
        images = images.cuda(non_blocking=True)
        target = target.cuda(non_blocking=True)
        output = model(images)
        loss = criterion(output, target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.max_norm)
        optimizer.step()
        losses.update(loss.item(), images.size(0))
        top1.update(accuracy(output, target)[0], images.size(0))
        if i % args.print_freq == 0:
            print('epoch {} step {} loss {:.4f} time {:.2f}'.format(epoch, i, losses.avg, time.time() - end))
            end = time.time()


def validate(loader, model, criterion):
    top1 = AverageMeter('top1')
    model.eval()
    with torch.no_grad():
        for images, target in loader:
            output = model(images.cuda())
            top1.update(accuracy(output, target.cuda())[0], images.size(0))
    return top1.avg


if __name__ == '__main__':
    main()

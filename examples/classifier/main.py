"""Trains a small image classifier; half of the way from the GPU to the NPU."""

import argparse
import os

import torch
import torch.distributed as dist
import torch_npu
from apex import amp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

from model import Classifier, hard_example_loss


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="/data/images")
    parser.add_argument("--epochs", type=int, default=90)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--dist-backend", default="nccl")
    return parser.parse_args()


def loaders(args):
    scale = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
    train = datasets.ImageFolder(os.path.join(args.data, "train"), scale)
    sampler = torch.utils.data.distributed.DistributedSampler(train)
    train_loader = DataLoader(train, batch_size=args.batch_size, sampler=sampler, num_workers=8)
    test = datasets.ImageFolder(os.path.join(args.data, "val"), scale)
    return train_loader, DataLoader(test, batch_size=args.batch_size, num_workers=8), sampler


def train(loader, model, optimizer, rank):
    correct = 0
    for step, (images, target) in enumerate(loader):
        images = images.npu(rank)
        target = target.cuda(rank)
        output = model(images)
        loss = hard_example_loss(output, target)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        correct += (output.argmax(1) == target).sum().item()
        torch.npu.synchronize()
        if step % 100 == 0:
            print(step, loss.item())
    return correct


def main():
    args = parse()
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group(backend=args.dist_backend)
    torch.npu.set_device(rank)
    train_loader, test_loader, sampler = loaders(args)
    model = Classifier(classes=1000).npu(rank)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O2", loss_scale=1)
    model = DistributedDataParallel(model, device_ids=[rank])
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        train(train_loader, model, optimizer, rank)


if __name__ == "__main__":
    main()

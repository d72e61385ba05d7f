"""Trains a small image classifier; on NPUs."""

import argparse
import os

import apex
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
    parser.add_argument("--dist-backend", default="hccl")
    return parser.parse_args()


def loaders(args):
    scale = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
    train = datasets.ImageFolder(os.path.join(args.data, "train"), scale)
    sampler = torch.utils.data.distributed.DistributedSampler(train)
    train_loader = DataLoader(train, batch_size=args.batch_size, sampler=sampler, num_workers=8, pin_memory=True,
                              drop_last=True, persistent_workers=True)
    test = datasets.ImageFolder(os.path.join(args.data, "val"), scale)
    return train_loader, DataLoader(test, batch_size=args.batch_size, num_workers=8, pin_memory=True), sampler


def train(loader, model, optimizer, rank):
    correct = torch.zeros((), device=f"npu:{rank}")
    for step, (images, target) in enumerate(loader):
        images = images.npu(rank, non_blocking=True)
        target = target.npu(rank, non_blocking=True)
        output = model(images)
        loss = hard_example_loss(output, target)
        optimizer.zero_grad()
        with amp.scale_loss(loss, optimizer) as scaled_loss:
            scaled_loss.backward()
        optimizer.step()
        correct += (output.argmax(1) == target).sum()
        if step % 100 == 0:
            print(step, loss.item())
    return correct.item()


def main():
    args = parse()
    rank = int(os.environ["LOCAL_RANK"])
    torch.npu.set_compile_mode(jit_compile=False)
    torch.npu.set_device(rank)
    dist.init_process_group(backend=args.dist_backend)
    train_loader, test_loader, sampler = loaders(args)
    model = Classifier(classes=1000).npu(rank)
    optimizer = apex.optimizers.NpuFusedSGD(model.parameters(), args.lr, momentum=0.9, weight_decay=1e-4)
    model, optimizer = amp.initialize(model, optimizer, opt_level="O2", loss_scale="dynamic", combine_grad=True)
    model = DistributedDataParallel(model, device_ids=[rank], broadcast_buffers=False)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        train(train_loader, model, optimizer, rank)


if __name__ == "__main__":
    main()

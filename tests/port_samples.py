"""Small GPU projects of ten styles, for tests of the port."""

from __future__ import annotations

PLAIN = {
    "train.py": """\
import torch
from net import Net

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
model = Net().to(device)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
for x, y in loader:
    loss = torch.nn.functional.mse_loss(model(x.to(device)), y.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "net.py": """\
import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x + torch.ones(3, device="cuda")
""",
    "run.sh": "#!/bin/bash\nexport CUDA_VISIBLE_DEVICES=0\npython train.py\n",
}
DDP = {
    "main.py": """\
import argparse
import os

import torch
import torch.distributed as dist
from torch.cuda.amp import GradScaler, autocast
from torch.nn.parallel import DistributedDataParallel

parser = argparse.ArgumentParser()
parser.add_argument("--backend", default="nccl")
parser.add_argument("--gpu", type=int)
args = parser.parse_args()


def main():
    dist.init_process_group(args.backend)
    torch.cuda.set_device(args.gpu)
    model = torch.nn.Linear(4, 4).cuda(args.gpu)
    model = DistributedDataParallel(model, device_ids=[args.gpu])
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    scaler = GradScaler(init_scale=1024)
    for x in loader:
        with autocast():
            loss = model(x.cuda(args.gpu, non_blocking=True)).sum()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if loss.is_cuda:
            print(torch.cuda.max_memory_allocated())


if __name__ == "__main__":
    main()
""",
}
APEX = {
    "train.py": """\
import torch
from apex import amp

model = torch.nn.Linear(4, 4).cuda()
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
for x in loader:
    loss = model(x.cuda()).sum()
    optimizer.zero_grad()
    with amp.scale_loss(loss, optimizer) as scaled_loss:
        scaled_loss.backward()
    optimizer.step()
""",
}
TRAINER_CLASS = {
    "engine/__init__.py": "",
    "engine/trainer.py": """\
import torch


class Trainer:
    def __init__(self, model, optimizer):
        self.model = model.cuda()
        self.optimizer = optimizer

    def fit(self, loader):
        for x in loader:
            loss = self.model(x.cuda()).sum()
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        torch.cuda.empty_cache()
""",
    "train.py": """\
import torch
from engine.trainer import Trainer

model = torch.nn.Linear(4, 4)
Trainer(model, torch.optim.Adagrad(model.parameters(), lr=0.1)).fit(loader)
""",
}
HF_TRAINER = {
    "run.py": """\
import torch
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("gpt2")
weight = torch.ones(3, device="cuda")
trainer = Trainer(model=model, args=TrainingArguments("out", fp16=True), train_dataset=rows)
trainer.train()
""",
}
ACCELERATE = {
    "run.py": """\
import torch
from accelerate import Accelerator

accelerator = Accelerator()
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
model, optimizer, loader = accelerator.prepare(model, optimizer, rows)
weight = torch.ones(3).cuda()
for x in loader:
    loss = (model(x) * weight).sum()
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
""",
}
MMENGINE = {
    "configs/base.py": "env_cfg = dict(cudnn_benchmark=True, dist_cfg=dict(backend='nccl'))\n",
    "tools/train.py": """\
import torch
from mmengine.config import Config
from mmengine.runner import Runner

cfg = Config.fromfile("configs/base.py")
runner = Runner.from_cfg(cfg)
scale = torch.ones(3).cuda()
runner.train()
""",
}
SESSION = {
    "train.py": """\
import tensorflow as tf

x = tf.placeholder(tf.float32, [8, 4])
loss = tf.reduce_mean(tf.layers.dense(x, 4))
step = tf.train.AdamOptimizer(1e-3).minimize(loss)
config = tf.ConfigProto()
config.gpu_options.allow_growth = True
with tf.Session(config=config) as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(100):
        sess.run(step, feed_dict={x: batch()})
""",
}
ESTIMATOR = {
    "train.py": """\
import tensorflow as tf


def model_fn(features, labels, mode, params):
    loss = tf.reduce_mean(tf.layers.dense(features, 4))
    step = tf.train.AdamOptimizer(1e-3).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(rows).repeat().batch(8, drop_remainder=True)


run_config = tf.estimator.RunConfig(model_dir="out", save_checkpoints_steps=100)
estimator = tf.estimator.Estimator(model_fn, config=run_config)
estimator.train(input_fn, max_steps=1000)
""",
}
KERAS = {
    "requirements.txt": "tensorflow==2.6.5\n",
    "train.py": """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(4)])
model.compile("adam", "mse")
model.fit(x, y, batch_size=8, epochs=3)
""",
}
PROJECTS = {
    "plain": PLAIN,
    "ddp": DDP,
    "apex": APEX,
    "trainer-class": TRAINER_CLASS,
    "hf-trainer": HF_TRAINER,
    "accelerate": ACCELERATE,
    "mmengine": MMENGINE,
    "session": SESSION,
    "estimator": ESTIMATOR,
    "keras": KERAS,
}
OF_TENSORFLOW = ("session", "estimator", "keras")

import argparse

import torch
from mmengine.config import Config
from mmengine.runner import Runner
from torch import nn


class Regression(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 1))

    def forward(self, x, y):
        scale = torch.ones(1).cuda()
        loss = nn.functional.mse_loss(self.layers(x) * scale, y)
        print("loss", loss.item())
        return {"loss": loss}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("config", nargs="?", default="configs/base.py")
    cfg = Config.fromfile(parser.parse_args().config)
    torch.manual_seed(0)
    rows = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(4)]
    runner = Runner(
        Regression(cfg.model["width"]),
        "out",
        train_dataloader=rows,
        train_cfg=cfg.train_cfg,
        optim_wrapper=cfg.optim_wrapper,
        env_cfg=cfg.env_cfg,
    )
    runner.train()


if __name__ == "__main__":
    main()

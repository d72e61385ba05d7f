import torch
from stand_in_device import moved
from torch import nn


class LightningModule(nn.Module):
    pass


class Trainer:
    """Knows no NPU, as Lightning."""

    def __init__(self, accelerator="auto", devices="auto", max_epochs=1):
        if accelerator == "gpu" and not torch.cuda.is_available():
            raise RuntimeError("No supported gpu backend found!")
        self.where = torch.device("cuda" if accelerator != "cpu" and torch.cuda.is_available() else "cpu")

    def fit(self, model, loader):
        model.to(self.where)
        optimizer = model.configure_optimizers()
        for number, batch in enumerate(loader):
            loss = model.training_step(moved(batch, self.where), number)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

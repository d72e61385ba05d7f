import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        weight = torch.ones(1).cuda()
        loss = nn.functional.mse_loss(self.layers(x) * weight, y)
        print("loss", loss.item())
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    torch.manual_seed(0)
    rows = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
    trainer = L.Trainer(accelerator="gpu", devices=1, max_epochs=1)
    trainer.fit(Regression(), DataLoader(rows, batch_size=8))

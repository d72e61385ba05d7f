import torch
from engine.trainer import Trainer
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
rows = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
Trainer(model, lr=0.01).fit(DataLoader(rows, batch_size=8))

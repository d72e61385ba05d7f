import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1)).to(accelerator.device)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
rows = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(rows, batch_size=8))
weight = torch.ones(1).cuda()
for x, y in loader:
    loss = nn.functional.mse_loss(model(x) * weight, y)
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    print("loss", loss.item())
torch.cuda.empty_cache()

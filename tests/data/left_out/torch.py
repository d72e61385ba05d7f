"""Names that examples of checks for PyTorch leave out."""

import torch
from torch import nn

criterion = loss_fn = nn.functional.mse_loss
loader = train_loader = data_loader = [(torch.randn(4, 4), torch.randn(4, 4)) for _ in range(3)]
batches = [one for one, _ in loader]
x = inputs = torch.randn(4, 4)
y = target = torch.randn(4, 4)


class Net(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(4, 4)


Model = MyModel = Net
dataset = torch.utils.data.TensorDataset(torch.randn(32, 4), torch.randn(32, 4))

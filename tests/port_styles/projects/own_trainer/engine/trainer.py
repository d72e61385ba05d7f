import torch


class Trainer:
    def __init__(self, model, lr):
        self.model = model.cuda()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def fit(self, loader):
        self.model.train()
        for batch in loader:
            x, y = (part.cuda(non_blocking=True) for part in batch)
            loss = self.training_step(x, y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            print("loss", loss.item())
        torch.cuda.empty_cache()

    def training_step(self, x, y):
        return torch.nn.functional.mse_loss(self.model(x), y)

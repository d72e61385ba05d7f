import torch
from stand_in_device import device, moved


class Runner:
    def __init__(self, model, work_dir, train_dataloader, train_cfg, optim_wrapper, env_cfg):
        self.where = device()
        self.model, self.rows = model.to(self.where), train_dataloader
        settings = dict(optim_wrapper["optimizer"])
        self.optimizer = getattr(torch.optim, settings.pop("type"))(self.model.parameters(), **settings)

    def train(self):
        for batch in self.rows:
            loss = self.model(*moved(batch, self.where))["loss"]
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

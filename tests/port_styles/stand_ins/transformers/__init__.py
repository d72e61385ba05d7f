import torch
from stand_in_device import device
from torch import nn
from torch.utils.data import DataLoader


class _Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, inputs):
        return self.layers(inputs)


class AutoModelForSequenceClassification:
    @classmethod
    def from_pretrained(cls, name):
        return _Classifier()


class TrainingArguments:
    def __init__(self, output_dir, per_device_train_batch_size=8, learning_rate=5e-5, optim="adamw_torch", **others):
        self.device = device()
        self.size, self.rate = per_device_train_batch_size, learning_rate


class Trainer:
    def __init__(self, model, args, train_dataset):
        self.model, self.args, self.rows = model.to(args.device), args, train_dataset

    def train(self):
        optimizer = torch.optim.AdamW(self.model.parameters(), lr=self.args.rate)
        for x, labels in DataLoader(self.rows, batch_size=self.args.size):
            inputs = {"inputs": x.to(self.args.device), "labels": labels.to(self.args.device)}
            loss = self.compute_loss(self.model, inputs)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

import lightning as L
import torch
from torch import nn
from torchvision.datasets import CIFAR10
from torchvision.models import resnet18
from torchvision.transforms import ToTensor


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = resnet18(num_classes=10)

    def training_step(self, batch, index):
        images, labels = batch
        return nn.functional.cross_entropy(self.model(images), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1, momentum=0.9)


L.seed_everything(42)
data = CIFAR10("data", transform=ToTensor(), download=True)
loader = torch.utils.data.DataLoader(
    data, 128, shuffle=True, num_workers=8, pin_memory=True, persistent_workers=True, drop_last=True
)
trainer = L.Trainer(accelerator="gpu", devices=8, strategy="ddp", precision="bf16-mixed", benchmark=True, max_epochs=30)
trainer.fit(Classifier(), loader)

from stand_in_device import device, moved
from torch import nn


class Accelerator:
    def __init__(self):
        self.device = device()

    def prepare(self, *parts):
        return tuple(self._prepared(part) for part in parts)

    def _prepared(self, part):
        if isinstance(part, nn.Module):
            return part.to(self.device)
        if hasattr(part, "step"):
            return part
        return [moved(batch, self.device) for batch in part]

    def backward(self, loss):
        loss.backward()

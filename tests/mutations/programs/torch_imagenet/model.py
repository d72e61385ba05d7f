"""Network of separable convolutions."""
import torch.nn as nn

SETTINGS = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (1024, 2)]


def conv_bn(inp, oup, stride):
    return nn.Sequential(
        nn.Conv2d(inp, oup, 3, stride, 1, bias=False),
        nn.BatchNorm2d(oup, momentum=0.05),
        nn.ReLU6(inplace=True),
    )


class Separable(nn.Module):
    """Depth-wise and point-wise convolution."""

    def __init__(self, inp, oup, stride):
        super().__init__()
        self.depth = nn.Conv2d(inp, inp, 3, stride, 1, groups=inp, bias=False)
        self.point = nn.Conv2d(inp, oup, 1, 1, 0, bias=False)
        self.norm1 = nn.BatchNorm2d(inp)
        self.norm2 = nn.BatchNorm2d(oup)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.act(self.norm1(self.depth(x)))
        return self.act(self.norm2(self.point(x)))


class MobileNet(nn.Module):
    """Classifier."""

    def __init__(self, num_classes=1000, width_mult=1.0, dropout=0.2):
        super().__init__()
        channels = int(32 * width_mult)
        layers = [conv_bn(3, channels, 2)]
        for width, stride in SETTINGS:
            output = int(width * width_mult)
            layers.append(Separable(channels, output, stride))
            channels = output
        self.features = nn.Sequential(*layers)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(channels, num_classes)
        self._init_weights()

    def _init_weights(self):
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode='fan_out')
            elif isinstance(m, nn.Linear):
                nn.init.normal_(m.weight, 0, 0.01)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.pool(self.features(x)).flatten(1)
        return self.classifier(self.dropout(x))

"""What the user may choose, and what is fixed."""
import argparse
import os
from dataclasses import dataclass


@dataclass
class Recipe:
    """Fixed numbers."""

    dim: int = 512
    layers: int = 6
    dropout: float = 0.1
    lr: float = 1.0
    weight_decay: float = 0.01
    max_norm: float = 1.0
    accumulate: int = 4
    padding: int = 0


def parse_options(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument('--data', default='pairs.txt')
    parser.add_argument('--output', default='out')
    parser.add_argument('--epochs', type=int, default=20)
    parser.add_argument('--batch_size', type=int, default=int(os.environ.get('BATCH_SIZE', '96')))
    parser.add_argument('--warmup', type=int, default=4000)
    parser.add_argument('--max_length', type=int, default=128)
    parser.add_argument('--seed', type=int, default=3)
    parser.add_argument('--init', default='')
    parser.add_argument('--freeze_embedding', action='store_true')
    return parser.parse_args(argv)

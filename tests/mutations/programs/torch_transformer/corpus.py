"""Pairs of sentences."""
import random

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset


class PairDataset(Dataset):
    """Lines of two token lists."""

    def __init__(self, path, max_length=256, drop_words=0.05):
        self.drop_words = drop_words
        self.pairs = []
        with open(path) as f:
            for line in f:
                source, target = line.rstrip().split('\t')
                source, target = source.split()[:max_length], target.split()[:max_length]
                if len(source) >= 3:
                    self.pairs.append((source, target))
        words = sorted({word for pair in self.pairs for part in pair for word in part})
        self.index = {word: i + 1 for i, word in enumerate(words)}
        self.vocabulary = len(words) + 1

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        source, target = self.pairs[i]
        kept = [word for word in source if random.random() > self.drop_words]
        return self.encode(kept), self.encode(target)

    def encode(self, words):
        return torch.tensor([self.index[word] for word in words])


def make_collate(padding):
    def collate(batch):
        sources, targets = zip(*batch)
        return (pad_sequence(sources, batch_first=True, padding_value=padding),
                pad_sequence(targets, batch_first=True, padding_value=padding))

    return collate

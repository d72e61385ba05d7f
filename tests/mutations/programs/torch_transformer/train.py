"""Trains a translation model in mixed precision."""
import copy
import os

import torch
from torch.cuda.amp import GradScaler, autocast
from torch.utils.data import DataLoader, random_split

from corpus import PairDataset, make_collate
from options import Recipe, parse_options
from schedule import NoamSchedule
from transformer import Translator


class Average:
    """Exponential average of the weights."""

    def __init__(self, model, decay=0.9998):
        self.decay = decay
        self.model = copy.deepcopy(model).eval()

    @torch.no_grad()
    def update(self, model):
        for mine, theirs in zip(self.model.parameters(), model.parameters()):
            mine.mul_(self.decay).add_(theirs, alpha=1 - self.decay)


def label_smoothed_loss(logits, target, padding, smoothing=0.1):
    logs = torch.log_softmax(logits.float(), dim=-1)
    nll = -logs.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    smooth = -logs.mean(dim=-1)
    mask = target != padding
    return ((1.0 - smoothing) * nll[mask] + smoothing * smooth[mask]).mean()


def build_optimizer(model, recipe):
    return torch.optim.AdamW(model.parameters(), lr=recipe.lr, betas=(0.9, 0.98), eps=1e-9,
                             weight_decay=recipe.weight_decay)


def train_epoch(loader, model, optimizer, schedule, scaler, average, recipe):
    model.train()
    optimizer.zero_grad(set_to_none=True)
    for step, (source, target) in enumerate(loader):
        source, target = source.cuda(), target.cuda()
        with autocast(dtype=torch.float16):
            logits = model(source, target[:, :-1])
            loss = label_smoothed_loss(logits, target[:, 1:], recipe.padding)
        scaler.scale(loss / recipe.accumulate).backward()
        if (step + 1) % recipe.accumulate == 0:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=recipe.max_norm)
            scaler.step(optimizer)
            scaler.update()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            average.update(model)
        if step % 100 == 0:
            print(f'step {step}: {loss.item():.3f}')


@torch.no_grad()
def evaluate(loader, model, recipe):
    model.eval()
    total, count = 0.0, 0
    for source, target in loader:
        logits = model(source.cuda(), target[:, :-1].cuda())
        total += label_smoothed_loss(logits, target[:, 1:].cuda(), recipe.padding, smoothing=0.0).item()
        count += 1
    return total / count


def main():
    options = parse_options()
    recipe = Recipe()
    torch.manual_seed(options.seed)
    torch.cuda.manual_seed_all(options.seed)
    data = PairDataset(options.data, max_length=options.max_length)
    held = int(len(data) * 0.02)
    train_set, valid_set = random_split(data, [len(data) - held, held])
    collate = make_collate(recipe.padding)
    loader = DataLoader(train_set, batch_size=options.batch_size, shuffle=True, drop_last=True, collate_fn=collate)
    valid = DataLoader(valid_set, batch_size=options.batch_size, shuffle=False, collate_fn=collate)

    model = Translator(data.vocabulary, recipe.dim, heads=8, layers=recipe.layers, dropout=recipe.dropout).cuda()
    if options.init:
        model.load_state_dict(torch.load(options.init))
    for parameter in model.embed.parameters():
        parameter.requires_grad = not options.freeze_embedding
    optimizer = build_optimizer(model, recipe)
    schedule = NoamSchedule(optimizer, recipe.dim, warmup=options.warmup)
    scaler = GradScaler(init_scale=2.0 ** 14, growth_interval=1000)
    average = Average(model)
    for epoch in range(options.epochs):
        train_epoch(loader, model, optimizer, schedule, scaler, average, recipe)
        print('validation', evaluate(valid, average.model, recipe))
        torch.save(model.state_dict(), os.path.join(options.output, 'last.pt'))


if __name__ == '__main__':
    main()

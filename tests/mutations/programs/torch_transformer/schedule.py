"""Learning rate of the first transformer."""


class NoamSchedule:
    """Grows and falls with the inverse root of the step."""

    factor = 2.0

    def __init__(self, optimizer, dim, warmup=8000):
        self.optimizer = optimizer
        self.dim = dim
        self.warmup = warmup
        self.count = 0

    def rate(self):
        return self.factor * self.dim ** -0.5 * min(self.count ** -0.5, self.count * self.warmup ** -1.5)

    def step(self):
        self.count += 1
        for group in self.optimizer.param_groups:
            group['lr'] = self.rate()

"""Core: files, caches, processes, budgets, errors and texts. Knows nothing of NPUs; every room may ask it."""

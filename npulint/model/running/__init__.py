"""Whether a line runs: calls, exits, conditions, guards, and what lies inside training."""

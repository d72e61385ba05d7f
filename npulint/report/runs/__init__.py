"""Training runs as the reports tell them, from what they left behind."""

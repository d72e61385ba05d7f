"""What is shown of a run: its summary, and the quantities of single findings."""

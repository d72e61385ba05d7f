"""Graph files: each is a program of its own, asked only what is asked of graphs."""

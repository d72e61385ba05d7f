"""Configuration files: which of them a program loads, and what their values mean in its code."""

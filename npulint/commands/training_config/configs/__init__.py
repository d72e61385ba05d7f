"""Configuration files: which of them a program loads, and which names in its code refer to their values."""

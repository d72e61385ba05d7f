"""Snapshots of machines, which ``npulint doctor`` takes: their form, the facts in them, and their reader."""

"""Compares two programs: matches their code, and lists the differences between their training configs."""

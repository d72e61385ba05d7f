"""Fuzzing of npulint: hostile and odd projects, judged in a process of their own."""

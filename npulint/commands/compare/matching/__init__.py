"""Matches the files, classes and functions of two projects."""

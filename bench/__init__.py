"""Measures of speed; see CONTRIBUTING.md."""

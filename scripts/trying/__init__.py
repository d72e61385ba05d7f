"""Runs public training programs under ``npulint try`` and as they are."""

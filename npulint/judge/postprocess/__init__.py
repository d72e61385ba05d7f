"""Postprocessing of findings: deduplicates, merges, suppresses, filters and sorts them."""

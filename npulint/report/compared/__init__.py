"""Reports of a comparison with a reference. Runs without one do not import this package."""

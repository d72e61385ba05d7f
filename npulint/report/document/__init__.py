"""A report before it has a format: builders say what is reported, and a back end for each format says how it looks."""

"""Assembly: files become modules that know each other, modules become programs with domain facts."""

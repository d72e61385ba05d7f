"""Programs for those who work on npulint itself."""

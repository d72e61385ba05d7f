"""Records of what training runs and single steps were: what reports and comparisons of runs show."""

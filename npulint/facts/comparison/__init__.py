"""Records of a comparison: a difference, its two values, and what it does to the loss."""

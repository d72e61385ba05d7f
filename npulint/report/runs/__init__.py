"""Reports of training runs."""

"""The estimated effort of a port in all formats."""

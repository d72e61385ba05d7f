"""The catalogue: each check is a YAML file with its tests and documentation."""

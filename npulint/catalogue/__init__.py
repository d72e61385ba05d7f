"""The catalogue: one YAML file is one check, its tests and its documentation page."""

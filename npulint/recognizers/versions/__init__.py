"""Whether the releases that a project installs together belong together."""

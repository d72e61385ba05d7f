"""The comparison with a reference, as the reports tell it. Nothing of it is imported by runs without one."""

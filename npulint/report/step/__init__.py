"""Reports of a recorded step: tables, the JSON record, and words."""

"""Two programs held against each other: counterparts, and what differs between their recipes."""

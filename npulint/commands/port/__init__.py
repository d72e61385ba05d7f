"""``npulint port``: plans, shows, writes and commits the port of a GPU project to Ascend NPUs."""

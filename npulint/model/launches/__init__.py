"""How launchers start scripts: for which device, and with which option values."""

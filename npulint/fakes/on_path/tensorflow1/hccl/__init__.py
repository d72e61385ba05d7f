"""A fake of the interfaces of collective communication, for the ranks that the environment names."""

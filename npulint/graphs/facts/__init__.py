"""Graph files: each is a separate program, which only checks of the family ``graph`` see."""

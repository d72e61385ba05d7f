"""What an expression is worth, in all starts together: scalars, dicts, objects, files, choices."""

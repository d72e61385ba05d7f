"""What all Python projects are asked: imports, calls, names, options, the environment; a module per area."""

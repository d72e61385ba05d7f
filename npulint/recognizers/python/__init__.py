"""Recognizers for all Python code: imports, calls, names, options, environment variables; one module per area."""

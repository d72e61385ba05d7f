"""The command check: files to results, one project at a time, in worker processes, with fixes."""

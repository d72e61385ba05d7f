"""The command line: parses arguments, runs a command, prints reports, returns an exit code."""

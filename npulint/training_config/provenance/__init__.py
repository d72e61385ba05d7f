"""Where values come from, under one way to start a program."""

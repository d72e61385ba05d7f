"""Training that is configured rather than written: files and command lines of frameworks, and what they set."""

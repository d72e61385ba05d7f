"""Fixes: from fix steps of findings to edits, and from edits to verified, atomically written files."""

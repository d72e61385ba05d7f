"""From the changes that findings ask for to edits, and from edits to files that are whole."""

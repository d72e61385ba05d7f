"""The project as code: modules, names, blocks and cursors over them, which know each other across files."""

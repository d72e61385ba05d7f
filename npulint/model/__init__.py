"""Model: records of files come in; modules, values, reach and programs of the project go out. Asked by recognizers."""

"""The training config of a program, collected from its code, launchers and configuration files."""

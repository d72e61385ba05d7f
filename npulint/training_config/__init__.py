"""The recipe of a program: what decides which numbers a training gives, by its code, launchers and configuration."""

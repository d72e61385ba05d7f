"""Settings from configuration files and command lines, validated and merged."""

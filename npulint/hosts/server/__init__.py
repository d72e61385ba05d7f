"""The language server: findings in editors while typing. Only ``npulint server`` imports it."""

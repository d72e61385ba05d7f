"""The language server: findings in editors, while people type. Only ``npulint server`` imports it."""

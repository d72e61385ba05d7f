"""Settling: findings become one ordered list without doubles, suppressed ones or unwanted ones."""

"""Runs, a wing: what training runs left behind (logs, profiles, dumps) comes in; facts and findings about them go
out."""

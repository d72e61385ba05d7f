"""Commands: what a verb does (check, compare, port), without a terminal. Asked by the hosts."""

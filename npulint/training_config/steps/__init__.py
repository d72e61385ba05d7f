"""What functions do that decides numbers, step by step."""

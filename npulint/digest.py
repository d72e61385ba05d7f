"""BLAKE2 without hashlib: importing that loads OpenSSL, which takes longer than reading a small project."""

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter that keeps it elsewhere
    from hashlib import blake2b

__all__ = ["blake2b"]

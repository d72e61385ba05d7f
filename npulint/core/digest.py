"""BLAKE2 without hashlib, whose import loads OpenSSL and takes longer than checking a small project."""

try:
    from _blake2 import blake2b
except ImportError:  # an interpreter without this extension module
    from hashlib import blake2b

__all__ = ["blake2b"]

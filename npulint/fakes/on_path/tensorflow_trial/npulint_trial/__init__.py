"""The process of a TensorFlow program under ``npulint try``: runs it for a few steps and writes what it built and ran.

Python 3.7 without dependencies, because TensorFlow 1.15 runs in no newer one and the interpreter needs no npulint."""

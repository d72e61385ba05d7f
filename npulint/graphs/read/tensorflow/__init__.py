"""Graphs of TensorFlow, from protocol buffers in binary and in text."""

"""Reads ONNX models: the binary form, and protobuf's text format."""

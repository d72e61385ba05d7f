"""Protocol buffers in graph files: the wire format, the text format, and limits for both."""

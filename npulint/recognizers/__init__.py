"""Recognizers: the model comes in; the facts that checks query go out, whatever API or dialect the code uses."""

"""``npulint try`` for TensorFlow: starts the process of the program, and reads what it wrote."""

"""Built-in functions and the standard library, as far as configurations and control flow need them."""

"""Recognizers for kernels written in Triton: their launches, tiles and shapes; one module per area."""

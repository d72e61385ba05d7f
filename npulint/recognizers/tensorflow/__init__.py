"""Recognizers for TensorFlow code: sessions, optimizers, settings, input pipelines …; one module per area."""

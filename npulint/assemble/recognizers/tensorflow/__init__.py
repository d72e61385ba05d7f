"""What only TensorFlow projects are asked: sessions, optimizers, settings, input …, a module per area."""

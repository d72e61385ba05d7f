"""Graphs, a wing: graph files of TensorFlow, PyTorch and ONNX come in; facts about their operators go out."""

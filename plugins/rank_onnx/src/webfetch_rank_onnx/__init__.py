"""Ranking by meaning: a bi-encoder and a cross-encoder on onnxruntime."""

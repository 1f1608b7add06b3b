"""Ranking by meaning through sentence-transformers: the reference that faster rankers are held to."""

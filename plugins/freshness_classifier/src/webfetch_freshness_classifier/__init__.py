"""Tells how fast the answer to a query goes stale."""

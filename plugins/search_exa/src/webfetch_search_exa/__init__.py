"""Exa as a webfetch search engine."""

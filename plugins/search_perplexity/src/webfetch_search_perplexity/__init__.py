"""Perplexity's Search API as a webfetch search engine."""

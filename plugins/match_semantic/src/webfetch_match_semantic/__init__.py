"""Semantic matching of queries for webfetch."""

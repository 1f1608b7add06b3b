"""Sentence compression for webfetch."""

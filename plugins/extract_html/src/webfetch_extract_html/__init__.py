"""Readable Markdown from web pages, feeds, JSON and plain text."""

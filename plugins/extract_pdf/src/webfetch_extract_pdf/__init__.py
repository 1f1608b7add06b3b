"""Readable Markdown from PDF files."""

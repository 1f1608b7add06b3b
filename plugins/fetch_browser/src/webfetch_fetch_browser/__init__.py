"""A real Chromium as a fetcher for webfetch."""

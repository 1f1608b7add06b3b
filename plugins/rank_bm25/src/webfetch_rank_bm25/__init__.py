"""BM25 for webfetch."""

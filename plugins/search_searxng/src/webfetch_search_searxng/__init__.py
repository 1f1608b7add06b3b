"""A SearXNG instance as a webfetch search engine."""

"""The Brave Search API as a webfetch search engine."""

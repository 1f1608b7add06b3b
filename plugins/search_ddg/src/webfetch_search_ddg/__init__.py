"""DuckDuckGo as a webfetch search engine."""

"""The Tavily API as a webfetch search engine."""

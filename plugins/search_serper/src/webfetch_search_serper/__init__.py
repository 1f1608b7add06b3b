"""Google results by the Serper API as a webfetch search engine."""

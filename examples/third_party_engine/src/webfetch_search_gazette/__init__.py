"""The archive of the Gazette as a webfetch search engine."""

"""webfetch over HTTP, as a plugin."""

"""The bundle's entry point: ``webfetch-mcp``, without the keys that its user left out."""

from __future__ import annotations

import os

from webfetch_serve_mcp.script import main

for name, value in list(os.environ.items()):
    if value.startswith("${user_config."):  # some hosts hand on the placeholder of a value that is not set
        del os.environ[name]

if __name__ == "__main__":
    main()

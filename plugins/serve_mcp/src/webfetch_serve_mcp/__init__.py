"""webfetch as an MCP server, over stdio and streamable HTTP."""

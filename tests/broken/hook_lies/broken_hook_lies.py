"""A plugin whose hook returns what is no provider."""

from webfetch_core.api import hookimpl


@hookimpl
def webfetch_search_engines():
    return ["brave", "ddg"]

"""A plugin whose hook raises."""

from webfetch_core.api import hookimpl


@hookimpl
def webfetch_search_engines():
    raise RuntimeError("the hook raised")

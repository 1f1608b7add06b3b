"""A plugin whose hook declares without end."""

from webfetch_core.api import Provider, SearchTraits, hookimpl


@hookimpl
def webfetch_search_engines():
    n = 0
    while True:
        n += 1
        yield Provider(name=f"flood{n}", build=lambda settings, context: None, traits=SearchTraits())

"""A plugin whose engine returns what is no hit."""

from webfetch_core.api import Provider, SearchTraits, hookimpl


class Lies:
    def search(self, request):
        return {"results": 42}


@hookimpl
def webfetch_search_engines():
    return [
        Provider(
            name="search_lies",
            build=lambda settings, context: Lies(),
            summary="A broken engine",
            traits=SearchTraits(network=False),
            timeout_s=1.0,
        )
    ]

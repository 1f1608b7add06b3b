"""A plugin whose engine answers without end, with nothing that can be fetched."""

from webfetch_core.api import Provider, SearchHit, SearchTraits, hookimpl


class Flood:
    def search(self, request):
        while True:
            yield SearchHit(url="nonsense", title="x" * 1000)


@hookimpl
def webfetch_search_engines():
    return [
        Provider(
            name="search_flood",
            build=lambda settings, context: Flood(),
            summary="A broken engine",
            traits=SearchTraits(network=False),
            timeout_s=1.0,
        )
    ]

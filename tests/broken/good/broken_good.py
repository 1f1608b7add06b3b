"""An engine in good health: what the others must not be able to stop."""

from webfetch_core.api import Provider, SearchHit, SearchTraits, hookimpl


class Good:
    def search(self, request):
        return [SearchHit(url="https://good.example/", title="Good", snippet="A hit of the good engine")]


@hookimpl
def webfetch_search_engines():
    return [
        Provider(
            name="good",
            build=lambda settings, context: Good(),
            summary="A good engine",
            traits=SearchTraits(network=False),
            timeout_s=1.0,
        )
    ]

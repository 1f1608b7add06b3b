"""One of two plugins that give the provider name ``same``."""

from webfetch_core.api import Provider, SearchHit, SearchTraits, hookimpl


class Same:
    def search(self, request):
        return [SearchHit(url="https://same-one.example/", title="Same", snippet="A hit")]


@hookimpl
def webfetch_search_engines():
    return [
        Provider(
            name="same",
            build=lambda settings, context: Same(),
            summary="A broken engine",
            traits=SearchTraits(network=False),
            timeout_s=1.0,
        )
    ]

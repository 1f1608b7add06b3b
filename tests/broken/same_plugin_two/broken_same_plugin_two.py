"""One of two distributions that give the plugin name ``same_plugin``."""

from webfetch_core.api import Provider, SearchHit, SearchTraits, hookimpl


class Same:
    def search(self, request):
        return [SearchHit(url="https://twin-two.example/", title="Twin", snippet="A hit")]


@hookimpl
def webfetch_search_engines():
    return [
        Provider(
            name="twin_two",
            build=lambda settings, context: Same(),
            summary="A broken engine",
            traits=SearchTraits(network=False),
            timeout_s=1.0,
        )
    ]

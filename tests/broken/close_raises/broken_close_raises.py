"""A plugin whose engine works and fails to close."""

from webfetch_core.api import Provider, SearchHit, SearchTraits, hookimpl


class Stubborn:
    def search(self, request):
        return [SearchHit(url="https://stubborn.example/", title="Stubborn", snippet="A hit")]

    def close(self):
        raise SystemExit("it does not close")


@hookimpl
def webfetch_search_engines():
    return [
        Provider(
            name="close_raises",
            build=lambda settings, context: Stubborn(),
            summary="A broken engine",
            traits=SearchTraits(network=False),
            timeout_s=1.0,
        )
    ]

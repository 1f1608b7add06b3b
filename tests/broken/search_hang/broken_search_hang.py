"""A plugin whose engine never answers."""

import time

from webfetch_core.api import Provider, SearchTraits, hookimpl


class Hang:
    def search(self, request):
        while True:
            time.sleep(1)


@hookimpl
def webfetch_search_engines():
    return [
        Provider(
            name="search_hang",
            build=lambda settings, context: Hang(),
            summary="A broken engine",
            traits=SearchTraits(network=False),
            timeout_s=1.0,
        )
    ]

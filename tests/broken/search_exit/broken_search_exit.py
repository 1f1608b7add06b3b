"""A plugin whose engine ends the program."""

import sys

from webfetch_core.api import Provider, SearchTraits, hookimpl


class Exit:
    def search(self, request):
        sys.exit(5)


@hookimpl
def webfetch_search_engines():
    return [
        Provider(
            name="search_exit",
            build=lambda settings, context: Exit(),
            summary="A broken engine",
            traits=SearchTraits(network=False),
            timeout_s=1.0,
        )
    ]

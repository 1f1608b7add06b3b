"""A plugin whose hook never returns."""

import time

from webfetch_core.api import hookimpl


@hookimpl
def webfetch_search_engines():
    while True:
        time.sleep(1)

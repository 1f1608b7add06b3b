"""How the browser is started: what it may do, and above all what it may not. Pure."""

from __future__ import annotations

from collections.abc import Mapping

SWITCHES = (
    # One way out, and no other: no names are resolved, no datagrams sent, nobody is passed by.
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
    # Nothing of its own accord.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
    "--disable-breakpad",
    "--disable-crash-reporter",
    # No devices, no images, no sound.
    "--disable-gpu",
    "--disable-notifications",
    "--mute-audio",
    "--blink-settings=imagesEnabled=false",
    # A page of more than half a gigabyte of script objects is no page.
    "--js-flags=--max-old-space-size=512",
)

_PASSED_ON = frozenset({"PATH", "HOME", "LANG", "LANGUAGE", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "TZ"})
_PASSED_ON_PREFIXES = ("LC_", "XDG_", "FONTCONFIG_", "LD_LIBRARY_PATH")


def browser_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the browser sees of the environment: no keys, no proxies."""
    return {
        name: value
        for name, value in environ.items()
        if name in _PASSED_ON or name.startswith(_PASSED_ON_PREFIXES)
    }


def wants_sandbox(setting: str, user_id: int | None) -> bool:
    """Whether to start with Chromium's sandbox, which root cannot have.

    Args:
        setting: ``auto``, ``on`` or ``off``.
        user_id: the effective one; None where the system has none.
    """
    return user_id != 0 if setting == "auto" else setting == "on"


def plain_agent(version: str, own: str) -> str:
    """The agent string to show: the browser's own, without the word that tells there is no window.

    Args:
        version: of the browser, as ``156.0.8078.114``.
        own: its own agent string, or empty when it is not known.
    """
    if own:
        return own.replace("HeadlessChrome/", "Chrome/")
    major = version.partition(".")[0]
    return (
        f"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"Chrome/{major}.0.0.0 Safari/537.36"
    )

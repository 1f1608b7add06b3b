"""The guard: what is refused, what is let through, and that neither can be talked round."""

from __future__ import annotations

import json
import socket
import threading
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webfetch_core.errors import Refused, TimedOut, Unavailable
from webfetch_core.runtime.addresses import is_public, parse_number_host
from webfetch_core.runtime.netguard import Guard, Policy, ascii_host, parse_url

PUBLIC = "93.184.216.34"
CASES = Path(__file__).parents[4] / "shared" / "cases" / "inputs"


def resolver(*addresses: str, **by_name: list[str]) -> Any:
    def resolve(host: str, port: int, family: int, kind: int) -> list[tuple[Any, ...]]:
        return [
            (socket.AF_INET, kind, 6, "", (ip, port))
            for ip in by_name.get(host.split(".")[0], list(addresses))
        ]

    return resolve


def guard(*allow: str, resolve: Any = None, vetoes: Any = None, **policy: Any) -> Guard:
    return Guard(Policy(allow_hosts=allow, **policy), resolve=resolve or resolver(PUBLIC), vetoes=vetoes)


PRIVATE_V4 = [
    "10.0.0.0/8",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "100.64.0.0/10",
    "0.0.0.0/8",
    "192.0.0.0/24",
    "198.18.0.0/15",
    "224.0.0.0/4",
    "240.0.0.0/4",
]


def private_v4() -> st.SearchStrategy[IPv4Address]:
    return st.sampled_from(PRIVATE_V4).flatmap(
        lambda text: st.integers(0, IPv4Network(text).num_addresses - 1).map(
            lambda n: IPv4Network(text).network_address + n
        )
    )


EMBEDDINGS = {
    "mapped": lambda v: 0xFFFF << 32 | v,
    "translated": lambda v: 0xFFFF << 48 | v,
    "compatible": lambda v: v,
    "nat64": lambda v: 0x64FF9B << 96 | v,
    "nat64 local": lambda v: 0x64FF9B0001 << 80 | v,
    "6to4": lambda v: 0x2002 << 112 | v << 80 | 1,
    "teredo server": lambda v: 0x20010000 << 96 | v << 64,
    "teredo client": lambda v: 0x20010000 << 96 | 0x08080808 << 64 | (v ^ 0xFFFFFFFF),
    "isatap": lambda v: 0x2606_4700 << 96 | 0x5EFE << 32 | v,
    "isatap global": lambda v: 0x2606_4700 << 96 | 0x0200_5EFE << 32 | v,
}


@pytest.mark.parametrize("form", EMBEDDINGS)
@given(v4=private_v4())
@settings(deadline=None, max_examples=60)
def test_no_embedding_hides_a_private_address(form: str, v4: IPv4Address) -> None:
    ip = IPv6Address(EMBEDDINGS[form](int(v4)))
    assert not is_public(ip)
    with pytest.raises(Refused):
        guard().check(f"http://[{ip}]/")
    with pytest.raises(Refused):
        guard(resolve=resolver(PUBLIC, str(ip))).check("http://name.example/")


@pytest.mark.parametrize("form", ["mapped", "nat64", "6to4", "isatap"])
def test_a_public_address_stays_public_when_embedded(form: str) -> None:
    assert is_public(IPv6Address(EMBEDDINGS[form](int(IPv4Address("93.184.216.34")))))


def spellings(v4: IPv4Address) -> list[str]:
    n, b = int(v4), v4.packed
    return [
        str(n),
        hex(n),
        f"0{n:o}",
        f"0X{n:X}",
        ".".join(hex(x) for x in b),
        ".".join(f"0{x:o}" for x in b),
        f"{b[0]}.{n & 0xFFFFFF}",
        f"{b[0]}.{b[1]}.{n & 0xFFFF}",
        f"{b[0]:#x}.{b[1]}.0{b[2]:o}.{b[3]}",
        f"{v4}.",
        "\u3002".join(map(str, b)),
        "".join(chr(0xFF10 + int(c)) if c.isdigit() else c for c in str(v4)),
    ]


@given(v4=private_v4())
@settings(deadline=None, max_examples=100)
def test_no_spelling_hides_a_private_address(v4: IPv4Address) -> None:
    for host in spellings(v4):
        with pytest.raises(Refused):
            guard().check(f"http://{host}/")


@given(n=st.integers(0, 2**32 - 1))
@settings(deadline=None)
def test_number_hosts_are_read_as_inet_aton_reads_them(n: int) -> None:
    for host in spellings(IPv4Address(n))[:9]:
        assert parse_number_host(host) == IPv4Address(socket.inet_aton(host)) == IPv4Address(n)


@pytest.mark.parametrize(
    "host", ["256.1.1.1", "1.2.3.4.5", "08.1.1.1", "1.2.3.0x", "0x1ffffffff", "a.1", "1..1"]
)
def test_half_numeric_hosts_fail_closed(host: str) -> None:
    asked: list[str] = []
    with pytest.raises(Refused):
        guard(resolve=lambda h, *a: asked.append(h) or []).check(f"http://{host}/")
    assert asked == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "http://",
        "http:///etc/passwd",
        "//host.example/",
        "host.example",
        "file:///etc/hosts",
        "ftp://t.example/x",
        "gopher://127.0.0.1:6379/_x",
        "data:text/html,hi",
        "javascript:alert(1)",
        "local:docs/a.md",
        "ws://t.example/",
        "http://[::1",
        "http://[::1]x/",
        "http://[fe80::1%25eth0]/",
        "http://user:pw@t.example/",
        "http://@t.example/",
        "http://good.example@127.0.0.1/",
        "http://127.0.0.1:80@127.0.0.1/",
        "http://t.example\\@127.0.0.1/",
        "http:\\\\t.example/",
        "http://t.example/a b",
        " http://t.example/",
        "http://t.example/\n",
        "http://t.ex\tample/",
        "http://t.example/\x00",
        "http://t.example/\u2028",
        "http://127%2e0.0.1/",
        "http://t.example:0/",
        "http://t.example:99999/",
        "http://t.example:8o/",
        "http://t..example/",
        "http://-t.example/",
        "http://t_.exa mple/",
        "http://t.example/\ud800",
        "http://" + "a" * 64 + ".example/",
        "http://t.example/" + "a" * 9000,
    ],
)
def test_what_is_no_plain_web_url_is_refused(url: str) -> None:
    with pytest.raises(Refused):
        guard().check(url)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "a.localhost",
        "localhost.",
        "127.1",
        "0",
        "[::]",
        "[::1]",
        "169.254.169.254",
        "100.100.100.200",
        "168.63.129.16",
        "[fd00:ec2::254]",
        "metadata.google.internal",
        "192.0.0.170",
        "255.255.255.255",
        "[ff02::1]",
        "[fec0::1]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[100::1]",
        "[64:ff9b:1::1]",
        "[5f00::1]",
    ],
)
def test_special_hosts_are_refused(host: str) -> None:
    with pytest.raises(Refused):
        guard().check(f"http://{host}/")


@pytest.mark.parametrize(
    "url",
    [
        "http://172.32.0.1/",
        "http://11.0.0.1/",
        "http://100.128.0.1/",
        "http://192.169.1.1/",
        "http://9.255.255.255/",
        "https://10.example/",
        "https://example.org/?u=http://127.0.0.1/",
        "http://[2606:4700:4700::1111]/",
        "http://127.0.0.1.example/",
        "http://localhost.example/",
        "http://198.20.0.1/",
        "http://223.255.255.254/",
        "https://t.example:8443/",
        "http://134744072/",
    ],
)
def test_public_neighbours_are_let_through(url: str) -> None:
    assert guard().check(url).url


def test_a_checked_target_says_all_there_is_to_connect() -> None:
    target = guard(resolve=resolver("93.184.216.34", "2606:4700::1")).check(
        "HTTPS://B\u00fccher.Example.:443/a/\u00e9?q=1|2&x=%20#frag"
    )
    assert target.url == "https://xn--bcher-kva.example/a/%C3%A9?q=1|2&x=%20"
    assert (target.scheme, target.host, target.ip, target.port) == (
        "https",
        "xn--bcher-kva.example",
        "93.184.216.34",
        443,
    )
    assert target.others == ("2606:4700::1",)
    assert guard().check("http://[2606:4700:0::0:1]:8080/").netloc == "[2606:4700::1]:8080"


def test_letters_that_old_idna_folds_keep_their_own_host() -> None:
    assert ascii_host("stra\u00dfe.example") == "xn--strae-oqa.example"
    assert ascii_host("\uff25xample\u3002org") == "example.org"


def test_every_answer_must_be_public_and_is_asked_for_once() -> None:
    calls: list[str] = []

    def resolve(host: str, port: int, family: int, kind: int) -> list[tuple[Any, ...]]:
        calls.append(host)
        return [(0, 0, 0, "", (ip, port)) for ip in (["93.184.216.34"] if len(calls) == 1 else ["10.0.0.1"])]

    assert guard(resolve=resolve).check("http://rebind.example/").ip == "93.184.216.34"
    assert calls == ["rebind.example"]
    with pytest.raises(Refused):
        guard(resolve=resolver("93.184.216.34", "10.0.0.8")).check("http://mixed.example/")
    with pytest.raises(Refused):
        guard(resolve=resolver("fe80::1%eth0")).check("http://scoped.example/")
    with pytest.raises(Refused):
        guard(resolve=resolver("not an address")).check("http://odd.example/")


def test_a_refusal_does_not_tell_the_resolved_address() -> None:
    with pytest.raises(Refused) as caught:
        guard(resolve=resolver("10.11.12.13")).check("http://inside.example/?token=s3cret")
    assert "10.11.12.13" not in str(caught.value) and "s3cret" not in str(caught.value)
    assert "inside.example" in str(caught.value) and "net.allow_hosts" in str(caught.value)


# ---- what the operator may open ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("allow", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:38123/"),
        ("127.0.0.1", "http://localhost:38123/"),
        ("127.0.0.1", "http://[::ffff:127.0.0.1]/"),
        ("localhost", "http://localhost:1/"),
        ("intra.example", "http://INTRA.example:9000/"),
        ("10.0.0.0/8", "http://intra.example/"),
        ("[::1]", "http://[::1]:5000/"),
        ("::1", "http://[::1]:5000/"),
        ("127.0.0.1:5000", "http://127.0.0.1:5000/"),
        ("[::1]:5000", "http://[::1]:5000/"),
        ("2130706433", "http://127.0.0.1/"),
        ("169.254.169.254", "http://169.254.169.254/"),
    ],
)
def test_allow_hosts_opens(allow: str, url: str) -> None:
    assert guard(allow, resolve=resolver("10.1.2.3")).check(url).ip


@pytest.mark.parametrize(
    ("allow", "url"),
    [
        ("127.0.0.1", "http://127.0.0.2/"),
        ("127.0.0.1:5000", "http://127.0.0.1:5001/"),
        ("intra.example", "http://sub.intra.example/"),
        ("0.0.0.0/0", "http://169.254.169.254/"),
        ("10.1.0.0/16", "http://both.example/"),
    ],
)
def test_allow_hosts_opens_no_more_than_it_says(allow: str, url: str) -> None:
    with pytest.raises(Refused):
        guard(allow, resolve=resolver("10.1.2.3", "10.2.2.3")).check(url)


def test_an_entry_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ValueError, match="no host"):
        guard("no host")


def test_trusted_hosts_may_be_private_on_their_own_port() -> None:
    trusted = frozenset({("searx.internal", 8888), ("127.0.0.1", 4000)})
    inside = guard(resolve=resolver("10.0.0.5"))
    assert inside.check("http://searx.internal:8888/search", trusted=trusted).ip == "10.0.0.5"
    assert inside.check("http://127.0.0.1:4000/", trusted=trusted).port == 4000
    for url in ("http://searx.internal/", "http://127.0.0.1:4001/", "http://other.internal:8888/"):
        with pytest.raises(Refused):
            inside.check(url, trusted=trusted)


def test_ports_outside_the_list_are_refused_by_name() -> None:
    with pytest.raises(Refused, match="port 6379") as caught:
        guard().check("http://t.example:6379/")
    assert "net.ports" in caught.value.fix
    assert guard(ports=(6379,)).check("http://t.example:6379/").port == 6379


# ---- vetoes and the resolver ---------------------------------------------------------------------


def test_a_veto_refuses_and_so_does_a_broken_one() -> None:
    def broken(url: str) -> str | None:
        raise RuntimeError("boom")

    with pytest.raises(Refused, match="on the list"):
        guard(vetoes=lambda url: "on the list" if "bad" in url else None).check("http://bad.example/")
    with pytest.raises(Refused, match="RuntimeError"):
        guard(vetoes=broken).check("http://t.example/")
    with pytest.raises(Refused):
        guard(vetoes=lambda url: "").check("http://t.example/")  # an empty reason is a reason
    assert guard(vetoes=lambda url: None).check("http://t.example/")


def test_vetoes_also_hold_for_trusted_hosts() -> None:
    with pytest.raises(Refused):
        guard(vetoes=lambda url: "no").check("http://t.example/", trusted=frozenset({("t.example", 80)}))


def test_a_resolver_that_hangs_costs_no_more_than_its_time() -> None:
    release = threading.Event()
    try:
        with pytest.raises(TimedOut, match=r"slow\.example"):
            guard(resolve=lambda *a: release.wait(5)).check("http://slow.example/", timeout_s=0.05)
    finally:
        release.set()


def test_a_name_without_an_address_is_unavailable() -> None:
    def fails(*_: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(Unavailable, match=r"gone\.example"):
        guard(resolve=fails).check("http://gone.example/")
    with pytest.raises(Unavailable):
        guard(resolve=resolver()).check("http://none.example/")


@given(st.text(max_size=60))
@settings(deadline=None, max_examples=300)
def test_any_text_is_judged_without_another_exception(text: str) -> None:
    for url in (
        text,
        f"http://{text}",
        f"http://{text}/x",
        f"https://[{text}]/",
        f"http://t.example:{text}/",
    ):
        try:
            target = parse_url(url)
        except Refused:
            continue
        assert target.url.isascii() and parse_url(target.url).url == target.url  # normalising is stable
        assert parse_url(target.url).host == target.host


# ---- recorded inputs -----------------------------------------------------------------------------


def recorded() -> list[str]:
    return sorted(p.parent.name for p in CASES.glob("*/urls.json"))


@pytest.mark.skipif(not CASES.is_dir(), reason="the recorded inputs are not beside this repository")
def test_recorded_urls() -> None:
    assert recorded()
    for case in recorded():
        urls = json.loads((CASES / case / "urls.json").read_text(encoding="utf-8"))
        for url in urls["refuse"]:
            with pytest.raises(Refused):
                guard().check(url)
        for url in urls["allow"]:
            assert guard().check(url), (case, url)

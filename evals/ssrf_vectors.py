"""What must not be reached, in every spelling that a URL parser, a resolver or a browser takes."""

# ruff: noqa: E501, SIM905

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address
from typing import Any

PUBLIC = "93.184.216.34"
PUBLIC_V6 = "2606:4700:4700::1111"

PRIVATE_V4 = (
    "127.0.0.1 127.1.2.3 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 "
    "192.168.255.255 169.254.169.254 169.254.170.2 100.64.0.1 100.100.100.200 192.0.0.192 192.0.0.1 "
    "198.18.0.1 198.19.255.255 0.0.0.0 0.1.2.3 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 "
    "192.0.2.1 198.51.100.1 203.0.113.1 192.88.99.1 168.63.129.16"
).split()
PRIVATE_V6 = (
    ":: ::1 ::2 fe80::1 fe80::5efe:808:808 fc00::1 fd00::5 fd00:ec2::254 fd20:ce::254 fec0::1 ff02::1 ff0e::1 "
    "100::1 2001:db8::1 3fff::1 2001:2::1 2001:10::1 2001:20::1 5f00::1 64:ff9b:1::1 64:ff9b:1::808:808 4000::1"
).split()
METADATA_NAMES = (
    "metadata metadata.google.internal METADATA.google.INTERNAL metadata.google.internal. instance-data "
    "instance-data.ec2.internal"
).split()
LOOPBACK_NAMES = (
    "localhost LOCALHOST localhost. a.localhost a.b.LocalHost localhost.localdomain ip6-localhost lvh.example "
    "127.0.0.1.rebind.example \u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3 \uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54 "
    "local\u3002host.localhost"
).split()
SCHEMES = (
    "file:///etc/hosts file://127.0.0.1/etc/hosts ftp://127.0.0.1/x gopher://127.0.0.1:6379/_x dict://127.0.0.1:11211/ "
    "ldap://127.0.0.1/ tftp://127.0.0.1/x sftp://127.0.0.1/ jar:http://127.0.0.1!/ netdoc:///etc/hosts phar:///tmp/x "
    "data:text/html,hi javascript:alert(1) about:blank chrome://version view-source:http://127.0.0.1/ "
    "blob:http://127.0.0.1/x ws://127.0.0.1/ wss://127.0.0.1/ urn:x:y local:notes/a.md ://127.0.0.1/"
).split()
MALFORMED = (
    "http://", "http:///etc/passwd", "http:127.0.0.1", "http:/127.0.0.1/", "http:///127.0.0.1/", "//127.0.0.1/",
    "http://[::1", "http://::1/", "http://[127.0.0.1]/", "http://[::1]a/", "http://[fe80::1%25eth0]/", "http://[::1%25lo]/",
    "http://[v1.127.0.0.1]/", "http://user:pw@127.0.0.1/", "http://good.example@127.0.0.1/",
    "http://127.0.0.1:80@127.0.0.1/", "http://127.0.0.1@good.example/", "http://@127.0.0.1/",
    "http://good.example\\@127.0.0.1/", "http:\\\\127.0.0.1\\", "http://127.0.0.1\\.good.example/",
    "http://good.example%40127.0.0.1/", "http://%31%32%37.0.0.1/", "http://127.0.0.1%00.good.example/",
    "http://good.example\t@127.0.0.1/", "http://127.0.0.1\n.good.example/", "http://good.example\x00.x/",
    "http:// 127.0.0.1/", "http://127.0.0.1 .good.example/", "http://127..0.1/", "http://.127.0.0.1/", "http://a..b/",
    "http://127.0.0.1:/x@y:80:90/", "http://good.example:80:80/", "http://good.example:-1/", "http://good.example:0/",
    "http://good.example:65536/", "http://good.example:99999/", "http://good.example:x/", "http://0x/", "http://08/",
    "http://256.256.256.256/", "http://1.2.3.4.5/", "http://4294967296/", "http://0x100000000/",
    "http://127.0.0.0x/", "http://127.0.0.08/", "http://" + "a" * 64 + ".example/", "http://" + "a." * 130 + "b/",
    "http://good.example/" + "x" * 9_000, "http://exa\u200bmple.org\u2028/", "http://good.example\u3000/",
)  # fmt: skip
PORTS = tuple(
    f"http://good.example:{port}/" for port in (1, 22, 23, 25, 110, 3306, 5432, 6379, 9200, 11211, 27017)
)

_FULLWIDTH = str.maketrans(
    "0123456789.", "\uff10\uff11\uff12\uff13\uff14\uff15\uff16\uff17\uff18\uff19\uff0e"
)
_CIRCLED = str.maketrans("123456789", "\u2460\u2461\u2462\u2463\u2464\u2465\u2466\u2467\u2468")
_BOLD = str.maketrans("0123456789", "".join(chr(0x1D7CE + n) for n in range(10)))


def spellings(text: str) -> Iterator[str]:
    """An IPv4 address as hosts of a URL."""
    address = IPv4Address(text)
    a, b, c, d = address.packed
    whole = int(address)
    yield text
    yield f"{text}."
    yield from (
        str(whole),
        f"0x{whole:x}",
        f"0X{whole:08X}",
        f"0{whole:o}",
        f"0x{whole:020x}",
        f"000{whole:o}",
    )
    yield ".".join(f"0x{part:x}" for part in (a, b, c, d))
    yield ".".join(f"0{part:o}" for part in (a, b, c, d))
    yield ".".join(f"{part:#04x}" if at % 2 else f"{part:04o}" for at, part in enumerate((a, b, c, d)))
    yield f"{a}.{b}.{(c << 8) + d}"
    yield f"{a}.{(b << 16) + (c << 8) + d}"
    yield f"0x{a:x}.0{b:o}.{(c << 8) + d}"
    yield from (text.translate(_FULLWIDTH), text.translate(_CIRCLED), text.translate(_BOLD))
    yield text.replace(".", "\u3002")
    yield text.replace(".", "\uff61")


def carriers(text: str) -> Iterator[str]:
    """IPv6 addresses that stand for, or are routed to, an IPv4 address."""
    address = IPv4Address(text)
    v4 = int(address)
    high, low = v4 >> 16, v4 & 0xFFFF
    yield f"::ffff:{text}"
    yield f"::ffff:{high:x}:{low:x}"
    yield f"0:0:0:0:0:FFFF:{text}"
    yield f"::ffff:0:{text}"
    yield f"64:ff9b::{text}"
    yield f"64:ff9b:1::{text}"
    yield f"2002:{high:x}:{low:x}::"
    yield f"2002:{high:x}:{low:x}::1"
    yield f"2001:470:1:2:0:5efe:{high:x}:{low:x}"
    yield f"2001:470:1:2:200:5efe:{high:x}:{low:x}"
    yield str(IPv6Address((0x20010000 << 96) | (v4 << 64) | 0xF7F7F7F7))  # Teredo, its server
    yield str(IPv6Address((0x20010000 << 96) | (0x08080808 << 64) | (v4 ^ 0xFFFFFFFF)))  # Teredo, its client
    if v4 > 0xFFFF:
        yield f"::{text}"
        yield f"::{high:x}:{low:x}"


def refused(port: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """URLs by group, and the DNS records that some of them need. ``port`` is the canary's, and allowed."""
    records: dict[str, list[str]] = {}

    def named(*answers: str) -> str:
        host = f"n{len(records)}.vector.example"
        records[host] = list(answers)
        return f"http://{host}:{port}/"

    for host in ("localhost.localdomain", "ip6-localhost", "lvh.example", "127.0.0.1.rebind.example"):
        records[host] = ["127.0.0.1"]
    embedded = [address for v4 in PRIVATE_V4 for address in carriers(v4)]
    groups = {
        "v4_spellings": [f"http://{host}:{port}/" for v4 in PRIVATE_V4 for host in spellings(v4)],
        "v4_default_port": [
            f"http://{host}/latest/meta-data/" for v4 in PRIVATE_V4 for host in spellings(v4)
        ],
        "v6_special": [f"http://[{v6}]:{port}/" for v6 in PRIVATE_V6],
        "v6_carriers": [f"https://[{v6}]:{port}/" for v6 in embedded],
        "dns_answers": [named(address) for address in (*PRIVATE_V4, *PRIVATE_V6, *embedded)],
        "dns_one_of_many": [
            url
            for address in (
                "127.0.0.1",
                "10.0.0.8",
                "169.254.169.254",
                "::1",
                "::ffff:10.0.0.1",
                "64:ff9b::a00:1",
            )
            for url in (named(PUBLIC, address), named(address, PUBLIC), named(PUBLIC_V6, PUBLIC, address))
        ],
        "metadata_names": [f"http://{name}/computeMetadata/v1/" for name in METADATA_NAMES],
        "loopback_names": [f"http://{name}:{port}/" for name in LOOPBACK_NAMES],
        "schemes": list(SCHEMES),
        "malformed": list(MALFORMED),
        "ports": list(PORTS),
    }
    return groups, records


def allowed() -> list[tuple[str, str]]:
    """(URL, address that it is connected to): the public next to the private, and text that only looks alike."""
    found: list[tuple[str, str]] = []
    for v4 in (
        "9.255.255.255 11.0.0.0 11.0.0.1 126.255.255.255 128.0.0.1 172.15.255.255 172.32.0.0 172.32.0.1 192.167.255.255 "
        "192.169.0.0 192.169.1.1 100.63.255.255 100.128.0.0 100.128.0.1 169.253.255.255 169.255.0.0 198.17.255.255 "
        "198.20.0.0 192.0.1.0 192.0.3.0 198.51.99.255 203.0.114.0 223.255.255.255 1.1.1.1 8.8.8.8"
    ).split():
        found += [(f"http://{v4}/", v4), (f"http://{int(IPv4Address(v4))}/", v4)]
    for v6 in (
        "2606:4700:4700::1111",
        "2001:4860:4860::8888",
        "2a00:1450:4001::1",
        "2002:808:808::1",
        "2400::1",
    ):
        found.append((f"http://[{v6}]/", v6))
    found += [(f"http://[{v6}]/", v6) for v6 in ("::ffff:808:808", "64:ff9b::808:808")]
    names = (
        "example.org EXAMPLE.org example.org. 10.example 127.0.0.1.example localhost.example metadata.example "
        "xn--mnchen-3ya.example m\u00fcnchen.example stra\u00dfe.example \u4f8b\u3048.example a_b.example 0x7f.example"
    ).split()
    found += [(f"https://{name}/", PUBLIC) for name in names]
    found += [
        ("HTTP://example.org:8080/a?b=c#d", PUBLIC),
        ("https://example.org:8443/", PUBLIC),
        ("https://example.org/?u=http://127.0.0.1/", PUBLIC),
        ("https://example.org/http://169.254.169.254/", PUBLIC),
        ("https://example.org/a@127.0.0.1/", PUBLIC),
        ("https://example.org/#@127.0.0.1/", PUBLIC),
        ("https://example.org/%00%0d%0a", PUBLIC),
        ("https://example.org/caf\u00e9?q=\u6c34", PUBLIC),
    ]
    return found


def case_urls(folder: Any) -> tuple[list[str], list[str], dict[str, list[str]]]:
    """Refused and allowed URLs, and DNS records, of hand cases in ``folder`` (``urls.json``, ``dns.json``)."""
    import json

    refuse, allow, records = [], [], {}
    for case in sorted(folder.iterdir()) if folder.is_dir() else ():
        expected = case / "expected.json"
        if not expected.is_file() or '"ssrf' not in expected.read_text(encoding="utf-8"):
            continue
        if (case / "urls.json").is_file():
            listed = json.loads((case / "urls.json").read_text(encoding="utf-8"))
            refuse += listed["refuse"]
            allow += listed["allow"]
        if (case / "dns.json").is_file():
            script = json.loads((case / "dns.json").read_text(encoding="utf-8"))
            refuse += script["urls"]
            for name, rows in script["records"].items():
                found = [*rows.get("A", ()), *rows.get("AAAA", ())]
                records[name] = found or ["127.0.0.1", "::1"]
    return refuse, allow, records

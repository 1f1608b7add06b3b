"""Decoding: every coding, every way it is got wrong, and bombs that stop at the count."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webfetch_core.errors import PageError, TimedOut
from webfetch_core.runtime import http_body
from webfetch_core.runtime.http_body import accept_encoding, decoded, gather, paced

NEVER = float("inf")


def still() -> float:
    return 0.0


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


def brotli_of(data: bytes) -> bytes:
    return bytes(pytest.importorskip("brotli").compress(data, quality=3))


def zstd_of(data: bytes) -> bytes:
    return bytes(pytest.importorskip("zstandard").ZstdCompressor().compress(data))


ENCODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "deflate, raw": raw_deflate,
    "br": brotli_of,
    "zstd": zstd_of,
}


def cut(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def read(pieces: Iterator[bytes], encoding: str, max_bytes: int = 10**9) -> bytes:
    return gather(decoded(pieces, encoding.split(", raw")[0]), max_bytes=max_bytes, deadline=NEVER, now=still)


@pytest.mark.parametrize("encoding", ENCODERS)
@given(data=st.binary(max_size=5000), size=st.integers(1, 700), times=st.integers(1, 60))
@settings(deadline=None, max_examples=25)
def test_what_was_encoded_comes_back(encoding: str, data: bytes, size: int, times: int) -> None:
    whole = data * times
    assert read(cut(ENCODERS[encoding](whole), size), encoding) == whole


def test_only_what_can_be_decoded_is_advertised(monkeypatch: pytest.MonkeyPatch) -> None:
    assert accept_encoding().split(", ")[:2] == ["gzip", "deflate"]
    monkeypatch.setattr(http_body, "_engines", dict)
    assert accept_encoding() == "gzip, deflate"
    with pytest.raises(PageError) as caught:
        read(iter([b"x"]), "zstd")
    assert caught.value.kind == "bad_encoding"


def test_a_brotli_that_cannot_be_bounded_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    class Old:
        class Decompressor:
            def process(self, data: bytes) -> bytes:
                raise AssertionError("unbounded")

    monkeypatch.setattr(http_body.importlib, "import_module", lambda name: Old)
    assert http_body._brotli_engine() is None


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_plain_body_that_claims_an_encoding_is_passed_on(encoding: str, size: int) -> None:
    plain = "<!doctype html><p>The lift holds 11 people, \u00e9l\u00e8ves included.</p>".encode() * 20
    assert read(cut(plain, size), encoding) == plain


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_an_empty_body_is_empty_in_any_encoding(encoding: str) -> None:
    assert read(iter([]), encoding) == b""
    assert read(iter([b"", b""]), encoding) == b""


@pytest.mark.parametrize(
    ("encoding", "make"), [("gzip", gzip.compress), ("zstd", zstd_of), ("br", brotli_of)]
)
def test_corrupt_data_is_bad_encoding(encoding: str, make: object) -> None:
    data = bytearray(make(bytes(range(256)) * 50))  # type: ignore[operator]
    at = {"gzip": 12, "zstd": 6, "br": 2}[encoding]
    data[at : at + 20] = b"\xff" * 20
    with pytest.raises(PageError) as caught:
        read(cut(bytes(data), 1000), encoding)
    assert caught.value.kind == "bad_encoding" and encoding in caught.value.message


def test_stacked_encodings_are_undone_in_order() -> None:
    assert read(cut(gzip.compress(zlib.compress(b"hello")), 3), "deflate, gzip") == b"hello"
    assert read(iter([b"hello"]), "identity") == b"hello"
    with pytest.raises(PageError) as caught:
        read(iter([b"x"]), ", ".join(["gzip"] * 6))
    assert caught.value.kind == "bad_encoding"


def test_unknown_codings_are_named() -> None:
    with pytest.raises(PageError, match="'compress'") as caught:
        read(iter([b"x"]), "compress")
    assert caught.value.kind == "bad_encoding"


def test_gzip_members_follow_each_other_and_trailing_bytes_are_ignored() -> None:
    two = gzip.compress(b"one") + gzip.compress(b"two")
    for size in (1, 5, 1000):
        assert read(cut(two + b"\0\0\0junk", size), "gzip") == b"onetwo"


def test_a_gzip_that_ends_early_gives_what_it_had() -> None:
    data = gzip.compress(b"a sentence that ends. " * 500)
    got = read(cut(data[:-9], 50), "gzip")
    assert got and (b"a sentence that ends. " * 500).startswith(got)


@pytest.mark.parametrize("encoding", ENCODERS)
@pytest.mark.parametrize("size", [7, 100_000])
def test_what_ends_before_its_end_says_so(encoding: str, size: int) -> None:
    data = "".join(f"line {n * n} of the ledger\n" for n in range(20_000)).encode()
    whole = ENCODERS[encoding](data)
    name = encoding.split(", raw")[0]
    heard: list[int] = []
    for length in (len(whole), len(whole) * 2 // 3):
        pieces = decoded(cut(whole[:length], size), name, cut_off=lambda: heard.append(1))
        text = gather(pieces, max_bytes=10**9, deadline=NEVER, now=still)
        assert data.startswith(text)
        assert bool(heard) == (length < len(whole)) == (text != data)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_an_empty_or_a_plain_body_is_not_cut_off(encoding: str) -> None:
    def cry() -> None:
        raise AssertionError("nothing is missing")

    for body in (b"", b"<p>plain text, mislabelled by a proxy</p>"):
        assert b"".join(decoded(iter([body] if body else []), encoding, cut_off=cry)) == body


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd"])
def test_a_bomb_stops_at_the_cap(encoding: str) -> None:
    bomb = ENCODERS[encoding](bytes(64 * 1024 * 1024))
    taken = 0

    def counted() -> Iterator[bytes]:
        nonlocal taken
        for piece in decoded(cut(bomb, 65536), encoding):
            taken += len(piece)
            assert len(piece) <= 9 * 1024 * 1024
            yield piece

    with pytest.raises(PageError) as caught:
        gather(counted(), max_bytes=1_000_000, deadline=NEVER, now=still)
    assert caught.value.kind == "too_large" and taken < 12 * 1024 * 1024


def test_the_wire_is_counted_and_timed() -> None:
    clock = iter([0.0, 1.0, 2.0, 99.0])
    with pytest.raises(TimedOut):
        list(paced(iter([b"x"] * 9), max_bytes=99, min_bytes_per_s=0, deadline=50.0, now=lambda: next(clock)))
    with pytest.raises(PageError) as caught:
        list(paced(iter([b"x" * 60] * 2), max_bytes=99, min_bytes_per_s=0, deadline=NEVER, now=still))
    assert caught.value.kind == "too_large"


def test_a_body_below_the_minimum_throughput_is_given_up_after_a_grace() -> None:
    ticks = iter(float(n) for n in range(100))
    seen = []
    with pytest.raises(TimedOut, match="slowly"):
        for piece in paced(
            iter([b"x" * 10] * 50),
            max_bytes=9999,
            min_bytes_per_s=100,
            deadline=NEVER,
            now=lambda: next(ticks),
        ):
            seen.append(piece)
    assert 2 <= len(seen) <= 4

"""Content-Encoding: every coding, every kind of damage, and bombs that must stay small."""

import gzip
import random
import tracemalloc
import zlib

import brotli
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.fetch.decode import CodingError, Damaged, TooLarge, decode
from recrawl.model import Limits

TEXT = b"".join(b"line %d of a page\n" % i for i in range(9_000))  # 160 kB
NOISE = random.Random(1).randbytes(50_000)
LIMITS = Limits(decoded=2_000_000)


def bare(data):
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


CODERS = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "identity": bytes,
}


@given(st.lists(st.sampled_from(sorted(CODERS)), max_size=3), st.binary(max_size=3_000), st.data())
def test_what_was_coded_in_order_comes_back(codings, body, data):
    wire = body
    for coding in codings:
        wire = CODERS[coding](wire)
    label = data.draw(st.sampled_from((", ", ",", " , "))).join(codings).swapcase()
    assert decode(label, wire, LIMITS) == (body, frozenset())


@pytest.mark.parametrize("body", [TEXT, NOISE, b"x"])
@pytest.mark.parametrize("coder", [gzip.compress, zlib.compress, bare])
def test_large_bodies_and_the_bare_deflate_stream(coder, body):
    assert decode("gzip" if coder is gzip.compress else "deflate", coder(body), LIMITS)[0] == body


def test_deflate_that_is_gzip():
    assert decode("deflate", gzip.compress(TEXT), LIMITS) == (TEXT, frozenset())


def test_members_of_a_gzip_body_are_joined():
    wire = gzip.compress(b"one ") + gzip.compress(b"two ") + gzip.compress(TEXT)
    assert decode("gzip", wire, LIMITS) == (b"one two " + TEXT, frozenset())


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_junk_after_the_end_is_dropped_and_marked(coding):
    wire = CODERS[coding](TEXT) + b"trailing garbage"
    assert decode(coding, wire, LIMITS) == (TEXT, {"trailing-data"})


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate"])
def test_a_plain_body_under_a_wrong_label_is_itself(coding):
    assert decode(coding, TEXT, LIMITS) == (TEXT, {"mislabelled-encoding"})


def test_an_unknown_coding_leaves_the_body():
    assert decode("lol", TEXT, LIMITS) == (TEXT, {"unknown-encoding"})
    wire = gzip.compress(b"\0secret")
    assert decode("lol, gzip", wire, LIMITS) == (b"\0secret", {"unknown-encoding"})
    assert decode("gzip, lol", wire, LIMITS) == (wire, {"unknown-encoding"})


def test_nothing_to_decode():
    assert decode("gzip", b"", LIMITS) == (b"", frozenset())
    assert decode("", TEXT, LIMITS) == (TEXT, frozenset())


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_cut_body_keeps_its_beginning(coding):
    wire = CODERS[coding](NOISE)
    with pytest.raises(Damaged, match="damaged or cut") as caught:
        decode(coding, wire[: len(wire) * 3 // 4], LIMITS)
    partial = caught.value.partial
    assert NOISE.startswith(partial) and len(partial) > 30_000
    assert caught.value.flags == {"truncated"}


def test_a_corrupt_body_keeps_what_came_before():
    wire = bytearray(gzip.compress(NOISE))
    wire[-8:-4] = b"\0\0\0\0"  # its checksum
    with pytest.raises(Damaged) as caught:
        decode("gzip", bytes(wire), LIMITS)
    assert NOISE.startswith(caught.value.partial)
    assert len(caught.value.partial) > 40_000


def test_too_many_layers():
    with pytest.raises(Damaged, match="4 layers"):
        decode("gzip, gzip, gzip, gzip", NOISE, LIMITS)


def bomb(coding, size):
    zeros = bytes(1_000_000)
    if coding == "br":
        engine = brotli.Compressor(quality=1)
        return b"".join(engine.process(zeros) for _ in range(size // 10**6)) + engine.finish()
    engine = zlib.compressobj(9, zlib.DEFLATED, 31 if coding == "gzip" else 15)
    return b"".join(engine.compress(zeros) for _ in range(size // 10**6)) + engine.flush()


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br"])
def test_a_bomb_is_refused_in_little_memory(coding):
    wire = bomb(coding, 20_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match="decoded-cap") as caught:
            decode(coding, wire, Limits(decoded=2_000_000, ratio=10**9))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_500_000
    assert caught.value.flags == {"decoded-cap"} and caught.value.partial == b""


def test_a_bomb_in_a_bomb_is_refused_at_each_layer():
    wire = gzip.compress(bomb("gzip", 20_000_000))
    assert len(wire) < 2_000
    with pytest.raises(TooLarge):
        decode("gzip, gzip", wire, LIMITS)


def test_the_ratio_is_judged_above_a_megabyte_only():
    wide = Limits(decoded=32_000_000, ratio=200)
    wire = bomb("gzip", 1_000_000)
    assert len(decode("gzip", wire, wide)[0]) == 1_000_000  # 1000 times, but small
    with pytest.raises(TooLarge, match="ratio-cap") as caught:
        decode("gzip", bomb("gzip", 3_000_000), wide)
    assert caught.value.flags == {"ratio-cap"}
    assert len(decode("gzip", bomb("gzip", 3_000_000), Limits(ratio=2_000))[0]) == 3_000_000


def test_a_body_of_exactly_the_cap_passes():
    assert len(decode("gzip", gzip.compress(TEXT), Limits(decoded=len(TEXT)))[0]) == len(TEXT)
    with pytest.raises(TooLarge):
        decode("gzip", gzip.compress(TEXT), Limits(decoded=len(TEXT) - 1))


@given(
    st.sampled_from(["gzip", "deflate", "br", "gzip, br", "x", ""]),
    st.binary(max_size=200),
    st.integers(1, 100),
)
def test_any_bytes_end_in_a_body_within_the_cap_or_a_coding_error(coding, wire, cap):
    try:
        body, _ = decode(coding, wire, Limits(decoded=cap))
    except CodingError as error:
        assert len(error.partial) <= cap
        assert str(error) and error.flags
    else:
        assert len(body) <= max(cap, len(wire))

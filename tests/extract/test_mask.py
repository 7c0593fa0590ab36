"""What is volatile is masked; what a page says stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.mask import masked

VOLATILE = [
    # dates
    "2026-11-30", "2026/11/30", "2026.11.30", "30.11.2026", "30/11/2026", "11/30/26", "30-11-2026",
    "30 November 2026", "30th of November 2026", "30. November 2026", "30 Nov 2026", "30-Nov-2026",
    "November 30, 2026", "Nov. 30, 2026", "Nov 30", "November 30th", "November 2026",
    "Monday, 30 November 2026", "Mon, 30 Nov 2026 18:04:05 GMT", "Monday, November 30, 2026",
    "30 de noviembre de 2026", "30 novembre 2026", "30 décembre 2026", "lunes 30 de noviembre",
    # times
    "18:04", "18:04:05", "6:04 pm", "06:04 p.m.", "18:04:05.123", "18:04 UTC", "18:04 CET",
    "2026-11-30T18:04:05Z", "2026-11-30 18:04:05+01:00", "2026-11-30, 18:04", "20261130T180405Z",
    "Mon 30 Nov 2026 18:04:05", "1764525845", "1764525845123",
    # ages
    "3 hours ago", "1 day ago", "45s ago", "an hour ago", "a few seconds ago", "just now",
    "about an hour ago", "vor 3 Stunden", "il y a 3 heures", "hace 3 horas", "3 uur geleden",
    # counters and measurements of the page itself
    "1,204 views", "12 visitors", "3 people viewing", "17 online", "1.2k likes", "Views: 1204",
    "0.123 seconds", "12.5 ms",
    # tokens
    "9f86d081884c7d659a2f", "9F86D081884C7D65", "9f86d081-884c-7d65-9a2f-eaa0c55ad015",
    "dGhpcyBpcyBhIHRva2VuIQ4x9Zq", "A8f-Kq2_xZ81bQw93LmN4pR7sT", "k3j4h5k2j3h4k5j2",
    "a1b2c3d4e5f6",
]  # fmt: skip

KEPT = [
    "129", "192", "12", "21", "129 EUR", "$1,299.00", "12.50", "2879.20", "-20 %", "1.5 kg",
    "3.11.12", "10.0.0.12", "v2", "x86", "B00005N5PF", "XPS13", "4K",
    "Windows11ProfessionalEdition",
    "12 reviews", "5 decks", "12 marbles", "may 129", "3 items",
    "9:00-17:00", "9:00 - 17:00", "9.00–17.00", "2 for 1", "100 m", "24/7", "1/2", "50/50",
    "+49 30 1234567", "ISBN 9783161484100", "Section 4.2.1", "1984", "Boeing 747", "3 days",
    "20 comments", "stock 5", "size 42", "Room 101", "internationalization",
    "Donaudampfschifffahrtsgesellschaft", "getElementById", "3.5 GHz", "page 3 of 12", "1e6",
]  # fmt: skip


@pytest.mark.parametrize("phrase", VOLATILE)
def test_the_volatile_is_masked_wherever_it_stands(phrase: str) -> None:
    for text in ("{}", "before {} after", "({})", "shown: {}, more", "end {}.", "é {} é"):
        said = masked(text.format(phrase).encode()).decode()
        assert not any(c.isdigit() for c in said), said
        assert "~" in said


@pytest.mark.parametrize("phrase", KEPT)
def test_what_a_page_says_is_kept(phrase: str) -> None:
    for text in ("{}", "before {} after", "costs {}, more", "end {}."):
        said = text.format(phrase)
        assert masked(said.encode()).decode() == said


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Updated Mon, 30 Nov 2026 18:04", "Updated Tue, 1 Dec 2026 9:12"),
        ("Posted May 3, 2026", "Posted June 12, 2026"),
        ("Posted 3 hours ago", "Posted a few seconds ago"),
        ("Posted just now", "Posted 12 minutes ago"),
        ("Sunday 5 July 2026", "Monday 6 July 2026"),
        ("token 9f86d081884c7d659a2f here", "token 0a1b2c3d4e5f60718293 here"),
        ('{"ts":1764525845,"price":12}', '{"ts":1764525999,"price":12}'),
        ("id:9f86d081-884c-7d65-9a2f-eaa0c55ad015", "id:0a86d081-884c-4d65-9a2f-eaa0c55ad999"),
    ],
)  # fmt: skip
def test_two_visits_that_differ_in_noise_agree(before: str, after: str) -> None:
    assert masked(before.encode()) == masked(after.encode())


WORDS = st.lists(
    st.sampled_from([*VOLATILE, *KEPT, "word", "Montag", "may", "ago", "vor", "views", "é", "~"]),
    max_size=12,
)


@given(WORDS)
def test_a_mask_never_adds_bytes_and_is_done_after_one_pass_of_dates(words: list[str]) -> None:
    text = " ".join(words).encode()
    once = masked(text)
    assert len(once) <= len(text)
    once.decode()


@given(st.text(max_size=200))
def test_any_text_can_be_masked(text: str) -> None:
    masked(text.encode())


@given(st.integers(0, 99_999), st.integers(0, 99_999), st.sampled_from(["EUR", "USD", "pieces"]))
def test_another_amount_is_another_text(a: int, b: int, unit: str) -> None:
    one, two = (masked(f"Now {n} {unit} each".encode()) for n in (a, b))
    assert (one == two) == (a == b)


@given(st.decimals(0, 100_000, places=2), st.decimals(0, 100_000, places=2))
def test_another_price_is_another_text(a: object, b: object) -> None:
    one, two = (masked(f"Price {n} EUR".encode()) for n in (a, b))
    assert (one == two) == (str(a) == str(b))


NEAR = ["hours", "of", "de", "to", "bis", "-", "people", "Sept.", "ago", "k", "il y a"]
AROUND = [*VOLATILE, *KEPT, *NEAR]


@given(st.lists(st.tuples(st.sampled_from(AROUND), st.sampled_from(" \n.,:(")), max_size=8))
def test_the_short_cut_for_plain_numbers_decides_as_the_long_way(
    words: list[tuple[str, str]],
) -> None:
    text = "".join(word + end + " " * (end != " ") for word, end in words).encode()
    short = masked(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recrawl.extract.mask._plain", lambda *_: 0)
        assert masked(text) == short

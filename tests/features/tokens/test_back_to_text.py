"""A text there and back: what is lost, in words and as a drawing."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.analysis.tokens import kinds
from contextlens.content.language import Claim
from contextlens.core import EncoderService
from contextlens.features.tokens.back_to_text import RoundTrip, there_and_back
from contextlens.features.tokens.rewriting import Change, Stretch
from tests.features.tokens.odd import odd_tokens
from tests.support.claims import read, unreached


def assert_back(claims: list[Claim], decoded: str, text: str, counts: dict[str, int]) -> None:
    first, *causes = claims
    case = first.key.rpartition(".")[2]
    assert (case == "empty") == (text == "")
    assert (case == "same") == (decoded == text != "")
    if case == "spaces":
        assert "".join(decoded.split()) == "".join(text.split())
        assert not any(counts.values())
    assert case != "nothing" or decoded == ""
    numbers = {claim.key.rpartition(".")[2]: claim.numbers["n"] for claim in causes}
    assert numbers == ({} if case in ("empty", "same") else {k: n for k, n in counts.items() if n})


def trip_of(decoded: str, text: str, *, rewritten: int, unknown: int, lost: int) -> RoundTrip:
    changes = [Change("other", "a", "b", rewritten)]
    return RoundTrip(text, decoded, changes, [Stretch("x" * lost, "lost")], unknown)


def test_every_claim_is_true_of_any_text_and_none_is_dead(tiny_service: EncoderService) -> None:
    keys: set[str] = set()
    for chance, model, tokens, vocabulary in odd_tokens(tiny_service, 500):
        decoded = tiny_service.decode(model, tokens.token_ids[tokens.text_ids == 0])
        counts = {
            "rewritten": chance.randrange(3),
            "unknown": kinds(tokens, vocabulary).count("unknown"),
            "lost": tokens.n_truncated,
        }
        trip = trip_of(decoded, tokens.text, **counts)
        assert len(trip.claims()) <= 3
        claims = [*trip.claims(), *trip.sure()]
        assert_back(claims, decoded, tokens.text, counts)
        keys |= read(claims)
    for n, decoded in ((1, "x"), (2, "")):
        trip = trip_of(decoded, "y", rewritten=n, unknown=n, lost=n)
        keys |= read([*trip.claims(), *trip.sure()])
    assert not unreached("tokens.back", keys)


def test_what_does_not_come_back_is_marked() -> None:
    parts = (("My ", "kept"), ("🐍", "unknown"), ("É", "rewritten"), (" lost", "lost"))
    drawing = there_and_back(parts, "my [UNK]e")
    typed, back = (each.itertext() for each in ET.fromstring(drawing).iter("p"))
    assert ("".join(typed), "".join(back)) == ("My 🐍É lost", "my [UNK]e")
    assert "<p>My <mark>🐍</mark><mark>É</mark><del> lost</del></p>" in drawing


@settings(deadline=None)
@given(text=st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn")), max_size=60))
def test_any_text_there_and_back_is_text(text: str) -> None:
    for hostile in (text, f"<b>{text}</b> {{0}} &amp;"):
        drawing = ET.fromstring(there_and_back([(hostile, "kept")], hostile))
        assert [each.text or "" for each in drawing.iter("p")] == [hostile, hostile]

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from components.corpus.store.run import cut_into_chunks, most_tokens

TEXTS = st.lists(st.text(max_size=80), max_size=60)


def pairs(texts: list[str]) -> list[tuple[str, None]]:
    return [(text, None) for text in texts]


@given(TEXTS, st.integers(4, 200))
def test_chunks_hold_every_text_once_and_in_order(texts: list[str], most: int) -> None:
    found = list(cut_into_chunks(pairs(texts), max_length=40, most=most))
    assert [text for chunk in found for text in chunk.texts] == texts
    assert [chunk.start for chunk in found] == [0, *(chunk.stop for chunk in found[:-1])][
        : len(found)
    ]


@given(TEXTS, st.integers(4, 200))
def test_a_chunk_depends_on_nothing_behind_it(texts: list[str], most: int) -> None:
    """So whoever goes on in the middle finds the same ones."""
    every = list(cut_into_chunks(pairs(texts), max_length=40, most=most))
    for n in range(0, len(texts), 7):
        begun = list(cut_into_chunks(pairs(texts[:n]), max_length=40, most=most))
        assert begun[:-1] == every[: max(0, len(begun) - 1)]


def test_long_texts_count_as_what_the_model_reads_of_them() -> None:
    texts = pairs(["x" * 100_000] * 10)
    assert [len(chunk.texts) for chunk in cut_into_chunks(texts, max_length=50, most=100)] == [
        2
    ] * 5


def test_a_script_without_ascii_takes_fewer_texts_at_once() -> None:
    chinese = list(cut_into_chunks(pairs(["蟒蛇在树上睡觉" * 10] * 50), max_length=512, most=1000))
    english = list(cut_into_chunks(pairs(["a snake sleeps" * 5] * 50), max_length=512, most=1000))
    assert len(chinese) > len(english)


def test_what_is_encoded_at_once_is_bounded_in_bytes() -> None:
    assert most_tokens(n_layers=7, n_dims=384) == 8192
    large = most_tokens(n_layers=25, n_dims=1024)
    assert large * 25 * 1024 * 4 <= 256_000_000

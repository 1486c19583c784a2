from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextlens.analysis.words import word_vectors
from contextlens.core import EncoderService
from contextlens.core.errors import CorpusError, RequestError
from contextlens.core.schema import Encoding
from contextlens.core.words import Span, split_words
from contextlens.corpus.store.rows import Chunk, mean_vectors, numbered, rows_of, words_of
from tests.support.corpus_store import MadeUpService, indexing
from tests.support.tiny_models import TYPICAL

TEXTS = (
    "A python slept; the bank's unbelievable umbrellas, don't they?",
    "  Two  spaces\tand a\u00a0tab…   ",
    "蟒蛇在树上睡觉",
    "งูหลามนอนหลับอยู่บนต้นไม้",
    "الثعبان نائم على الشجرة",
    "naïve café ½ x² 🐍🐍 e\u0301te\u0301 İstanbul ﬁnding Straße",
    "!!! ... ---",
    "word " * 100,
    "a" * 300,
    "[MASK] and [CLS] typed, </s> too",
    "\u200b\u200d",
)


def referee(encoding: Encoding, spans: list[Span]) -> dict[int, Any]:
    """The vectors by `word_vectors` of each span that has any."""
    found = {}
    for i, span in enumerate(spans):
        try:
            found[i] = word_vectors(encoding, span)
        except RequestError:
            continue
    return found


def agree(encoding: Encoding, spans: list[Span]) -> None:
    kept, vectors = mean_vectors(encoding, np.array(spans, np.int64).reshape(-1, 2))
    expected = referee(encoding, spans)
    assert kept.tolist() == list(expected)
    for place, i in enumerate(kept.tolist()):
        np.testing.assert_allclose(vectors[:, place], expected[i], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("family", TYPICAL)
def test_vectors_are_those_of_word_vectors_in_every_family(
    family: str, tiny_service: EncoderService
) -> None:
    for encoding in tiny_service.encode(f"folder:{family}", TEXTS):
        words = [word.span for word in words_of(encoding.text)]
        anywhere = [(a, b + 3) for a, b in words] + [(0, len(encoding.text))]
        agree(encoding, words)
        agree(encoding, anywhere)


def test_vectors_are_those_of_word_vectors_in_the_bundled_model(service: EncoderService) -> None:
    for encoding in service.encode("all-MiniLM-L6-v2", TEXTS, layers=[0, 3, 6]):
        agree(encoding, [word.span for word in words_of(encoding.text)])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=12), st.randoms())
def test_tokens_out_of_order_give_the_same_as_word_vectors(
    offsets: list[tuple[int, int]], random: Any
) -> None:
    """No known tokenizer does this, but a checkpoint's own rules may."""
    ordered = [tuple(sorted(pair)) for pair in offsets]
    text = "abc def ghi j"
    base = MadeUpService().encode("m", [text], layers=(0, 1))[0]
    n = len(ordered)
    rng = np.random.default_rng(random.randint(0, 10**6))
    encoding = replace(
        base,
        tokens=("x",) * n,
        offsets=np.array(ordered, np.int64).reshape(-1, 2),
        text_ids=rng.integers(-1, 2, n),
        hidden=rng.standard_normal((2, n, 4)).astype(np.float32),
    )
    spans = [(0, 3), (4, 7), (8, 11), (12, 13), (2, 9)]
    agree(encoding, spans)


# Words


def test_words_have_a_letter_or_a_digit() -> None:
    words = words_of("Well, 42 — _ 🐍 don't!")
    assert [(word.left, word.right) for word in words] == [
        ("", "42"),
        ("well", "don't"),
        ("42", ""),
    ]


@given(st.text(max_size=40))
def test_words_are_those_of_split_words(text: str) -> None:
    spans = [word.span for word in words_of(text)]
    assert spans == [s for s in split_words(text) if any(c.isalnum() for c in text[s[0] : s[1]])]


def test_a_target_that_is_no_word_is_one_more_in_its_place() -> None:
    text = "She lives in New York now"
    words = words_of(text, (13, 21))
    found = [text[slice(*word.span)] for word in words]
    assert found == ["She", "lives", "in", "New", "New York", "York", "now"]
    marked = next(word for word in words if word.span == (13, 21))
    assert (marked.left, marked.right) == ("in", "now")


@given(st.text(min_size=1, max_size=30), st.data())
def test_a_target_is_found_exactly_once(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    target = (start, data.draw(st.integers(start + 1, len(text))))
    spans = [word.span for word in words_of(text, target)]
    assert spans.count(target) == 1
    assert spans == sorted(spans)


# Rows


def test_rows_say_what_was_cut_and_are_numbered() -> None:
    texts = ("python " * 60, "...", "A bank")
    chunk = Chunk(7, texts, (None, None, (2, 6)))
    encodings = MadeUpService().encode("m", texts, layers=(0, 2))
    rows = numbered(rows_of(chunk, encodings, indexing()), 100).to_pydict()
    assert rows["row"] == list(range(100, 100 + len(rows["row"])))
    assert set(rows["text"]) == {7, 9}
    assert rows["word"].count("python") + sum(rows["cut"]) == 60
    assert rows["cut"][:-1] == [0] * (len(rows["cut"]) - 1)
    assert rows["is_target"] == [False] * (len(rows["row"]) - 1) + [True]


def test_a_chunk_without_a_word_has_no_rows() -> None:
    chunk = Chunk(0, ("...",), (None,))
    encodings = MadeUpService().encode("m", chunk.texts, layers=(0, 2))
    assert rows_of(chunk, encodings, indexing()).num_rows == 0


def test_vectors_that_do_not_fit_float16_are_refused() -> None:
    text = "python"
    base = MadeUpService().encode("m", [text], layers=(0, 2))[0]
    huge = replace(base, hidden=base.hidden * np.float32(1e6))
    with pytest.raises(CorpusError, match="cannot be stored"):
        rows_of(Chunk(0, (text,), (None,)), [huge], indexing())

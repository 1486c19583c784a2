"""What is in a corpus, as one digest, and what it takes in memory."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from components.corpus.corpus import Corpus

any_text = st.text(st.characters(exclude_categories=()), max_size=10)


@given(
    n=st.sampled_from([0, 1, 200, 201, 400]),
    text=any_text,
    labels=st.lists(any_text, unique=True, max_size=3),
)
def test_the_digest_is_that_of_its_json(n: int, text: str, labels: list[str]) -> None:
    texts = tuple(f"{text} {i}" for i in range(n))
    for spans in (None, ((0, 1),) * n):
        corpus = Corpus("name", texts, dict.fromkeys(labels, texts), spans=spans)
        content = [texts, dict.fromkeys(labels, texts), spans]
        packed = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        expected = hashlib.sha256(packed.encode("utf-8", "surrogatepass")).hexdigest()
        assert corpus.digest == expected


def test_the_same_texts_under_another_name_have_another_key() -> None:
    corpus = Corpus("mine.csv", ("a", "b"), {"kind": ("x", "y")})
    others = [replace(corpus, name="theirs.csv"), replace(corpus, notes=("1 row was left out.",))]
    assert {other.digest for other in others} == {corpus.digest}
    assert len({corpus.key, *(other.key for other in others)}) == 3
    assert replace(corpus).key == corpus.key


def test_a_text_that_repeats_counts_once_and_each_row_a_little() -> None:
    long = "x" * 100_000
    assert 100_000 < Corpus("name", (long,) * 1_000).n_bytes < 110_000
    assert Corpus("name", tuple(f"{i}{long}" for i in range(10))).n_bytes > 1_000_000

"""The points of a map: what they are, and that their vectors are the model's own."""

from __future__ import annotations

import numpy as np
import pytest

from contextlens.analysis.words import word_vectors
from contextlens.core import EncoderService, Encoding
from contextlens.core.errors import RequestError
from contextlens.core.words import split_words
from contextlens.maps.points import context
from contextlens.maps.vectors import SENTENCE_POOLINGS, gather, sentence_vectors

TEXTS = ("I love my pet python.", "I love coding in python, unbelievably!", "Ça va 👍🏽 mañana?")


@pytest.fixture(scope="module")
def encodings(service: EncoderService) -> list[Encoding]:
    return service.encode(service.models()[0].id, TEXTS)


def test_words_have_the_vectors_of_meaning_in_context(encodings: list[Encoding]) -> None:
    for pooling in ("mean", "first", "last"):
        found = gather(encodings, unit="words", pooling=pooling)
        assert found.layers == encodings[0].layers
        for i, (text, span) in enumerate(
            zip(found.points.sentence, found.points.spans.tolist(), strict=True)
        ):
            expected = word_vectors(encodings[text], tuple(span), pooling)  # type: ignore[arg-type]
            np.testing.assert_array_equal(found.vectors[:, i], expected)
            assert found.points.names[i] == TEXTS[text][span[0] : span[1]]


def test_every_word_with_a_letter_or_figure_is_a_point(encodings: list[Encoding]) -> None:
    found = gather(encodings, unit="words")
    words = [t[a:b] for t in TEXTS for a, b in split_words(t) if any(map(str.isalnum, t[a:b]))]
    assert list(found.points.names) == words
    assert found.points.labels["word"] == tuple(word.casefold() for word in words)


def test_tokens_leave_out_what_the_tokenizer_added_unless_asked(encodings: list[Encoding]) -> None:
    own = gather(encodings, unit="tokens").points
    every = gather(encodings, unit="tokens", special=True)
    assert every.points.names == tuple(t for e in encodings for t in e.tokens)
    assert set(every.points.names) - set(own.names) == {"[CLS]", "[SEP]"}
    np.testing.assert_array_equal(
        every.vectors, np.concatenate([e.hidden for e in encodings], axis=1)
    )
    kinds = dict(zip(every.points.names, every.points.labels["kind of token"], strict=True))
    assert kinds["[CLS]"] == "special token"
    assert kinds["##bel"] == "later in its word"
    assert kinds["python"] == "first of its word"


def test_sentence_vectors_are_what_their_names_say(encodings: list[Encoding]) -> None:
    one = encodings[0]
    hidden = one.hidden
    expected = {
        "mean": hidden.mean(axis=1),
        "own": hidden[:, 1:-1].mean(axis=1),
        "cls": hidden[:, 0],
        "max": hidden.max(axis=1),
        "pooler": one.pooler_output[None] if one.pooler_output is not None else None,
    }
    assert set(expected) == set(SENTENCE_POOLINGS)
    for pooling, vector in expected.items():
        assert vector is not None
        np.testing.assert_allclose(sentence_vectors(one, pooling), vector, rtol=1e-6, atol=1e-7)
    found = gather(encodings, unit="sentences", pooling="pooler")
    assert found.layers == (-1,)
    assert found.vectors.shape == (1, len(TEXTS), hidden.shape[2])
    assert found.points.names == TEXTS


def test_padding_changes_no_sentence_vector(service: EncoderService) -> None:
    model = service.models()[0].id
    bare = service.encode(model, TEXTS[:1])[0]
    padded = service.encode(model, TEXTS[:1], pad_to=20)[0]
    for pooling in SENTENCE_POOLINGS:
        np.testing.assert_allclose(
            sentence_vectors(padded, pooling), sentence_vectors(bare, pooling), atol=2e-5
        )


def test_one_word_of_each_text_and_only_some_words(encodings: list[Encoding]) -> None:
    spans = [(14, 20), (17, 23), (0, 2)]
    chosen = gather(encodings, unit="words", spans=spans, labels={"sense": ["pet", "code", "-"]})
    assert chosen.points.names == ("python", "python", "Ça")
    assert chosen.points.labels["sense"] == ("pet", "code", "-")
    only = gather(encodings, unit="words", spans=spans, only=["PYTHON"])
    assert only.points.names == ("python", "python")
    assert gather(encodings, unit="tokens", only=["Love"]).points.names == ("love", "love")


def test_a_label_of_the_texts_does_not_hide_our_own(encodings: list[Encoding]) -> None:
    found = gather(encodings, unit="words", labels={"word": ["a", "b", "c"]}).points
    assert set(found.labels["word (label)"]) == {"a", "b", "c"}
    assert "python" in found.labels["word"]


def test_no_more_points_and_texts_are_taken_than_asked(encodings: list[Encoding]) -> None:
    every = gather(encodings, unit="words")
    asked = iter(encodings)
    some = gather(asked, unit="words", most=4)
    assert some.points.n_points == 4
    assert some.points.texts == TEXTS[:1]
    assert next(asked) is encodings[1]
    assert every.points.n_points > 4
    np.testing.assert_array_equal(some.vectors, every.vectors[:, :4])
    assert all(len(column) == 4 for column in some.points.labels.values())
    assert all(len(column) == 4 for column in some.points.measures.values())


def test_nothing_to_map_is_said(encodings: list[Encoding], service: EncoderService) -> None:
    with pytest.raises(RequestError, match="No word here is “snake”"):
        gather(encodings, unit="words", only=["snake"])
    empty = service.encode(service.models()[0].id, ["!!!"])
    with pytest.raises(RequestError, match="no words to map"):
        gather(empty, unit="words")


def test_texts_that_were_cut_are_counted(service: EncoderService) -> None:
    found = gather(service.encode(service.models()[0].id, ["a b " * 400, "a b"]), unit="words")
    assert found.n_cut == 1
    assert found.points.n_points == 510 + 2


def test_context_is_the_text_around_a_point(encodings: list[Encoding]) -> None:
    points = gather(encodings, unit="words").points
    for i in range(points.n_points):
        left, own, right = context(points, i)
        assert left + own + right == points.text(i)
        assert own == points.names[i]
    long = "word " * 100 + "needle" + " word" * 100
    at = gather([_fake(encodings[0], long)], unit="words", spans=[(500, 506)]).points
    left, own, right = context(at, 0, longest=60)
    assert own == "needle"
    assert left.startswith("… word ")
    assert right.endswith(" word …")
    assert len(left + own + right) <= 62
    whole = gather([_fake(encodings[0], "wo" * 100 + "needle" + "rd" * 100)], unit="words",
                   spans=[(200, 206)]).points  # fmt: skip
    assert context(whole, 0, longest=20) == ("…owowowo", "needle", "rdrdrdr…")


def _fake(encoding: Encoding, text: str) -> Encoding:
    """An encoding whose second token is the whole of a text."""
    from dataclasses import replace

    offsets = encoding.offsets.copy()
    offsets[1] = (0, len(text))
    return replace(encoding, text=text, offsets=offsets)


def test_taking_points_takes_their_columns(encodings: list[Encoding]) -> None:
    points = gather(encodings, unit="words").points
    some = points.take([4, 0])
    assert some.names == (points.names[4], points.names[0])
    assert some.rows() == points.rows([4, 0])

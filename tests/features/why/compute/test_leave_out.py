"""Leaving words out: each number is that of a text read without them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from components.core import BUNDLED_ID, EncoderService
from components.features.why.compute import MAX_PAIRED, MAX_WORDS, LeaveOutResult, leave_out
from tests.features.why.scores import PAIR, score_on, sentence

PET, CODE = "I love my pet python", "I love coding in python"


def mean_of(service: EncoderService, text: str, pair: str | None = None) -> np.ndarray:
    return service.encode(BUNDLED_ID, [text], pairs=[pair])[0].hidden[-1].mean(axis=0, dtype=float)


def changes_of(shown: LeaveOutResult) -> dict[tuple[int, str], float]:
    return {(word.side, word.unit.label): word.change for word in shown.words}


def test_a_word_taken_out_is_a_text_without_it(service: EncoderService) -> None:
    score = score_on(service, sentence(PET), sentence(CODE))
    shown = leave_out(score, service)
    changes = changes_of(shown)
    assert len(changes) == 10
    for (side, word), without in {
        (0, "pet"): ("I love my python", CODE),
        (0, "I"): ("love my pet python", CODE),
        (1, "coding"): (PET, "I love in python"),
    }.items():
        first, second = (mean_of(service, text)[None] for text in without)
        expected = cosine_similarity(first, second)[0, 0] - score.cosine
        assert changes[side, word] == pytest.approx(expected, abs=1e-5)
    assert shown.words[0].cosine == pytest.approx(score.cosine + shown.words[0].change)
    assert shown.order is not None
    assert not shown.notes


def test_a_typed_mask_is_taken_out_with_its_brackets(service: EncoderService) -> None:
    score = score_on(service, sentence("The [MASK] sat on the mat."), sentence(CODE))
    shown = leave_out(score, service)
    assert [word.unit.label for word in shown.words][:3] == ["The", "[MASK]", "sat"]
    rows = (mean_of(service, text)[None] for text in ("The sat on the mat.", CODE))
    expected = cosine_similarity(*rows)[0, 0] - score.cosine
    assert changes_of(shown)[0, "[MASK]"] == pytest.approx(expected, abs=1e-5)


def test_pairs_of_words_are_left_out_together(service: EncoderService) -> None:
    score = score_on(service, sentence(PET), sentence(CODE))
    shown = leave_out(score, service, pairs=True)
    pairs, alone = shown.pairs, leave_out(score, service)
    assert pairs is not None
    assert alone.pairs is None
    np.testing.assert_allclose(np.diag(pairs), alone.changes, atol=1e-6)
    np.testing.assert_array_equal(pairs, pairs.T)
    places = {(w.side, w.unit.label): i for i, w in enumerate(shown.words)}
    for one, other, texts in [
        ((0, "my"), (0, "pet"), ("I love python", CODE)),
        ((0, "pet"), (1, "coding"), ("I love my python", "I love in python")),
        ((1, "coding"), (1, "in"), (PET, "I love python")),
    ]:
        first, second = (mean_of(service, text)[None] for text in texts)
        expected = cosine_similarity(first, second)[0, 0] - score.cosine
        assert pairs[places[one], places[other]] == pytest.approx(expected, abs=1e-5)


def test_a_hidden_word_keeps_its_place(service: EncoderService) -> None:
    """What it looks at does not matter, so hiding it differs from taking it out."""
    score = score_on(service, sentence(PET), sentence(CODE))
    hidden, taken = (changes_of(leave_out(score, service, how=how)) for how in ("hidden", "taken"))
    assert hidden.keys() == taken.keys()
    assert 1e-3 < max(abs(hidden[key] - taken[key]) for key in hidden) < 0.5


def test_of_equal_sentences_a_word_does_the_same_on_both_sides(service: EncoderService) -> None:
    shown = leave_out(score_on(service, sentence(PET), sentence(PET)), service)
    np.testing.assert_allclose(shown.changes[:5], shown.changes[5:], atol=1e-6)
    assert (shown.changes < 0).all()


def test_the_compared_word_is_not_taken_out_but_can_be_hidden(service: EncoderService) -> None:
    both = sentence(PET, "python"), sentence(CODE, "python")
    score = score_on(service, *both, what="word")
    taken = leave_out(score, service)
    assert (0, "python") not in changes_of(taken)
    assert "cannot be deleted" in taken.notes[0]
    assert taken.order is None
    first = service.encode(BUNDLED_ID, ["love my pet python"])[0].hidden[-1, [4]]
    expected = cosine_similarity(first, score.second.vector(6)[None])[0, 0] - score.cosine
    assert changes_of(taken)[0, "I"] == pytest.approx(expected, abs=1e-5)
    hidden = leave_out(score, service, how="hidden")
    assert (0, "python") in changes_of(hidden)
    assert not hidden.notes


@pytest.mark.parametrize("how", ["taken", "hidden"])
def test_words_of_a_second_text_and_of_one_alone_are_left_out(
    service: EncoderService, how: str
) -> None:
    score = score_on(service, PAIR, sentence("unbelievable"))
    shown = leave_out(score, service, how=how, pairs=True)  # type: ignore[arg-type]
    labels = [word.unit.label for word in shown.words]
    expected = ["The", "teacher's", "unbelievable", "python", "Seventeen", "umbrellas"]
    assert labels == [*expected, "unbelievable"]
    assert np.isfinite(shown.changes).all()
    if how == "taken":
        text = mean_of(service, PAIR.text, "Seventeen")[None]
        found = cosine_similarity(text, mean_of(service, "unbelievable")[None])[0, 0]
        assert changes_of(shown)[0, "umbrellas"] == pytest.approx(found - score.cosine, abs=1e-5)


def test_long_texts_are_bounded_and_it_is_said(tiny_service: EncoderService) -> None:
    long = sentence("the bank of the river was green " * 20)
    score = score_on(tiny_service, long, sentence("A cat"), model="folder:bert")
    shown = leave_out(score, tiny_service, pairs=True)
    assert shown.pairs is None
    assert f"up to {MAX_PAIRED} words" in shown.notes[0]
    assert any("is too long for the model" in note for note in shown.notes)
    assert len(shown.words) <= MAX_WORDS + 2


def test_only_so_many_words_are_tried(
    tiny_service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.features.why.compute.MAX_WORDS", 3)
    texts = sentence("The bank of the river"), sentence("A cat")
    shown = leave_out(score_on(tiny_service, *texts, model="folder:bert"), tiny_service)
    assert [word.side for word in shown.words] == [0] * 3 + [1] * 2
    assert shown.notes == ("Sentence A has 5 words; only the first 3 are left out, one at a time.",)


def test_it_tells_how_far_it_is_and_can_be_ended(service: EncoderService) -> None:
    score, told = score_on(service, sentence(f"{PET} too"), sentence(CODE)), []
    leave_out(score, service, progress=lambda done, n: told.append((done, n)))
    assert 0 < told[-1][0] <= told[-1][1] == 11
    assert [done for done, _ in told] == sorted(done for done, _ in told)

    def ended(done: int, n: int) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        leave_out(score_on(service, sentence(f"{PET} and"), PAIR), service, progress=ended)

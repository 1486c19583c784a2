"""Leave out: each number is that of a text without the word, or of a model that does not see it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.analysis.leaving_out import MAX_LEFT_OUT_WORDS
from contextlens.content.wording import quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.why.controls import MAX_PAIRED_WORDS
from contextlens.features.why.leave_out import (
    MIN_ORDERED_WORDS,
    How,
    LeaveOutResult,
    leave_out,
    order_of,
)
from contextlens.features.why.score import Score
from contextlens.ui.state.view import Sentence
from tests.features.why.random_results import (
    N,
    RandomResults,
    assert_adds_up,
    near,
    verdict,
    verdicts,
)
from tests.features.why.scores import PAIR, score_on, sentence, similarity

PET, CODE = (
    sentence("I love my pet python", "python"),
    sentence("I love coding in python", "python"),
)
SEEDS = st.integers(0, 2**32 - 1)
ORDERS = {"same", "opposite", "unrelated", "cannot tell"}


def changes_of(result: LeaveOutResult) -> dict[tuple[int, str], float]:
    return {(word.side, word.unit.label): word.change for word in result.words}


def test_words_and_pairs_taken_out_are_a_text_without_them(service: EncoderService) -> None:
    score = score_on(service, PET, CODE)
    single, paired = leave_out(score, service), leave_out(score, service, pairs=True)
    assert single.pairs is None
    assert paired.pairs is not None
    np.testing.assert_allclose(np.diag(paired.pairs), single.changes, atol=1e-6)
    np.testing.assert_array_equal(paired.pairs, paired.pairs.T)
    indices = {key: i for i, key in enumerate(changes_of(single))}
    assert len(indices) == 10
    for one, other, texts in (
        ((0, "pet"), (0, "pet"), ("I love my python", CODE.text)),
        ((0, "I"), (0, "I"), ("love my pet python", CODE.text)),
        ((1, "coding"), (1, "coding"), (PET.text, "I love in python")),
        ((0, "my"), (0, "pet"), ("I love python", CODE.text)),
        ((0, "pet"), (1, "coding"), ("I love my python", "I love in python")),
        ((1, "coding"), (1, "in"), (PET.text, "I love python")),
    ):
        change = similarity(service, *texts) - score.cosine
        assert paired.pairs[indices[one], indices[other]] == pytest.approx(change, abs=1e-5)
    assert single.words[0].cosine == pytest.approx(score.cosine + single.words[0].change)
    assert single.order is not None
    assert not single.notes()


def test_a_typed_mask_is_taken_out_with_its_brackets(service: EncoderService) -> None:
    score = score_on(service, sentence("The [MASK] sat on the mat."), CODE)
    result = leave_out(score, service)
    assert [word.unit.label for word in result.words][:3] == ["The", "[MASK]", "sat"]
    change = similarity(service, "The sat on the mat.", CODE.text) - score.cosine
    assert changes_of(result)[0, "[MASK]"] == pytest.approx(change, abs=1e-5)


def test_the_compared_word_is_not_taken_out_but_can_be_hidden(service: EncoderService) -> None:
    score = score_on(service, PET, CODE, what="word")
    taken, hidden = leave_out(score, service), leave_out(score, service, how="hidden")
    assert (0, "python") not in changes_of(taken)
    assert "cannot be deleted" in str(taken.notes()[0])
    assert taken.order is None
    first = service.encode(BUNDLED_ID, ["love my pet python"])[0].hidden[-1, [4]]
    change = cosine_similarity(first, score.second.vector(6)[None])[0, 0] - score.cosine
    assert changes_of(taken)[0, "I"] == pytest.approx(change, abs=1e-5)
    assert (0, "python") in changes_of(hidden)
    assert not hidden.notes()


@pytest.mark.parametrize("how", ["taken", "hidden"])
def test_words_of_a_second_text_are_left_out_too(service: EncoderService, how: How) -> None:
    score = score_on(service, PAIR, sentence("unbelievable"))
    result = leave_out(score, service, how=how, pairs=True)
    labels = ["The", "teacher's", "unbelievable", "python", "Seventeen", "umbrellas"]
    assert [word.unit.label for word in result.words] == [*labels, "unbelievable"]
    assert np.isfinite(result.changes).all()
    if how == "taken":
        rest = similarity(service, PAIR.text, "unbelievable", pair="Seventeen")
        change = rest - score.cosine
        assert changes_of(result)[0, "umbrellas"] == pytest.approx(change, abs=1e-5)
        assert result.pairs is not None
        no_pair = similarity(service, PAIR.text, "unbelievable") - score.cosine
        assert result.pairs[4, 5] == pytest.approx(no_pair, abs=1e-5)


@pytest.mark.parametrize("how", ["taken", "hidden"])
def test_words_that_are_all_that_a_model_reads_are_not_left_out(
    tiny_service: EncoderService, how: How
) -> None:
    """bert-generation adds no special tokens: a text without its words has no token."""
    texts = (Sentence("python"), Sentence("river bank"))
    score = score_on(tiny_service, *texts, model="folder:bert-generation")
    result = leave_out(score, tiny_service, how=how, pairs=True)
    assert [(word.side, word.unit.label) for word in result.words] == [(1, "river"), (1, "bank")]
    assert np.isfinite(result.changes).all()
    assert result.pairs is None
    notes = [(note.key, note.numbers["n"]) for note in result.notes()]
    assert notes == [("why.leave_out.note.alone", 1), ("why.leave_out.note.alone", 2)]
    alone = score_on(tiny_service, texts[0], texts[0], model="folder:bert-generation")
    assert not leave_out(alone, tiny_service, how=how).words


def test_long_texts_are_bounded_and_it_is_said(
    tiny_service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, cat = sentence("the bank of the river was green " * 20), sentence("A cat")
    result = leave_out(score_on(tiny_service, long, cat, model="folder:bert"), tiny_service,
                       pairs=True)  # fmt: skip
    assert result.pairs is None
    assert f"up to {MAX_PAIRED_WORDS} words" in str(result.notes()[0])
    assert any("is too long for the model" in str(note) for note in result.notes())
    assert len(result.words) <= MAX_LEFT_OUT_WORDS + 2
    monkeypatch.setattr("contextlens.features.why.leave_out.MAX_LEFT_OUT_WORDS", 3)
    score = score_on(tiny_service, sentence("The bank of the river"), cat, model="folder:bert")
    result = leave_out(score, tiny_service)
    assert [word.side for word in result.words] == [0] * 3 + [1] * 2
    note = "Sentence A has 5 words; only the first 3 are left out, one at a time."
    assert [str(claim) for claim in result.notes()] == [note]


def test_it_tells_how_far_it_is_and_can_be_ended(
    service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextlens.features.why.score._STATES_BYTES", 20_000)  # several portions
    texts, counts = [sentence(f"{text.text} too") for text in (PET, CODE)], []
    score = score_on(service, *texts)
    leave_out(score, service, progress=lambda *count: counts.append(count))
    assert counts == sorted(counts)
    assert counts[-1] == (12, 12)

    def end(done: int, n: int) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        leave_out(score_on(service, sentence(f"{PET.text} and"), PAIR), service, progress=end)


# The order of words, and pairs


@given(SEEDS, st.integers(2, 40))
def test_orders_are_compared_as_scipy_does(seed: int, n: int) -> None:
    shares, changes = np.random.default_rng(seed).integers(0, 5, (2, n)) / 10
    found = order_of(shares, changes)
    if np.ptp(shares) == 0 or np.ptp(changes) == 0:
        assert (found.verdict, found.tau) == ("cannot tell", None)
    else:
        assert found.tau == pytest.approx(kendalltau(shares, -changes).statistic)
        assert found.verdict != "same" or found.tau > 0
        assert found.verdict != "opposite" or found.tau < 0
        assert n >= MIN_ORDERED_WORDS or found.verdict == "cannot tell"


@pytest.mark.parametrize("n", [MIN_ORDERED_WORDS, 60])
def test_random_orders_are_seldom_called_related(n: int) -> None:
    random = np.random.default_rng(n)
    verdicts = [order_of(*random.normal(size=(2, n))).verdict for _ in range(400)]
    assert sum(verdict in ("same", "opposite") for verdict in verdicts) <= 0.08 * 400


def test_the_same_order_and_the_reverse_are_told_and_few_words_tell_nothing() -> None:
    shares = np.arange(10) / 10
    assert order_of(shares, -shares).verdict == "same"
    assert order_of(shares, shares).verdict == "opposite"
    assert order_of(shares, shares[[0, 9, 1, 8, 2, 7, 3, 6, 4, 5]]).verdict == "unrelated"
    assert order_of(shares[:5], shares[:5]).verdict == "cannot tell"
    assert order_of(np.zeros(0), np.zeros(0)).verdict == "cannot tell"
    many = np.arange(400)
    half_random = np.random.default_rng(0).permutation(400) + 0.2 * many
    tau = order_of(many, -half_random)
    assert tau.verdict == "unrelated"
    assert 0.07 < (tau.tau or 0) < 0.2, "more than chance, and yet hardly any agreement"


# Claims


def test_claims_tell_nothing_within_the_noise(scores: list[Score]) -> None:
    for seed in range(N):
        result = RandomResults(scores, seed).left_out()
        title, claims = result.title(), result.claims()
        rows = result.word_rows()
        drawn = [word.value for row in (rows.first, rows.second) for word in row.words]
        changes = -np.array([value for value in drawn if value is not None], dtype=float)
        strongest = near(np.abs(changes)) if len(changes) else []
        if len(strongest) == 1:
            way = "lowers" if changes[strongest[0]] < 0 else "raises"
            assert verdict(title) == f"{way}_{result.how}"
            named = result.words[strongest[0]]
            assert quoted(named.unit.label)[1:-1] in quoted(str(title.numbers["word"]), 99)
            assert title.numbers["letter"] == result.score.sides[named.side].letter
        else:
            assert verdict(title) == ("several" if strongest else "none")
            assert title.numbers["n"] == len(strongest)
        both_signs = {"lowers": lambda change: -change, "raises": lambda change: change}
        both = {"lowers": -changes, "raises": changes} if len(changes) else {}
        moved = {way: len(near(values)) for way, values in both.items() if near(values)}
        if result.score.unread_letters:
            assert verdicts(claims) == ["unread"]
            continue
        assert verdicts(claims) == ([*moved, "alone"] if moved else ["none"])
        for claim, (way, n) in zip(claims, moved.items(), strict=False):
            assert claim.numbers["n"] == n
            if n == 1:
                assert_adds_up(claim, result.score.cosine, max(changes, key=both_signs[way]))
        sure = verdicts(result.sure())
        is_mean = result.score.vector_kind == "mean"
        assert bool(ORDERS & set(sure[:1])) == (is_mean and len(changes) > 1)
        expected = None
        if result.pairs is not None and len(changes) > 1:
            beyond = result.pairs - changes[:, None] - changes[None, :]
            np.fill_diagonal(beyond, 0)
            expected = "additive" if np.abs(beyond).max() < 0.02 else "together"
        assert [own for own in sure if own not in ORDERS] == ([expected] if expected else [])

"""The looks of Why alike?: each number is that of a text, or of a model, read in another way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.language import claim
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.why.compute import (
    MAX_PAIRED,
    MAX_TOKENS,
    MAX_WORDS,
    How,
    LeaveOutResult,
    edits_of,
    integrated_of,
    leave_out,
    neighbours_of,
    parts_of,
    shares_at,
    swap_in,
    switch_off,
)
from contextlens.features.why.measures import cosine, pair_cosines
from contextlens.features.why.reading import reading_of, title_of
from contextlens.features.why.score import ModelRun, NoScore, Score, score_of, vectors_of
from contextlens.features.why.work import rows
from tests.features.why.scores import PAIR, score_on, sentence, view_on
from tests.support.texts import TYPED
from tests.support.tiny_models import FAMILIES

PET, CODE = (
    sentence("I love my pet python", "python"),
    sentence("I love coding in python", "python"),
)
CODED = sentence("I love my code python", "python")
TEXTS = [sentence(text) for text in ("A python slept", "The bank lends money", "", "A cat")]


def similarity(service: EncoderService, *texts: str, pair: str | None = None) -> float:
    """scikit-learn's cosine of the mean vectors of two texts, the first of them with a pair."""
    encodings = service.encode(BUNDLED_ID, texts, pairs=[pair, None])
    first, second = (e.hidden[-1].mean(axis=0, dtype=float)[None] for e in encodings)
    return float(cosine_similarity(first, second)[0, 0])


@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_taken_apart(tiny_service: EncoderService, text: str) -> None:
    view = view_on(sentence(text), sentence("A cat slept"), model="folder:bert", layer=1)
    score = score_of(view, tiny_service, tiny_service.load("folder:bert"))
    if isinstance(score, NoScore):
        assert not text.strip()
        assert "Sentence A is empty" in score.problem
        return
    for result in (
        shares_at(score),
        leave_out(score, tiny_service),
        leave_out(score, tiny_service, how="hidden"),
        swap_in(score, tiny_service),
    ):
        assert str(title_of(result))
        assert all(map(str, reading_of(result).sentences))
        assert isinstance(rows(result), list)
    assert np.isfinite([ranked.cosine for ranked in edits_of(score, tiny_service).edits]).all()


# Shares


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_input_shares_add_up_on_both_sides(tiny_service: EncoderService, family: str) -> None:
    score = score_on(tiny_service, PAIR, sentence("A cat"), model=f"folder:{family}", layer=2)
    counts: list[tuple[int, int]] = []
    result = integrated_of(score, tiny_service, progress=lambda *count: counts.append(count))
    for inputs in result.sides:
        assert inputs.end == pytest.approx(score.cosine, abs=1e-5)
        total = inputs.shares.sum()
        assert total + inputs.remainder == pytest.approx(inputs.end - inputs.start, abs=1e-9)
        assert inputs.by_word.sum() == pytest.approx(total, abs=1e-9)
        assert not inputs.shares[inputs.side.encoding.special_tokens_mask == 1].any()
    assert counts == sorted(counts)
    assert counts[-1] == (100, 100)


def test_shares_are_those_of_the_layer(service: EncoderService) -> None:
    for kind in ("mean", "cls", "word"):
        score = score_on(service, PAIR, CODE, what=kind)
        n_units = tuple(len(side.units) for side in score.sides)
        for layer in range(7):
            result = shares_at(replace(score, layer=layer))
            for unit in ("words", "tokens"):
                assert result.shares(unit).total == pytest.approx(score.cosines[layer], abs=1e-6)
        assert result.shares("words").cells.shape == n_units


# Leaving out


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
    assert not single.notes


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
    assert "cannot be deleted" in taken.notes[0]
    assert taken.order is None
    first = service.encode(BUNDLED_ID, ["love my pet python"])[0].hidden[-1, [4]]
    change = cosine_similarity(first, score.second.vector(6)[None])[0, 0] - score.cosine
    assert changes_of(taken)[0, "I"] == pytest.approx(change, abs=1e-5)
    assert (0, "python") in changes_of(hidden)
    assert not hidden.notes


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


def test_long_texts_are_bounded_and_it_is_said(
    tiny_service: EncoderService, monkeypatch: pytest.MonkeyPatch
) -> None:
    long, cat = sentence("the bank of the river was green " * 20), sentence("A cat")
    result = leave_out(score_on(tiny_service, long, cat, model="folder:bert"), tiny_service,
                       pairs=True)  # fmt: skip
    assert result.pairs is None
    assert f"up to {MAX_PAIRED} words" in result.notes[0]
    assert any("is too long for the model" in note for note in result.notes)
    assert len(result.words) <= MAX_WORDS + 2
    monkeypatch.setattr("contextlens.features.why.compute.MAX_WORDS", 3)
    score = score_on(tiny_service, sentence("The bank of the river"), cat, model="folder:bert")
    result = leave_out(score, tiny_service)
    assert [word.side for word in result.words] == [0] * 3 + [1] * 2
    note = "Sentence A has 5 words; only the first 3 are left out, one at a time."
    assert result.notes == (note,)


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


# Switching off


def tiny(service: EncoderService, **how: object) -> Score:
    return score_on(service, *TEXTS[:2], model="folder:bert", **how)


def test_the_grid_does_not_depend_on_what_else_runs(tiny_service: EncoderService) -> None:
    score, view = tiny(tiny_service), view_on(*TEXTS, model="folder:bert")
    zero, mean = (switch_off(view, score, tiny_service, to=to) for to in ("zero", "mean"))
    assert np.abs(zero.heads - mean.heads).max() > 1e-4
    assert (zero.layers, zero.letters, zero.n_pairs) == ((1, 2, 3), ("A", "B"), 1)
    assert zero.cosine == pytest.approx(score.cosine, abs=1e-6)
    parts = parts_of(zero.layers, 4, "zero")
    for i in np.random.default_rng(0).permutation(len(parts))[:6]:
        part, row = parts[i], parts[i].layer - 1
        runs = [
            ModelRun(side.encoding.text, None, lambda _, weights=side.weights: weights, (part,))
            for side in score.sides
        ]
        change = cosine(*vectors_of(runs[::-1], tiny_service, score.card, layer=3)) - score.cosine
        wholes = {"attention": zero.attention[row], "feed_forward": zero.feed_forward[row]}
        expected = wholes.get(part.part, zero.heads[row, part.head or 0])
        assert change == pytest.approx(expected, abs=1e-6)


def test_all_pairs_of_the_sentences_are_averaged(tiny_service: EncoderService) -> None:
    score, view = tiny(tiny_service), view_on(*TEXTS, model="folder:bert")
    result = switch_off(view, score, tiny_service, over="all")
    assert (result.letters, result.n_pairs) == (("A", "B", "D"), 3)
    assert result.notes == ("Sentence C has nothing to compare and is left out.",)
    np.testing.assert_allclose(result.by_pair.mean(axis=0), result.heads)
    two = switch_off(view, score, tiny_service)
    np.testing.assert_allclose(result.by_pair[0], two.heads, atol=1e-6)
    encodings = tiny_service.encode("folder:bert", [TEXTS[i].text for i in (0, 1, 3)])
    means = [encoding.hidden[-1].mean(axis=0, dtype=float) for encoding in encodings]
    assert result.cosine == pytest.approx(pair_cosines(means).mean(), abs=1e-6)
    strongest = result.strongest(3)
    sizes = np.sort(np.abs(result.heads), axis=None)[::-1][:3]
    assert [abs(head.change) for head in strongest] == pytest.approx(sizes.tolist())
    for head in strongest:
        changes = result.by_pair[:, head.layer - 1, head.head]
        assert head.change == pytest.approx(changes.mean())
        assert head.n_alike == (np.sign(changes) == np.sign(changes.mean())).sum()


def test_what_lies_above_the_layer_is_not_run(tiny_service: EncoderService) -> None:
    view = view_on(*TEXTS, model="folder:bert")
    low = switch_off(view, tiny(tiny_service, layer=1), tiny_service)
    assert (low.layers, low.heads.shape) == ((1,), (1, 4))
    bottom = switch_off(view, tiny(tiny_service, layer=0), tiny_service, over="all")
    assert (bottom.heads.shape, bottom.by_pair.shape) == ((0, 4), (3, 0, 4))
    assert not bottom.strongest(3)


# Swapping in


@pytest.mark.parametrize("what", ["mean", "cls", "word"])
def test_all_tokens_of_the_last_layer_bring_all_of_the_way(
    tiny_service: EncoderService, what: str
) -> None:
    texts = sentence("A python slept", "python"), sentence("A river slept", "river")
    result = swap_in(score_on(tiny_service, *texts, model="folder:bert", what=what),
                     tiny_service)  # fmt: skip
    assert result.fractions.shape == (4, len(result.alignment.pairs))
    if not result.alignment.first_alone + result.alignment.second_alone:
        assert result.fractions[-1].sum() == pytest.approx(1, abs=1e-4)
    if what == "cls":
        assert result.fractions[-1] == pytest.approx([1, *[0] * (len(result.names) - 1)], abs=1e-4)


def test_what_is_the_same_at_the_bottom_brings_nothing_into_either(service: EncoderService) -> None:
    into_first = swap_in(score_on(service, PET, CODED), service)
    into_second = swap_in(score_on(service, PET, CODED, layer=2), service, into="second")
    assert (into_first.layers, into_second.layers) == (tuple(range(7)), (0, 1, 2))
    assert (into_first.names[4], into_second.names[4]) == ("pet / code", "code / pet")
    assert (into_second.receiver.letter, into_second.donor.letter) == ("B", "A")
    for result in (into_first, into_second):
        expected = [0, 0, 0, 0, 1, 0, 0]
        np.testing.assert_allclose(result.fractions[0], expected, atol=1e-5)
    assert into_first.fractions[3, 5] > 0.05


def test_where_there_is_no_way_it_is_said(service: EncoderService) -> None:
    same = swap_in(score_on(service, PET, PET), service)
    assert same.problem == claim("why.swap_in.equal", a="A", b="B")
    assert same.fractions.size == 0
    bottom = swap_in(score_on(service, PET, CODED, layer=0, what="cls"), service)
    assert bottom.problem == claim("why.swap_in.stuck")
    long = [sentence("word " * 100 + end) for end in ("cat", "dog")]
    much = swap_in(score_on(service, *long), service)
    assert much.problem == claim("why.swap_in.long", n=103, most=MAX_TOKENS)


# Edits


def test_edits_are_ranked_by_what_the_model_makes_of_them(service: EncoderService) -> None:
    result = edits_of(score_on(service, PET, sentence("Rain fell")), service)
    kinds = {ranked.edit.kind for ranked in result.edits}
    assert kinds == {"negation", "order", "neighbour", "typo", "case"}
    cosines = [ranked.cosine for ranked in result.edits]
    assert cosines == sorted(cosines)
    for ranked in result.edits:
        expected = similarity(service, PET.text, ranked.edit.text)
        assert ranked.cosine == pytest.approx(expected, abs=1e-5)
        assert ranked.cosine > 0.9999 or ranked.edit.kind != "case"
    word = edits_of(score_on(service, PET, CODE, what="word"), service)
    first = edits_of(score_on(service, PET, CODE, what="cls", layer=2), service)
    assert (word.vector_kind, first.vector_kind) == ("mean", "cls")


def test_neighbours_are_other_words_written_alike(service: EncoderService) -> None:
    texts = sentence("My PET loves Pythons and unbelievability", "PET"), TEXTS[0]
    found = neighbours_of(score_on(service, *texts).first, service, BUNDLED_ID)
    assert next(iter(found)) == (3, 6)
    assert found[3, 6].isupper()
    assert found[7, 12].islower()
    assert not found[7, 12].startswith("lov")
    assert not {(0, 2), (25, 40)} & found.keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_edits(tiny_service: EncoderService, family: str) -> None:
    result = edits_of(score_on(tiny_service, PAIR, PET, model=f"folder:{family}"), tiny_service)
    assert {"typo", "case"} <= {ranked.edit.kind for ranked in result.edits}
    texts = [ranked.edit.text for ranked in result.edits]
    assert len({PAIR.text, *texts}) == len(texts) + 1


@pytest.mark.parametrize("text", ["Die Bank am Fluss", "我喜欢蟒蛇", "…"])
def test_what_is_not_clearly_english_has_no_edits(service: EncoderService, text: str) -> None:
    result = edits_of(score_on(service, sentence(text), PET), service)
    assert (result.edits, result.is_english) == ((), False)

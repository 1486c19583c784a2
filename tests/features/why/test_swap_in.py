"""Swap in: tokens are matched one to one, and all of them together bring all of the way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.content.language import claim
from contextlens.content.wording import quoted
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.why.controls import MAX_SWAPPED_TOKENS
from contextlens.features.why.score import Score
from contextlens.features.why.swap_in import Alignment, align, fraction, is_way, swap_in
from contextlens.ui.state.view import Sentence
from tests.features.why.random_results import N, RandomResults, near, verdict
from tests.features.why.scores import score_on, sentence

PET, CODED = (
    sentence("I love my pet python", "python"),
    sentence("I love my code python", "python"),
)
WORDS = st.lists(st.sampled_from(["cat", "dog", "a", "the", "bit"]), max_size=8)
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("what", ["mean", "cls", "word"])
def test_all_tokens_of_the_last_layer_bring_all_of_the_way(
    tiny_service: EncoderService, what: str
) -> None:
    texts = sentence("A python slept", "python"), sentence("A river slept", "river")
    result = swap_in(score_on(tiny_service, *texts, model="folder:bert", what=what),
                     tiny_service)  # fmt: skip
    n_layers = 4 if what == "mean" else 3  # the last one's state is the result itself
    assert result.fractions.shape == (n_layers, len(result.alignment.pairs))
    is_whole = not result.alignment.first_alone + result.alignment.second_alone
    if what == "mean" and is_whole:
        assert result.fractions[-1].sum() == pytest.approx(1, abs=1e-4)


def test_only_other_tokens_are_swapped_at_the_bottom_into_either(service: EncoderService) -> None:
    into_first = swap_in(score_on(service, PET, CODED), service)
    into_second = swap_in(score_on(service, PET, CODED, layer=2), service, into="second")
    assert (into_first.layers, into_second.layers) == (tuple(range(7)), (0, 1, 2))
    assert (into_first.names[4], into_second.names[4]) == ("pet / code", "code / pet")
    assert (into_second.receiver.letter, into_second.donor.letter) == ("B", "A")
    for result in (into_first, into_second):
        expected = [*[np.nan] * 4, 1, np.nan, np.nan]
        np.testing.assert_allclose(result.fractions[0], expected, atol=1e-5)
    assert into_first.fractions[3, 5] > 0.05


def test_where_there_is_no_way_it_is_said(service: EncoderService) -> None:
    same = swap_in(score_on(service, Sentence("My cat"), Sentence("my CAT")), service)
    assert str(same.title()) == "To the model, both sentences are the same"
    assert same.problem == claim("why.swap_in.equal", a="A", b="B")
    assert same.fractions.size == 0
    bottom = swap_in(score_on(service, PET, CODED, layer=0, what="cls"), service)
    assert bottom.problem == claim("why.swap_in.stuck")
    longer = [sentence(f"I saw a python{end}", "python") for end in ("", " today")]
    for what, layer in (("mean", 0), ("cls", 1), ("word", 1)):  # nothing but layer 0 to swap at
        equal = swap_in(score_on(service, *longer, layer=layer, what=what), service)
        assert equal.problem == claim("why.swap_in.only_equal")
    long = [sentence("word " * 100 + end) for end in ("cat", "dog")]
    much = swap_in(score_on(service, *long), service)
    assert much.problem == claim("why.swap_in.long", n=103, most=MAX_SWAPPED_TOKENS)


def test_tokens_without_a_partner_are_marked_in_the_rows(service: EncoderService) -> None:
    result = swap_in(score_on(service, sentence("Good"), sentence("very good")), service)
    turned = swap_in(
        score_on(service, sentence("Good"), sentence("very good")), service, into="second"
    )
    for rows in (result.word_rows(), turned.word_rows()):
        assert [word.kind for word in rows.second.words] == ["special", "alone", "word", "special"]
        assert list(rows.links) == [(0, 0), (1, 2), (2, 3)]


# Alignment and the share of the way


def aligned(service: EncoderService, first: str, second: str, **how: int) -> Alignment:
    return align(*service.tokenize(BUNDLED_ID, [first, second], **how))


def test_of_equal_length_each_stands_for_the_one_at_its_place(service: EncoderService) -> None:
    texts = "I love my pet python", "I love coding in python"
    expected = Alignment(tuple((i, i) for i in range(7)), True, (), (), (0, 1, 2, 5, 6))
    assert aligned(service, *texts) == aligned(service, *texts, pad_to=20) == expected


def test_of_other_lengths_what_is_alone_is_named(service: EncoderService) -> None:
    found = aligned(service, "The food was good", "The food was not very good")
    pairs = ((0, 0), (1, 1), (2, 2), (3, 3), (4, 6), (5, 7))
    assert found == Alignment(pairs, False, (), (4, 5), tuple(range(6)))
    replaced = aligned(service, "A cat slept", "A dog slept so well")
    assert (2, 2) in replaced.pairs
    assert replaced.n_equal == len(replaced.pairs) - 1


@given(WORDS, WORDS)
def test_pairs_are_one_to_one_and_in_order(
    service: EncoderService, words: list[str], others: list[str]
) -> None:
    first, second = " ".join(words), " ".join(others)
    found = aligned(service, first, second)
    for side, alone in ((0, found.first_alone), (1, found.second_alone)):
        partners = [pair[side] for pair in found.pairs]
        assert partners == sorted(set(partners))
        assert sorted([*partners, *alone]) == list(range(len((words, others)[side]) + 2))
    assert found.turned.turned == found
    assert aligned(service, first, first).n_equal == len(words) + 2


@given(SEEDS, st.floats(-1, 2))
def test_a_fraction_is_that_of_the_way_whatever_lies_beside_it(seed: int, share: float) -> None:
    start, end, aside = np.random.default_rng(seed).normal(size=(3, 6))
    way = end - start
    aside -= way * (aside @ way) / (way @ way)
    assert fraction(start + share * way + aside, start, end) == pytest.approx(share, abs=1e-9)
    assert is_way(start, end)
    assert not is_way(start, start + 1e-7)
    with pytest.raises(ValueError, match="no way"):
        fraction(end, start, start)


# Claims and chart


def test_the_furthest_is_the_darkest_cell_of_the_picture(scores: list[Score]) -> None:
    reached: set[str] = set()
    for seed in range(0, N, 2):
        result = RandomResults(scores, seed).swapped_in()
        headline, alone = result.claims()
        drawn = np.array(result.figure().data[0].z, dtype=float)
        title, found, share = verdict(result.title()), verdict(headline), np.nanmax(drawn)
        reached.add(found)
        assert verdict(alone) == "alone"
        assert title == found
        if round(100 * share) <= 0:
            assert found == "nowhere"
            continue
        assert headline.numbers["share"] == pytest.approx(share, rel=1e-6)
        leaders = near(np.nanmax(drawn, axis=0), 0.0)
        row, column = divmod(int(np.nanargmax(drawn)), drawn.shape[1])
        if share < 0.25:
            assert found == "none"
            continue
        kind, _, beyond = found.partition("_")
        assert bool(beyond) == (round(100 * share) > 100)
        if len(leaders) > 1:
            assert (kind, headline.numbers["n"]) == ("several", len(leaders))
            continue
        i, j = result.alignment.pairs[column]
        ours, theirs = (side.encoding.token_ids for side in (result.receiver, result.donor))
        assert kind == ("same" if ours[i] == theirs[j] else "one")
        assert result.layers[row] == headline.numbers["layer"]
        assert str(headline.numbers["new"]).startswith(quoted(result.donor.labels[j]))
    assert reached >= {"nowhere", "none", "one", "one_beyond", "same", "several_beyond"}


def test_equal_tokens_are_not_swapped_at_the_bottom(service: EncoderService) -> None:
    result = swap_in(score_on(service, sentence("Hello"), sentence("A very long text")), service)
    assert not [row for row in result.rows() if row["layer"] == 0]
    assert np.isfinite(result.fractions[1:]).all()
    assert [verdict(own) for own in result.sure()] == [
        *("order", "equal_tokens", "unmatched", "unmatched"),
    ]
    bottom = score_on(service, sentence("Hello"), sentence("A very long text"), layer=0)
    assert swap_in(bottom, service).problem == claim("why.swap_in.only_equal")


def test_parts_of_the_way_are_coloured_from_none_to_all(service: EncoderService) -> None:
    result = swap_in(score_on(service, sentence("<b>x</b>"), sentence("a x b c d e f")), service)
    n = len(result.names)
    fractions = np.linspace(-0.2, 1.3, 2 * n).reshape(2, n)
    figure = replace(result, fractions=fractions, layers=(0, 1)).figure()
    trace = figure.data[0]
    np.testing.assert_allclose(trace.z, fractions, atol=1e-7)
    assert (trace.zmin, trace.zmax) == (0, 1)
    assert "<b>" not in "".join(figure.layout.xaxis.ticktext)
    hovers = [cell[2] for row in trace.customdata for cell in row]
    assert (hovers[0], hovers[-1]) == ("away from B", "beyond B")
    assert "of the way" in hovers[n]

"""Switch off: each number is that of a model without the part, whatever else runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from contextlens.content.wording import signed
from contextlens.core import EncoderService
from contextlens.features.why.score import ModelRun, Score, cosine, vectors_of
from contextlens.features.why.switch_off import HeadEffect, pair_cosines, parts_of, switch_off
from contextlens.figures.frames import MIN_END
from tests.features.why.random_results import (
    N,
    RandomResults,
    assert_adds_up,
    near,
    verdict,
    verdicts,
)
from tests.features.why.scores import score_on, sentence, view_on

TEXTS = [sentence(text) for text in ("A python slept", "The bank lends money", "", "A cat")]


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
    (note,) = result.notes()
    assert str(note) == "Sentence C has nothing to compare and is left out."
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


def test_pairs_are_in_the_order_of_combinations() -> None:
    vectors = np.random.default_rng(0).normal(size=(4, 5))
    expected = cosine_similarity(vectors)[np.triu_indices(4, 1)]
    np.testing.assert_allclose(pair_cosines(list(vectors)), expected, atol=1e-12)


# Claims and chart


def test_heads_are_told_above_the_noise_alone(scores: list[Score]) -> None:
    for seed in range(0, N, 3):
        result = RandomResults(scores, seed).switched_off()
        title, claims = verdict(result.title()), result.claims()
        if not result.layers:
            assert (title, *verdicts(claims)) == ("empty", "empty")
            continue
        changes, (heads, layers, alone) = result.heads.ravel(), claims
        np.testing.assert_allclose(result.figure().data[0].z, result.heads, atol=1e-6)
        strongest = near(np.abs(changes))
        expected = "several" if strongest else "none"
        if len(strongest) == 1:
            change = changes[strongest[0]]
            expected = "lowers" if change < 0 else "raises"
            assert_adds_up(heads, result.cosine, change)
            place = heads.numbers["layer"] - 1, heads.numbers["head"] - 1
            assert place == divmod(strongest[0], 4)
        else:
            assert heads.numbers["n"] == len(strongest)
        assert title == verdict(heads) == expected
        assert alone.numbers["n"] == len(result.by_pair)
        n_moving = (np.abs(changes) > 0.01).sum()
        assert [own.numbers["n"] for own in result.sure()] == ([n_moving] if n_moving else [])
        parts = [*result.attention, *result.feed_forward]
        most = near(np.abs(parts))
        expected = "several" if most else "none"
        if len(most) == 1:
            expected = "attention" if most[0] < len(result.layers) else "feed_forward"
            assert layers.numbers["change"] == signed(parts[most[0]])
        assert verdict(layers) == expected


def test_a_head_is_labelled_with_its_change_and_the_pairs_that_agree() -> None:
    labels = [HeadEffect(3, 7, change, 2, n).label for change, n in ((0.1, 1), (-0.1, 3), (0, 1))]
    assert labels == [
        "layer 3, head 8: +0.10",
        "layer 3, head 8: −0.10 · 2 of 3",
        "layer 3, head 8: 0.00",
    ]


@pytest.mark.parametrize("shape", [(1, 1), (24, 16)])
def test_the_grid_has_a_cell_for_each_head_and_a_bar_for_each_part(
    scores: list[Score], shape: tuple[int, int]
) -> None:
    heads = np.random.default_rng(0).normal(size=shape)
    parts = np.arange(shape[0]) / 100
    result = RandomResults(scores, 0).switched_off()
    layers = tuple(range(1, shape[0] + 1))
    changes = {"layers": layers, "heads": heads, "attention": parts, "feed_forward": -parts}
    figure = replace(result, **changes).figure()
    grid, attention, forward = figure.data
    np.testing.assert_allclose(grid.z, heads, atol=1e-6)
    assert grid.zmax == -grid.zmin == pytest.approx(np.abs(heads).max())
    assert (attention.name, forward.name) == ("attention", "feed-forward")
    np.testing.assert_allclose([attention.x, forward.x], [parts, -parts])
    low, _, high = figure.layout.xaxis2.tickvals
    assert 0 < high == -low <= max(parts.max(), MIN_END) + 1e-12
    assert figure.layout.yaxis.ticktext[0] == "layer 1"

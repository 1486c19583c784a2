"""Parts switched off: a grid of changes, the same whatever else is switched off beside it."""

from __future__ import annotations

import numpy as np
import pytest

from components.core import BUNDLED_ID, EncoderService
from components.core.schema import SwitchOff
from components.features.why.compute import parts_of, switch_off
from components.features.why.measures import cosine, pair_cosines
from components.features.why.score import ModelRun, Score, vectors_of
from tests.features.why.scores import score_on, sentence, view_on
from tests.support.tiny_models import FAMILIES

TEXTS = [sentence(text) for text in ("A python slept", "The bank lends money", "", "A cat")]


def tiny(service: EncoderService, family: str = "bert", **how: object) -> Score:
    return score_on(service, *TEXTS[:2], model=f"folder:{family}", **how)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_part_of_every_family_is_measured(tiny_service: EncoderService, family: str) -> None:
    score, view = tiny(tiny_service, family), view_on(*TEXTS, model=f"folder:{family}")
    shown = switch_off(view, score, tiny_service)
    assert shown.layers == (1, 2, 3)
    assert shown.heads.shape == (3, 4)
    assert shown.attention.shape == shown.feed_forward.shape == (3,)
    assert (shown.letters, shown.n_pairs) == (("A", "B"), 1)
    np.testing.assert_array_equal(shown.by_pair[0], shown.heads)
    assert np.abs(shown.heads).max() > 1e-4
    assert shown.cosine == pytest.approx(score.cosine, abs=1e-6)


def test_the_grid_does_not_depend_on_what_else_runs(tiny_service: EncoderService) -> None:
    score = tiny(tiny_service)
    shown = switch_off(view_on(*TEXTS, model="folder:bert"), score, tiny_service)
    parts = parts_of(shown.layers, 4, "zero")
    order = np.random.default_rng(0).permutation(len(parts))
    for i in order[:6]:
        both = [
            ModelRun(side.encoding.text, None, lambda _, own=side.weights: own, (parts[i],))
            for side in score.sides
        ]
        vectors = vectors_of(both[::-1], tiny_service, score.card, layer=3)
        change = cosine(*vectors) - score.cosine
        part = parts[i]
        row = part.layer - 1
        own = {"attention": shown.attention[row], "feed_forward": shown.feed_forward[row]}
        expected = own.get(part.part, shown.heads[row, part.head or 0])
        assert change == pytest.approx(expected, abs=1e-6)


def test_all_pairs_of_the_sentences_are_averaged(tiny_service: EncoderService) -> None:
    score, view = tiny(tiny_service), view_on(*TEXTS, model="folder:bert")
    shown = switch_off(view, score, tiny_service, over="all")
    assert shown.letters == ("A", "B", "D")
    assert shown.notes == ("Sentence C has nothing to compare and is left out.",)
    assert shown.n_pairs == 3
    np.testing.assert_allclose(shown.by_pair.mean(axis=0), shown.heads)
    two = switch_off(view, score, tiny_service)
    np.testing.assert_allclose(shown.by_pair[0], two.heads, atol=1e-6)
    whole = [own.hidden[-1].mean(axis=0, dtype=float) for own in encoded(tiny_service)]
    assert shown.cosine == pytest.approx(pair_cosines(whole).mean(), abs=1e-6)
    best = shown.strongest(3)
    sizes = np.sort(np.abs(shown.heads), axis=None)[::-1][:3]
    assert [abs(head.change) for head in best] == pytest.approx(sizes.tolist())
    for head in best:
        own = shown.by_pair[:, head.layer - 1, head.head]
        assert head.change == pytest.approx(own.mean())
        assert head.n_alike == (np.sign(own) == np.sign(own.mean())).sum()


def encoded(service: EncoderService) -> list:
    return service.encode("folder:bert", [TEXTS[i].text for i in (0, 1, 3)])


def test_the_mean_over_sample_sentences_is_another_constant(tiny_service: EncoderService) -> None:
    score, view = tiny(tiny_service), view_on(*TEXTS, model="folder:bert")
    zero, mean = (switch_off(view, score, tiny_service, to=to) for to in ("zero", "mean"))
    assert np.abs(zero.heads - mean.heads).max() > 1e-4
    assert mean.to == "mean"


def test_what_lies_above_the_layer_is_not_run(tiny_service: EncoderService) -> None:
    view = view_on(*TEXTS, model="folder:bert")
    low = switch_off(view, tiny(tiny_service, layer=1), tiny_service)
    assert low.layers == (1,)
    assert low.heads.shape == (1, 4)
    none = switch_off(view, tiny(tiny_service, layer=0), tiny_service, over="all")
    assert none.heads.shape == (0, 4)
    assert none.by_pair.shape == (3, 0, 4)
    assert not none.strongest(3)


def test_equal_sentences_stay_equal(service: EncoderService) -> None:
    both = [sentence("A python slept")] * 2
    shown = switch_off(view_on(*both), score_on(service, *both), service)
    assert np.abs(shown.heads).max() < 1e-6
    assert shown.heads.shape == (6, 12)
    assert SwitchOff("head", 6, 11) in parts_of(shown.layers, 12, "zero")
    assert service.load(BUNDLED_ID).n_heads == 12

"""Edits with their cosines: ranked, each the cosine of a text that was really read."""

from __future__ import annotations

import pytest
from sklearn.metrics.pairwise import cosine_similarity

from components.core import BUNDLED_ID, EncoderService
from components.features.why.compute import edits_of, neighbours_of
from tests.features.why.scores import PAIR, score_on, sentence
from tests.support.tiny_models import FAMILIES

PET, OTHER = sentence("I love my pet python", "python"), sentence("Rain fell")


def test_edits_are_ranked_by_what_the_model_makes_of_them(service: EncoderService) -> None:
    shown = edits_of(score_on(service, PET, OTHER), service)
    kinds = {each.edit.kind for each in shown.edits}
    assert kinds == {"negation", "order", "neighbour", "typo", "case"}
    cosines = [each.cosine for each in shown.edits]
    assert cosines == sorted(cosines)
    (own,) = service.encode(BUNDLED_ID, [PET.text])
    for each in shown.edits:
        (other,) = service.encode(BUNDLED_ID, [each.edit.text])
        both = (e.hidden[-1].mean(axis=0, keepdims=True) for e in (own, other))
        assert each.cosine == pytest.approx(cosine_similarity(*both)[0, 0], abs=1e-5)
    assert all(each.cosine > 0.9999 for each in shown.edits if each.edit.kind == "case")


def test_where_words_are_chosen_whole_sentences_are_compared(service: EncoderService) -> None:
    both = PET, sentence("A python", "python")
    assert edits_of(score_on(service, *both, what="word"), service).vector_kind == "mean"
    assert edits_of(score_on(service, *both, what="cls", layer=2), service).vector_kind == "cls"


def test_neighbours_are_other_words_written_alike(service: EncoderService) -> None:
    score = score_on(service, sentence("My PET loves Pythons and unbelievability", "PET"), OTHER)
    found = neighbours_of(score.first, service, BUNDLED_ID)
    assert next(iter(found)) == (3, 6)
    assert found[3, 6].isupper()
    assert found[7, 12].islower()
    assert not found[7, 12].startswith("lov")
    assert (0, 2) not in found
    assert (25, 40) not in found


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_edits(tiny_service: EncoderService, family: str) -> None:
    score = score_on(tiny_service, PAIR, OTHER, model=f"folder:{family}")
    shown = edits_of(score, tiny_service)
    assert {"typo", "case"} <= {each.edit.kind for each in shown.edits}
    assert len({each.edit.text for each in shown.edits}) == len(shown.edits)
    assert PAIR.text not in {each.edit.text for each in shown.edits}


@pytest.mark.parametrize(
    "text", ["Die Bank am Fluss", "Le chat dort", "El perro corre", "我喜欢蟒蛇", "…", "x"]
)
def test_what_is_not_clearly_english_has_no_edits(service: EncoderService, text: str) -> None:
    shown = edits_of(score_on(service, sentence(text), OTHER), service)
    assert (shown.edits, shown.is_english) == ((), False)

"""One word's start in several sentences: against the model's own tables and layer 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.features.embedding_layer.controls import TOKEN
from contextlens.features.embedding_layer.embedding_sum import embedding_sum
from contextlens.features.embedding_layer.starts import (
    N_STRIPES,
    Start,
    Starts,
    StartVerdict,
    starts_of,
)
from contextlens.ui.state.view import DEFAULT, Sentence, ViewState
from tests.support.tiny_models import NO_POSITIONS, TYPICAL, build

BAT = (
    Sentence("The bat flew out of the cave", None, (4, 7)),
    Sentence("She swung the bat", None, (14, 17)),
)


def starts(service: EncoderService, view: ViewState) -> Starts:
    found = starts_of(view, embedding_sum(view, service, service.load(view.model)), service)
    assert found is not None
    return found


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def test_two_sentences_with_the_word_at_two_places(service: EncoderService) -> None:
    found = starts(service, replace(DEFAULT, sentences=BAT))
    assert [(s.name, s.position, s.is_example) for s in found.starts] == [
        ("A", 2, False),
        ("B", 4, False),
    ]
    first, second = found.starts
    np.testing.assert_array_equal(first.word, second.word)
    hidden = [
        service.encode(BUNDLED_ID, [s.text], layers=[0])[0].layer(0)[s.position]
        for s in found.starts
    ]
    assert found.similarity == pytest.approx(cosine(*hidden), abs=1e-5)
    position = service.matrix(BUNDLED_ID, "embeddings.position_embeddings.weight")[4]
    segment = service.matrix(BUNDLED_ID, "embeddings.token_type_embeddings.weight")[0]
    np.testing.assert_allclose(second.place, position + segment, atol=1e-6)
    assert found.verdict is StartVerdict.LITTLE
    texts = [str(claim) for claim in (found.headline(), *found.claims())]
    assert texts[0] == "“bat” brings the same numbers into every sentence."
    assert f"similarity **{found.similarity:.2f}** between A and B" in texts[1]


def test_where_the_places_are_the_same_an_example_has_another_one(service: EncoderService) -> None:
    found = starts(service, DEFAULT)
    assert [s.position for s in found.starts[:2]] == [5, 5]
    assert found.starts[2].is_example
    assert found.starts[2].position != 5
    assert [row["start, alike"] for row in found.rows()][:2] == pytest.approx([1, 1], abs=1e-6)


def test_a_word_of_the_second_text_stands_under_that(service: EncoderService) -> None:
    pair = Sentence("Where does a python sleep?", "It coils up in a tree.")
    found = starts(service, TOKEN.put(replace(DEFAULT, sentences=(pair,)), "14"))
    assert (found.token, found.starts[0].text) == ("tree", pair.pair)


@pytest.mark.parametrize("text", ["snake", "", "<b>x</b>", "القط"])
def test_any_text_has_its_picture_or_none(service: EncoderService, text: str) -> None:
    view = replace(DEFAULT, sentences=(Sentence(text),))
    embedding = embedding_sum(view, service, service.load(view.model))
    found = starts_of(view, embedding, service)
    if found is not None:
        assert "<b>x" not in "".join(a.text for a in found.figure().layout.annotations)
        assert len(found.starts) == 2


@pytest.mark.parametrize("family", [*TYPICAL, "nomic_bert"])  # which has segments alone
def test_every_family_has_its_stripes(tiny_service: EncoderService, family: str) -> None:
    view = replace(DEFAULT, model=f"folder:{family}", sentences=BAT)
    found = starts(tiny_service, view)
    traces = found.figure().data
    assert len(traces) == (2 if family in NO_POSITIONS else 3) * len(found.starts)
    assert (found.claims()[0].key.endswith("no_place")) == (family in NO_POSITIONS)
    for trace, vector in zip(traces, (s.word for s in found.starts), strict=False):
        np.testing.assert_allclose(np.ravel(trace.z), vector[:N_STRIPES], atol=1e-5)


@pytest.mark.parametrize("has_table", [True, False])
@pytest.mark.parametrize("act", [True, False])
def test_distances_are_told_only_where_they_act(
    act: bool, has_table: bool, tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    more = {"relative_attention": act, "position_biased_input": has_table}
    build("deberta", tmp_path / "model", **more)
    service, view = open_with(model_folder=tmp_path), replace(DEFAULT, model="folder:model")
    embedding = embedding_sum(view, service, service.load(view.model))
    sure = [claim.key for claim in starts(service, view).sure()]
    kind = [claim.key for claim in embedding.kind()]
    told = "embedding_layer.kind.attention.distances"
    assert (told in sure, told in kind) == (act, act)
    places = "word-position" if has_table else "word"
    assert sure[0] == f"embedding_layer.starts.places.{places}"
    assert not any("act" in str(claim) for claim in starts(service, view).sure() if not act)


def test_the_verdict_follows_the_number(service: EncoderService) -> None:
    found = starts(service, replace(DEFAULT, sentences=BAT))

    def verdict(cosine: float) -> StartVerdict:
        ends = (np.array([1.0, 0.0]), np.array([cosine, np.sqrt(1 - cosine**2)]))
        made = [Start("A", "", 1, end, end, end) for end in ends]
        return replace(found, starts=made).verdict

    assert [verdict(c) for c in (1.0, 0.996, 0.9, 0.5)] == ["nothing", "nothing", "little", "much"]

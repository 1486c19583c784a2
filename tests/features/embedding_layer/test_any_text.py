"""Any text in any family is taken apart, looked at closer, drawn and told without an error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from components.core import EncoderService
from components.features.embedding_layer.compute import (
    MAX_TOKENS,
    EmbeddingView,
    drawn_positions,
    layer_parameters,
    moved_tokens,
    near_rows,
    other_texts,
    position_table,
    segment_rows,
    two_texts,
)
from components.features.embedding_layer.controls import SEGMENT_ONLY, TOKEN, change_in
from components.features.embedding_layer.figures import (
    moved_bars,
    position_heatmap,
    sum_strips,
    token_strips,
    word_row_heatmap,
)
from components.features.embedding_layer.reading import (
    embedding_title,
    learned_reading,
    moved_claim,
    positions_reading,
    same_rows_reading,
    segment_rows_claim,
)
from components.ui.state.view import Sentence, ViewState
from tests.features.embedding_layer.shown import assert_the_model_s, drawn, on, shown, told
from tests.support.claims import read
from tests.support.texts import TYPED
from tests.support.tiny_models import ALL


@pytest.mark.slow
@pytest.mark.parametrize("text", TYPED.values(), ids=TYPED.keys())
def test_any_text_is_taken_apart_and_looked_at(text: str, service: EncoderService) -> None:
    assert_looks_work(on(text, "another text"), service)


@pytest.mark.slow
@pytest.mark.parametrize("family", ALL)
def test_every_family_has_what_it_says(family: str, tiny_service: EncoderService) -> None:
    sentences = (Sentence("the <pad> river", "a bank"), Sentence("the bank"))
    view = replace(on(width="64"), model=f"folder:{family}", sentences=sentences)
    embedding = assert_looks_work(view, tiny_service)
    steps = drawn(embedding)
    segments = segment_rows(embedding, tiny_service)
    assert ("segment" in steps) == (segments is not None) == (family not in {"distilbert", "mpnet"})
    assert ("LayerNorm" in steps) == (family in {"albert", "electra"})
    n_segments = 0 if segments is None else len(segments)
    assert (SEGMENT_ONLY in change_in(n_segments).options) == (n_segments > 1)
    shift = 2 if family in {"roberta", "xlm-roberta", "mpnet"} else 0
    assert position_table(embedding, tiny_service).statistics.first == shift
    named = {p.name for p in layer_parameters(embedding, tiny_service)}
    assert any("project" in n or "mapping_in" in n for n in named) == ("LayerNorm" in steps)


def assert_looks_work(view: ViewState, service: EncoderService) -> EmbeddingView:
    """All that is computed, drawn and said of a text; the numbers of the sum are the model's."""
    embedding = assert_the_model_s(view, service)
    window = embedding.window
    parts = {name: part.of(window) for name, part in embedding.contributions.items()}
    names = embedding.labels[window]
    spoken = [*told(embedding), embedding_title(embedding.shares)]
    title = str(spoken[-1])
    figures = [sum_strips(embedding.panels(), parts, names, title=title)]
    figures += [token_strips(shown(TOKEN.put(view, "0"), service).panels(), title="")]
    for other in other_texts(view, embedding).values():
        pair = two_texts(embedding, other, service)
        spoken += same_rows_reading(pair.shared, in_text=pair.share_text_token)
        labels = pair.drawn_labels
        figures += [
            word_row_heatmap(
                pair.drawn_cosines, labels, pair.drawn_equal, labels=("A", "B"), title=""
            )
        ]
        assert pair.is_cut == (max(map(len, pair.labels)) > MAX_TOKENS)
    near = near_rows(embedding, embedding.focus, service)
    assert near is None or len(near.rows()) == 10
    table = position_table(embedding, service)
    rows = drawn_positions(view, len(table.statistics.cosines))
    state = embedding.card.provenance.embedding_layer
    spoken += positions_reading(table.statistics, state)[0]
    figures += [position_heatmap(table.statistics.cosines[np.ix_(rows, rows)], rows, title="")]
    segments = segment_rows(embedding, service)
    spoken += [segment_rows_claim(segments)]
    for change in change_in(0 if segments is None else len(segments)).options:
        moved = moved_tokens(view, embedding, service, change)
        spoken += [moved_claim(moved.shares, moved.text_ids, change)]
        figures += [moved_bars(moved.drawn_names, moved.shares[moved.drawn], second=True, title="")]
    parameters = layer_parameters(embedding, service)
    spoken += learned_reading(parameters, table.statistics, state)
    assert read(spoken)
    assert not [each for each in map(str, spoken) if "<b>" in each.replace(r"\<b\>", "")]
    assert not [figure for figure in figures if "<script" in figure.to_json()]
    return embedding

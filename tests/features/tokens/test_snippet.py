"""The snippets of Tokens & IDs, run as a reader would run them, give the service's numbers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from contextlens.core import BUNDLED_ID, EncoderService, ModelCard
from contextlens.features.tokens.snippet import row_snippet, tokens_snippet
from tests.support.snippets import run
from tests.support.texts import AWKWARD

KINDS = ("bert", "roberta", "albert")
"""WordPiece, BPE and Unigram; with segments, without, and where they must be asked for."""
CASES = {
    "a pair": ("Where does it sleep?", "In a tree", 512, None),
    "cut pair, padded": ("a long first text that is cut", "short", 8, 12),
    "empty": ("", None, 512, None),
    "an empty pair": ("a", "", 512, 8),
    **{name: (text, None, 512, None) for name, text in AWKWARD.items()},
    "an awkward pair": (AWKWARD["a NUL"], AWKWARD["double quotes"], 12, 20),
}


@pytest.fixture(scope="module")
def card(service: EncoderService) -> ModelCard:
    return service.load(BUNDLED_ID)


def assert_same(
    service: EncoderService, model: str, found: dict[str, Any], case: tuple[Any, ...]
) -> None:
    text, pair, cut, pad_to = case
    pairs = [pair] if pair else None  # transformers takes an empty second text for none
    ours = service.tokenize(model, [text], pairs=pairs, max_length=cut, pad_to=pad_to)[0]
    batch = found["batch"]
    assert batch["input_ids"] == ours.token_ids.tolist()
    assert batch["attention_mask"] == ours.attention_mask.tolist()
    assert found["tokens"] == list(ours.tokens)
    assert found["decoded"] == service.decode(model, ours.token_ids)
    if "token_type_ids" in batch:
        assert batch["token_type_ids"] == ours.token_type_ids.tolist()
    real = ours.attention_mask == 1
    assert [tuple(span) for span in batch["offset_mapping"]][: real.sum()] == [
        tuple(span) for span in ours.offsets[real].tolist()
    ]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_snippet_gives_the_pages_tokens(
    service: EncoderService,
    card: ModelCard,
    case: tuple[Any, ...],
    capsys: pytest.CaptureFixture[str],
) -> None:
    text, pair, cut, pad_to = case
    found = run(tokens_snippet(card, text, pair, cut=cut, pad_to=pad_to))
    assert_same(service, BUNDLED_ID, found, case)
    assert str(found["batch"]["input_ids"][0]) in capsys.readouterr().out


@pytest.mark.parametrize("family", KINDS)
def test_every_kinds_snippets_run_once_their_path_is_filled_in(
    tiny_service: EncoderService, tiny_root: Path, family: str
) -> None:
    card = tiny_service.load(f"folder:{family}")

    def filled_in(code: str) -> str:
        return code.replace(f"path/to/{family}", str(tiny_root / family))

    for name in ("a pair", "cut pair, padded", "an empty pair"):
        text, pair, cut, pad_to = CASES[name]
        case = (text, pair, min(cut, card.max_length), pad_to)
        code = tokens_snippet(card, text, pair, cut=case[2], pad_to=pad_to)
        assert_same(tiny_service, card.id, run(filled_in(code)), case)
    row = run(filled_in(row_snippet(card, 17)))["row"]
    np.testing.assert_array_equal(row, tiny_service.word_rows(card.id, [17])[0])


@pytest.mark.parametrize("token_id", [0, 30521])
def test_one_hot_times_the_matrix_is_the_row_that_the_page_shows(
    service: EncoderService, card: ModelCard, token_id: int
) -> None:
    found = run(row_snippet(card, token_id))
    assert torch.equal(found["product"], found["row"])
    np.testing.assert_array_equal(found["row"], service.word_rows(BUNDLED_ID, [token_id])[0])


def test_a_model_from_the_hub_is_named_with_its_commit(card: ModelCard) -> None:
    commit = "86b5e0934494bd15c9632b12f734a8a67f723594"
    hub = replace(card, source="hub", id="someone/tiny-bert", revision=commit)
    for code in (tokens_snippet(hub, "a", None, cut=8, pad_to=None), row_snippet(hub, 5)):
        assert f'"someone/tiny-bert", revision="{commit}"' in code
        assert "contextlens" not in code

"""What is told of a text as a whole and of the pooler, whatever was typed and loaded."""

from __future__ import annotations

from dataclasses import replace

from components.core import BUNDLED_ID, EncoderService, ModelCard
from components.core.schema import PartState, Provenance
from components.features.layers.reading.notes import shapes_note, text_notes
from components.features.layers.reading.pooler import pooler_reading


def test_the_shapes_name_what_the_pooler_gives() -> None:
    said = shapes_note((7, 9, 384), "untrained")
    assert "hidden states (7 layers, 9 tokens, 384 dimensions)" in said
    assert said.endswith("pooler output (384,), untrained")
    assert shapes_note((7, 9, 384), None).endswith("pooler output none")


def notes(**given: int) -> str:
    """What is told of a text of five tokens, unless something else is given."""
    usual = {"n_own": 5, "n_unknown": 0, "n_lost": 0, "has_pair": False, "has_segments": True}
    return " ".join(text_notes(**{**usual, **given}))


def test_what_of_a_text_is_unknown_or_left_out_is_told() -> None:
    assert notes() == ""
    assert notes(n_own=1, n_unknown=1).startswith(
        "The only token of this text is unknown to the model"
    )
    assert notes(n_unknown=1).startswith("1 of 5 tokens of this text is unknown")
    assert notes(n_unknown=5).startswith("5 of 5 tokens of this text are unknown")
    assert "its last 90 tokens are left out" in notes(n_lost=90)
    assert "its last token is left out" in notes(n_lost=1)
    assert "longer than the model takes: 2 tokens are left out." in notes(n_lost=2, has_pair=True)


def test_how_two_texts_go_together_depends_on_segments() -> None:
    assert notes(has_pair=True).endswith("every token can draw on either.")
    assert "This model has no segments" in notes(has_pair=True, has_segments=False)


def card_with(card: ModelCard, state: str, family: str = "bert") -> ModelCard:
    part = PartState(state, "Every bias of the pooler is exactly 0.")
    provenance = Provenance(*(replace(part, state="trained") for _ in "ab"), part)
    return replace(card, provenance=provenance, family=family)


def test_the_pooler_s_story_follows_its_provenance(service: EncoderService) -> None:
    card = service.load(BUNDLED_ID)
    assert card.provenance.pooler.state == "untrained"
    own = " ".join(pooler_reading(card, 6e-8))
    assert "largest difference is **6.0e-08**" in own
    assert "nothing shows that it was trained: every bias of the pooler is exactly 0" in own
    assert "next-sentence" not in own
    assert "next-sentence prediction" in " ".join(pooler_reading(card_with(card, "trained"), 0.0))
    albert = " ".join(pooler_reading(card_with(card, "trained", "albert"), 0.0))
    assert "sentence-order" in albert
    assert "no task for it" in " ".join(pooler_reading(card_with(card, "trained", "mpnet"), 0.0))
    absent = pooler_reading(card_with(card, "absent"), None)
    assert absent[0].startswith("This model has no pooler")
    assert len(absent) == 1


def test_a_pooler_that_is_not_what_we_think_is_told(service: EncoderService) -> None:
    said = pooler_reading(card_with(service.load(BUNDLED_ID), "trained"), 0.5)
    assert "**do not** give" in said[0]

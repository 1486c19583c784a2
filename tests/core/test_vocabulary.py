"""Tokenizers on their own: vocabulary, normalisation and the way back, as transformers has them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contextlens.analysis.tokens import labels
from contextlens.core import BUNDLED_ID, EncoderService
from contextlens.core.errors import CheckpointError, RequestError
from contextlens.features.tokens.vocabulary_search import explain_cut
from tests.support.tiny_models import ALL, TYPICAL, build

TEXTS = ["I love my pet python", "Café İstanbul ÜBER", "🤗 漢字", "a  b\tc\n", "", "##ing [SEP]"]


by_model = pytest.mark.parametrize("model", [BUNDLED_ID, *(f"folder:{n}" for n in TYPICAL)])


# The vocabulary


def test_the_measured_facts_hold(service: EncoderService, facts: dict[str, Any]) -> None:
    vocabulary, known = service.vocabulary(BUNDLED_ID), facts["vocabulary"]
    assert len(vocabulary.pieces) == known["size"] == 30522
    assert ("sinan" in vocabulary.ids) is known["sinan_in_vocabulary"] is False
    assert {piece: vocabulary.ids[piece] for piece in known["ids"]} == known["ids"]
    assert vocabulary.pad_id == known["pad_id"]


@by_model
def test_every_piece_is_where_the_tokenizer_has_it(
    tiny_service: EncoderService, reference: dict[str, Any], model: str
) -> None:
    vocabulary, tokenizer = tiny_service.vocabulary(model), reference[model]
    assert dict(vocabulary.ids) == tokenizer.get_vocab()
    assert len(vocabulary.pieces) == len(vocabulary.texts) == len(vocabulary.kinds)
    special = {i for i, kind in enumerate(vocabulary.kinds) if kind == "special"}
    assert special == set(tokenizer.all_special_ids)
    assert vocabulary.unknown_id == tokenizer.unk_token_id
    assert vocabulary.pad_id == tokenizer.pad_token_id


@pytest.mark.parametrize(
    ("model", "method", "start", "rest"),
    [
        (BUNDLED_ID, "WordPiece", "an", "##an"),
        ("folder:bert", "WordPiece", "the", None),
        ("folder:roberta", "BPE", "Ġthe", None),
        ("folder:albert", "Unigram", "▁the", None),
    ],
)
def test_pieces_say_whether_they_begin_a_word(
    tiny_service: EncoderService, model: str, method: str, start: str, rest: str | None
) -> None:
    vocabulary = tiny_service.vocabulary(model)
    assert vocabulary.method == method
    here = vocabulary.ids[start]
    assert (vocabulary.kinds[here], vocabulary.texts[here]) == ("start", start.lstrip("Ġ▁"))
    if rest is not None:
        there = vocabulary.ids[rest]
        assert (vocabulary.kinds[there], vocabulary.texts[there]) == ("continuation", "an")


def test_bpe_that_joins_characters_has_its_own_name_and_marks(
    tmp_path: Path, open_with: Callable[..., EncoderService]
) -> None:
    """As in mmBERT: ▁ begins a word, and what the vocabulary lacks is read as bytes."""
    build("modernbert-characters", tmp_path / "model")
    service, model = open_with(model_folder=tmp_path), "folder:model"
    vocabulary = service.vocabulary(model)
    assert vocabulary.method == "SentencePiece BPE"
    here = vocabulary.ids["▁the"]
    assert (vocabulary.kinds[here], vocabulary.texts[here]) == ("start", "the")
    (tokens,) = service.tokenize(model, ["The teachings 你"])
    assert labels(tokens, vocabulary) == tokens.tokens
    assert tokens.tokens[-4:-1] == ("<0xE4>", "<0xBD>", "<0xA0>")
    cut = explain_cut(tokens, vocabulary, service.cut_rules(model))
    assert cut is not None
    assert "".join(cut.pieces) == "▁teachings"
    assert cut.claim(vocabulary.method).key == "tokens.why.merged"


def test_byte_coded_pieces_are_shown_as_the_text_they_stand_for(
    tiny_service: EncoderService,
) -> None:
    vocabulary = tiny_service.vocabulary("folder:roberta")
    tokens = tiny_service.tokenize("folder:roberta", ["é"])[0]
    own = [vocabulary.texts[i] for i in tokens.token_ids[1:-1]]
    assert "".join(own).replace("\ufffd", "") in {"", "é"}
    assert not any(sign in text for text in vocabulary.texts for sign in "ĠĊ")


def test_the_bundled_models_special_tokens_and_word_bound(service: EncoderService) -> None:
    vocabulary = service.vocabulary(BUNDLED_ID)
    special = [
        p for p, k in zip(vocabulary.pieces, vocabulary.kinds, strict=True) if k == "special"
    ]
    assert special == ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    assert vocabulary.longest_word == 100
    assert vocabulary.kinds.count("continuation") == sum(
        piece.startswith("##") for piece in vocabulary.pieces
    )


# There and back


@by_model
def test_normalisation_is_the_tokenizers_own(
    tiny_service: EncoderService, reference: dict[str, Any], model: str
) -> None:
    normalizer = reference[model].backend_tokenizer.normalizer
    wanted = [text if normalizer is None else normalizer.normalize_str(text) for text in TEXTS]
    assert tiny_service.normalize(model, TEXTS) == wanted


@by_model
@pytest.mark.parametrize("skip", [False, True])
def test_decoding_is_the_tokenizers_own(
    tiny_service: EncoderService, reference: dict[str, Any], model: str, skip: bool
) -> None:
    for text in TEXTS:
        ids = tiny_service.tokenize(model, [text])[0].token_ids
        decoded = tiny_service.decode(model, ids, skip_special=skip)
        assert decoded == reference[model].decode(ids, skip_special_tokens=skip)


@pytest.mark.parametrize("token_id", [-1, 30522])
def test_an_id_that_is_none_is_refused(service: EncoderService, token_id: int) -> None:
    with pytest.raises(RequestError, match=rf"{token_id}.*0 to 30,521"):
        service.decode(BUNDLED_ID, [101, token_id])


# Cutting at a length


@given(n=st.integers(3, 20))
def test_a_length_cuts_like_transformers(service: EncoderService, n: int) -> None:
    text = "She is a MachineLearning Engineer and works in California"
    cut = service.tokenize(BUNDLED_ID, [text], max_length=n)[0]
    whole = service.tokenize(BUNDLED_ID, [text])[0]
    kept = min(n, whole.n_tokens)
    assert cut.token_ids.tolist() == [*whole.token_ids[: kept - 1], 102]
    assert cut.n_truncated == whole.n_tokens - kept


@by_model
def test_pairs_are_cut_longest_first(
    tiny_service: EncoderService, reference: dict[str, Any], model: str
) -> None:
    pair = ("the cat sat on the mat " * 4, "the dog")
    ours = tiny_service.tokenize(model, [pair[0]], pairs=[pair[1]], max_length=12)[0]
    theirs = reference[model](*pair, truncation="longest_first", max_length=12)
    assert ours.token_ids.tolist() == theirs["input_ids"]
    assert ours.n_truncated > 0


@pytest.mark.parametrize("length", [2, 513, True, "12", 3.0])
def test_a_length_that_does_not_fit_is_refused(service: EncoderService, length: Any) -> None:
    with pytest.raises(RequestError, match=r"from 3 .* to 512"):
        service.tokenize(BUNDLED_ID, ["a text"], max_length=length)


def test_lengths_have_entries_of_their_own_in_the_cache(service: EncoderService) -> None:
    text = "one two three four five"
    lengths = [service.tokenize(BUNDLED_ID, [text], max_length=n)[0].n_tokens for n in (7, 4, 7)]
    assert lengths == [7, 4, 7]


# Without the network


@pytest.mark.parametrize("name", ALL)
def test_a_tokenizer_alone_says_what_the_model_says(
    open_with: Callable[..., EncoderService], name: str
) -> None:
    model = f"folder:{name}"
    alone, whole = open_with(), open_with()
    card, loaded = alone.load_tokenizer(model), whole.load(model)
    assert not any(spec.loaded for spec in alone.models())
    for field in ("id", "title", "family", "max_length", "cased", "has_segments"):
        assert getattr(card, field) == getattr(loaded, field), field
    one, other = (s.tokenize(model, ["The cat"], pairs=["a dog"])[0] for s in (alone, whole))
    assert one.tokens == other.tokens
    assert np.array_equal(one.token_ids, other.token_ids)
    assert whole.load_tokenizer(model) == card


def test_a_tokenizer_needs_no_weights(
    open_with: Callable[..., EncoderService], tiny_root: Path, tmp_path: Path
) -> None:
    shutil.copytree(tiny_root / "bert", tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    service = open_with(model_folder=tmp_path)
    assert service.load_tokenizer("folder:bare").vocabulary_size > 5
    with pytest.raises(CheckpointError, match="no weights"):
        service.load("folder:bare")


def test_many_tokenizers_may_be_used_in_turn(
    open_with: Callable[..., EncoderService], tiny_root: Path, tmp_path: Path
) -> None:
    for i in range(12):
        shutil.copytree(tiny_root / "bert", tmp_path / f"n{i}")
    service = open_with(model_folder=tmp_path)
    for _ in range(2):
        for i in range(12):
            assert service.tokenize(f"folder:n{i}", ["the"])[0].n_tokens == 3

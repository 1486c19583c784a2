"""The service's numbers equal those of plain transformers, one text at a time.

The oracle loads each model itself and uses none of our code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from contextlens.core import BUNDLED_ID, EncoderService, Encoding
from tests.support.oracle import Oracle, Plain
from tests.support.tiny_models import FAMILIES, VARIANTS

N_SENTENCES = 60
N_FOR_VARIANTS = 40
PAIRS = (
    ("Which snake is it?", "A python, I think."),
    ("Rain.", "The bank of the river was under water by noon."),
    ("", "Nothing stands before this."),
)


@dataclass(frozen=True)
class Subject:
    """A model under test: its id for the service, its oracle, and texts with their answers."""

    model: str
    oracle: Oracle
    texts: Sequence[str]
    plain: Sequence[Plain]


@pytest.fixture(scope="module", params=[BUNDLED_ID, *FAMILIES, *VARIANTS])
def subject(
    request: pytest.FixtureRequest,
    tiny_service: EncoderService,
    tiny_root: Path,
    bundled_folder: Path,
) -> Subject:
    tiny = request.param != BUNDLED_ID
    model = f"folder:{request.param}" if tiny else BUNDLED_ID
    folder = tiny_root / request.param if tiny else bundled_folder
    oracle = Oracle(folder, 64 if tiny else 512)
    texts = oracle.sentences(N_FOR_VARIANTS if request.param in VARIANTS else N_SENTENCES)
    return Subject(model, oracle, texts, [oracle(text) for text in texts])


@pytest.fixture(scope="module")
def forgetful(open_with: Callable[..., EncoderService]) -> EncoderService:
    """A service whose cache is too small to keep anything."""
    return open_with(cache_bytes=1)


def assert_agrees(encoding: Encoding, plain: Plain, tolerance: float = 1e-5) -> None:
    assert encoding.hidden.dtype == np.float32
    for row, layer in enumerate(encoding.layers):
        expected = plain.hidden[layer]
        actual = encoding.hidden[row, : len(expected)]
        bound = tolerance * max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(actual, expected, rtol=0, atol=bound, err_msg=f"layer {layer}")
    if plain.pooler_output is None:
        assert encoding.pooler_output is None
    else:
        np.testing.assert_allclose(
            encoding.pooler_output, plain.pooler_output, rtol=0, atol=tolerance
        )


def test_the_sentences_have_all_lengths(subject: Subject) -> None:
    lengths = [plain.hidden.shape[1] for plain in subject.plain]
    assert len(lengths) in {N_SENTENCES, N_FOR_VARIANTS}
    assert min(lengths) <= 4
    assert max(lengths) >= subject.oracle.max_length - 2
    assert len(set(lengths)) >= 25


def test_batched_and_cached_equal_plain_transformers(
    subject: Subject, tiny_service: EncoderService
) -> None:
    shuffled = np.random.default_rng(0).permutation(len(subject.texts))
    texts = [subject.texts[i] for i in shuffled]
    first = tiny_service.encode(subject.model, texts)
    again = tiny_service.encode(subject.model, texts)
    assert [e.text for e in first] == texts
    for i, encoding, cached in zip(shuffled, first, again, strict=True):
        plain = subject.plain[i]
        assert encoding.hidden.shape == plain.hidden.shape
        assert encoding.layers == tuple(range(len(plain.hidden)))
        assert_agrees(encoding, plain)
        np.testing.assert_array_equal(encoding.hidden, cached.hidden)


@pytest.mark.slow
def test_alone_equals_plain_transformers(subject: Subject, forgetful: EncoderService) -> None:
    for text, plain in zip(subject.texts, subject.plain, strict=True):
        assert_agrees(forgetful.encode(subject.model, [text])[0], plain)


def test_padding_changes_no_real_token(subject: Subject, forgetful: EncoderService) -> None:
    lengths = [plain.hidden.shape[1] for plain in subject.plain]
    bounds = sorted({*np.quantile(lengths, np.arange(1, 10) / 10).astype(int), max(lengths)})
    done = 0
    for low, pad_to in zip([0, *bounds], bounds, strict=False):
        chosen = [i for i, n in enumerate(lengths) if low < n <= pad_to]
        texts = [subject.texts[i] for i in chosen]
        encodings = forgetful.encode(subject.model, texts, pad_to=int(pad_to))
        for i, encoding in zip(chosen, encodings, strict=True):
            assert encoding.hidden.shape[1] == pad_to
            assert_agrees(encoding, subject.plain[i])
        done += len(chosen)
    assert done == len(lengths)


def test_equals_transformers_under_either_attention(
    subject: Subject, tiny_service: EncoderService
) -> None:
    texts = subject.texts[::4]
    for text, encoding in zip(texts, tiny_service.encode(subject.model, texts), strict=True):
        assert_agrees(encoding, subject.oracle(text, attentions=True))


def test_the_passport_names_the_attention_that_ran(
    subject: Subject, tiny_service: EncoderService
) -> None:
    default = subject.oracle.model.config._attn_implementation
    kinds = {f"folder:{name}" for name in ("mpnet", "megatron-bert", "rembert")}
    is_eager = subject.model in kinds or "deberta" in subject.model
    assert default == ("eager" if is_eager else "sdpa")
    text = subject.texts[3:4]
    for attentions, ran in ((False, default), (True, "eager"), ([(1, 0)], "eager")):
        encoding = tiny_service.encode(subject.model, text, attentions=attentions)[0]
        assert encoding.passport.settings["attention"] == ran


@pytest.mark.parametrize("mask", ["model", "ones"])
def test_padding_tokens_equal_plain_transformers_too(
    subject: Subject, tiny_service: EncoderService, mask: str
) -> None:
    short = [i for i, plain in enumerate(subject.plain) if plain.hidden.shape[1] <= 24]
    texts = [subject.texts[i] for i in short[:: len(short) // 4]]
    encodings = tiny_service.encode(subject.model, texts, pad_to=24, mask=mask)
    for text, encoding in zip(texts, encodings, strict=True):
        plain = subject.oracle(text, pad_to=24, mask=mask)
        assert encoding.hidden.shape == plain.hidden.shape
        assert_agrees(encoding, plain)


def test_the_mask_matters_where_there_is_padding(
    subject: Subject, tiny_service: EncoderService
) -> None:
    text = ["The bank of the river"]
    masked, unmasked = (
        tiny_service.encode(subject.model, text, pad_to=20, mask=mask)[0]
        for mask in ("model", "ones")
    )
    real = masked.attention_mask == 1  # DeBERTa sets layer 0 to 0 at padding
    np.testing.assert_array_equal(masked.layer(0)[real], unmasked.layer(0)[real])
    assert np.abs(masked.layer(1)[0] - unmasked.layer(1)[0]).max() > 1e-3


def test_without_mask_other_texts_of_a_batch_change_nothing(
    subject: Subject, tiny_service: EncoderService
) -> None:
    texts = subject.texts[: len(subject.texts) // 2 : 4]
    for text, encoding in zip(
        texts, tiny_service.encode(subject.model, texts, mask="ones"), strict=True
    ):
        assert_agrees(encoding, subject.oracle(text, mask="ones"))


def test_chosen_layers_are_those_layers(subject: Subject, tiny_service: EncoderService) -> None:
    text, plain = subject.texts[25], subject.plain[25]
    encoding = tiny_service.encode(subject.model, [text], layers=[3, 0])[0]
    assert encoding.layers == (3, 0)
    assert len(encoding.hidden) == 2
    assert_agrees(encoding, plain)
    np.testing.assert_array_equal(encoding.layer(0), encoding.hidden[1])
    with pytest.raises(ValueError, match="was not encoded"):
        encoding.layer(1)


def test_pairs_equal_plain_transformers(subject: Subject, tiny_service: EncoderService) -> None:
    texts, pairs = zip(*PAIRS, strict=True)
    for (text, pair), encoding in zip(
        PAIRS, tiny_service.encode(subject.model, texts, pairs=pairs), strict=True
    ):
        assert (encoding.text, encoding.pair) == (text, pair)
        assert_agrees(encoding, subject.oracle(text, pair))


def test_texts_with_and_without_a_pair_can_be_mixed(
    subject: Subject, tiny_service: EncoderService
) -> None:
    text, pair = PAIRS[0]
    alone, with_pair = tiny_service.encode(subject.model, [text, text], pairs=[None, pair])
    assert_agrees(alone, subject.oracle(text))
    assert_agrees(with_pair, subject.oracle(text, pair))


def test_attentions_equal_plain_transformers(
    subject: Subject, tiny_service: EncoderService
) -> None:
    texts = subject.texts[2:30:6]
    encodings = tiny_service.encode(subject.model, texts, attentions=True)
    for text, encoding in zip(texts, encodings, strict=True):
        plain = subject.oracle(text, attentions=True)
        assert encoding.attentions is not None
        assert encoding.attentions.dtype == np.float32
        assert encoding.attentions.shape == plain.attentions.shape
        np.testing.assert_allclose(encoding.attentions, plain.attentions, rtol=0, atol=1e-5)
        np.testing.assert_allclose(encoding.attentions.sum(axis=-1), 1.0, rtol=0, atol=1e-5)
        assert_agrees(encoding, plain)


def test_padding_gets_no_attention_under_the_mask(
    subject: Subject, tiny_service: EncoderService
) -> None:
    text = ["She asked the bank for money"]
    masked, unmasked = (
        tiny_service.encode(subject.model, text, pad_to=32, mask=mask, attentions=True)[0]
        for mask in ("model", "ones")
    )
    padding = masked.attention_mask == 0
    assert padding.any()
    # Padding far from every real token sees nothing in a local layer, so its own row is undefined.
    assert np.all(masked.attentions[..., ~padding, :][..., padding] == 0)
    assert unmasked.attentions[..., padding].sum(axis=-1).max() > 0.1
    plain = subject.oracle(text[0], pad_to=32, attentions=True)
    np.testing.assert_allclose(masked.attentions, plain.attentions, rtol=0, atol=1e-5)
    np.testing.assert_allclose(masked.attentions.sum(axis=-1), 1.0, rtol=0, atol=1e-5)


def test_single_heads_come_in_the_order_asked(
    subject: Subject, tiny_service: EncoderService
) -> None:
    text = subject.texts[30:31]
    heads = [(3, 1), (1, 3), (2, 0)]
    chosen = tiny_service.encode(subject.model, text, attentions=heads)[0].attentions
    plain = subject.oracle(text[0], attentions=True).attentions
    assert chosen.shape == (3, *plain.shape[2:])
    for row, (layer, head) in zip(chosen, heads, strict=True):
        np.testing.assert_allclose(row, plain[layer - 1, head], rtol=0, atol=1e-5)


def test_the_passport_names_model_checksum_and_versions(
    subject: Subject, tiny_service: EncoderService
) -> None:
    passport = tiny_service.encode(subject.model, subject.texts[:1])[0].passport
    assert passport.model == subject.model
    assert passport.checksum == tiny_service.load(subject.model).checksum
    assert passport.versions["torch"] == torch.__version__
    assert "transformers" in passport.versions


def test_the_bundled_model_gives_the_measured_cosines(
    service: EncoderService, facts: dict[str, Any]
) -> None:
    places = {
        "pet": ("I love my pet python", 5),
        "language": ("I love coding in python", 5),
        "snake": ("snake", 1),
        "programming": ("programming", 1),
    }
    texts, indices = zip(*places.values(), strict=True)
    vectors = {
        name: encoding.hidden[:, index]
        for name, index, encoding in zip(
            places, indices, service.encode(BUNDLED_ID, texts), strict=True
        )
    }
    measured = {k: v for k, v in facts["bundled_model_cosines"].items() if "~" in k}
    assert len(measured) == 4
    for names, expected in measured.items():
        a, b = (vectors[name] for name in names.split("~"))
        norms = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
        np.testing.assert_allclose((a * b).sum(axis=-1) / norms, expected, rtol=0, atol=6e-4)

"""What a model's trained heads say: hidden tokens, and whether a sentence follows another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch

from contextlens.core.encoder.heads import KINDS, Head
from contextlens.core.encoder.inputs import Request, is_index
from contextlens.core.encoder.loading import LoadedModel
from contextlens.core.encoder.running import PreparedText, prepare_texts
from contextlens.core.errors import RequestError
from contextlens.core.schema import (
    Classification,
    Encoding,
    FloatArray,
    IntArray,
    Labels,
    Passport,
    TokenPredictions,
    Tokens,
)

__all__ = [
    "PredictionRequest",
    "classify",
    "follows",
    "labelling_head",
    "masked_texts",
    "predict",
    "scores_of",
    "trained_head",
]

_MAX_BEST = 100


@dataclass(frozen=True)
class PredictionRequest:
    """What is asked about every text, checked against the model by `checked`."""

    masked: bool
    n_best: int
    candidates: tuple[int, ...]

    @classmethod
    def checked(
        cls, loaded: LoadedModel, *, masked: bool, n_best: int, candidates: Sequence[int]
    ) -> PredictionRequest:
        """Return a request that fits this model.

        Raises:
            RequestError: the model has no trained head, or a value is out of range.
        """
        trained_head(loaded, "token_head")
        title, size = loaded.card.title, loaded.card.vocabulary_size
        if masked and loaded.reader.tokenizer.mask_token_id is None:
            raise RequestError(f"The tokenizer of {title} has no mask token to hide a word with.")
        if not is_index(n_best, 0, _MAX_BEST):
            raise RequestError(f"n_best is {n_best!r}; it must be from 0 to {_MAX_BEST}.")
        if not all(is_index(one, 0, size - 1) for one in candidates):
            raise RequestError(
                f"candidates are {list(candidates)!r:.100}; the token IDs of {title} are 0 to "
                f"{size - 1}."
            )
        return cls(bool(masked), min(int(n_best), size), tuple(int(one) for one in candidates))


def trained_head(loaded: LoadedModel, kind: str) -> Head:
    """Return a trained head of a model.

    Raises:
        RequestError: the model has none.
    """
    if kind not in loaded.heads:
        reason = getattr(loaded.card.provenance, kind).reason
        raise RequestError(
            f"{loaded.card.title} cannot answer this. {reason} Choose another model."
        )
    return loaded.heads[kind]


def masked_texts(
    loaded: LoadedModel,
    texts: Sequence[str],
    positions: Sequence[Sequence[int]],
    request: Request,
    *,
    pairs: Sequence[str | None] | None,
    masked: bool,
) -> tuple[list[PreparedText], list[PreparedText]]:
    """Return the texts as written, and as the model reads them: with or without mask tokens.

    Raises:
        RequestError: a text does not have one of its positions.
    """
    written = prepare_texts(loaded, texts, request, pairs=pairs)
    if len(positions) != len(written):
        raise RequestError(
            f"There are {len(written)} texts and {len(positions)} lists of positions; give one "
            "list for each text."
        )
    read = []
    for text, places in zip(written, positions, strict=True):
        tokens = text.tokens
        if not places or not all(is_index(one, 0, tokens.n_tokens - 1) for one in places):
            raise RequestError(
                f"The positions {list(places)!r:.100} were asked of a text with {tokens.n_tokens} "
                f"tokens. Give at least one, each from 0 to {tokens.n_tokens - 1}."
            )
        if masked:
            ids = tokens.token_ids.copy()
            ids[list(places)] = loaded.reader.tokenizer.mask_token_id
            tokens = replace(tokens, token_ids=ids)
        read.append(replace(text, tokens=tokens))
    return written, read


def predict(
    loaded: LoadedModel,
    written: Sequence[PreparedText],
    encodings: Sequence[Encoding],
    positions: Sequence[Sequence[int]],
    request: PredictionRequest,
) -> list[TokenPredictions]:
    """Return what the head expects at the positions of each text.

    Args:
        loaded: a model with a trained head.
        written: the texts as written.
        encodings: the texts as the model read them.
        positions: for each text, the positions to predict.
        request: what is asked.
    """
    at = [list(map(int, places)) for places in positions]
    states = [
        encoding.hidden[:, places].reshape(-1, loaded.card.n_dims)
        for encoding, places in zip(encodings, at, strict=True)
    ]
    ids = [
        np.tile(text.tokens.token_ids[places], len(encoding.layers))
        for text, encoding, places in zip(written, encodings, at, strict=True)
    ]
    numbers = _numbers(loaded, np.concatenate(states), np.concatenate(ids), request)
    results, start = [], 0
    for text, encoding, places in zip(written, encodings, at, strict=True):
        shape = len(encoding.layers), len(places)
        stop = start + shape[0] * shape[1]
        own = {name: rows[start:stop].reshape(*shape, *rows.shape[1:]) for name, rows in numbers}
        for array in own.values():
            array.flags.writeable = False
        results.append(
            TokenPredictions(
                tokens=text.tokens,
                positions=tuple(places),
                is_masked=request.masked,
                layers=encoding.layers,
                passport=_passport(encoding.passport, places, masked=request.masked),
                **own,
            )
        )
        start = stop
    return results


def _numbers(
    loaded: LoadedModel, states: FloatArray, written: IntArray, request: PredictionRequest
) -> list[tuple[str, Any]]:
    """The arrays of `TokenPredictions` by name, each with n rows, for (n, n_dims) states."""
    device, start = loaded.device, 0
    parts: list[list[Any]] = []
    head = trained_head(loaded, "token_head")
    for rows in head.logits(device.put(torch.from_numpy(states[:, None]))):
        logits, n = rows[:, 0], len(rows)
        own = torch.from_numpy(written[start : start + n])[:, None]
        others = torch.tensor(request.candidates, dtype=torch.int64).expand(n, -1)
        asked = device.put(torch.cat([own, others], dim=1))
        logs = logits.log_softmax(dim=-1)
        best, best_ids = logs.topk(request.n_best, dim=-1)
        values = logs.gather(1, asked)
        ranks = torch.stack([1 + (logs > one[:, None]).sum(dim=1) for one in values.T], dim=1)
        parts.append([array.cpu().numpy() for array in (best_ids, best, values, ranks)])
        start += n
    arrays = [np.concatenate(rows) for rows in zip(*parts, strict=True)]
    log_probabilities, positions = arrays[2], arrays[3]
    return [
        ("best_ids", arrays[0]),
        ("best", arrays[1]),
        ("written", log_probabilities[:, 0]),
        ("written_ranks", positions[:, 0]),
        ("candidates", log_probabilities[:, 1:]),
        ("candidate_ranks", positions[:, 1:]),
    ]


def _passport(passport: Passport, positions: Sequence[int], *, masked: bool) -> Passport:
    name = "masked positions" if masked else "predicted positions"
    settings = {**passport.settings, "head": "masked language model", name: list(positions)}
    return replace(passport, settings=settings)


def follows(loaded: LoadedModel, encodings: Sequence[Encoding]) -> list[float]:
    """The probability that the second text of each pair follows its first.

    Args:
        loaded: a model with a trained head for the next sentence.
        encodings: the pairs, with the last layer's hidden states alone.
    """
    head, probabilities = trained_head(loaded, "next_head"), list[float]()
    for encoding in encodings:
        states = torch.from_numpy(encoding.hidden[-1:, :1].copy())  # the pooler reads one token
        (logits,) = head.logits(loaded.device.put(states))
        probabilities.append(float(logits.softmax(dim=-1)[0, 0]))  # index 0 stands for "follows"
    return probabilities


def labelling_head(loaded: LoadedModel) -> tuple[str, Head]:
    """Return the trained head of a model that labels texts or tokens, with its kind.

    Raises:
        RequestError: the model has none.
    """
    kind = "label_head" if "label_head" in loaded.heads else "text_head"
    return kind, trained_head(loaded, kind)


def classify(loaded: LoadedModel, encodings: Sequence[Encoding]) -> list[Classification]:
    """Return the labels of each text, or of its tokens.

    Args:
        loaded: a model with a trained head for texts or tokens.
        encodings: the texts, with the last layer's hidden states alone.
    """
    (kind, head), labels, results = labelling_head(loaded), loaded.card.labels, []
    for encoding in encodings:
        states = loaded.device.put(torch.from_numpy(encoding.hidden[-1:].copy()))
        (logits,) = head.logits(states)
        array: FloatArray = logits[0].float().cpu().numpy()
        scores: FloatArray = scores_of(torch.from_numpy(array.copy()), labels).cpu().numpy()
        array.flags.writeable = scores.flags.writeable = False
        tokens = Tokens(**{field.name: getattr(encoding, field.name) for field in fields(Tokens)})
        read = {"head": KINDS[kind].suffix, "scores": labels.scores}
        passport = replace(encoding.passport, settings={**encoding.passport.settings, **read})
        results.append(Classification(tokens, labels.names, array, scores, passport))
    return results


def scores_of(logits: torch.Tensor, labels: Labels) -> torch.Tensor:
    """Scores from logits (..., n_labels), as transformers' pipelines give them."""
    if labels.scores == "softmax":
        return logits.softmax(dim=-1)
    return logits.sigmoid() if labels.scores == "sigmoid" else logits

"""The data behind the Layer by layer page: tokens, whole layers, the pooler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.analysis.baseline import N_PAIRS, SEED, Band, Baseline
from contextlens.analysis.similarity import cosine_matrix
from contextlens.analysis.tokens import kinds, labels
from contextlens.content.bundled_texts import baseline_sentences
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import RequestError
from contextlens.core.schema import FloatArray, Passport, Vocabulary
from contextlens.core.words import split_words, token_of_word
from contextlens.features.layers import measures
from contextlens.features.layers.controls import MEASURE, MEASURES, SENTENCE, TOKEN, WORDS
from contextlens.features.layers.measures import (
    MEASURE_NAMES,
    LayerSimilarity,
    Measure,
    Neighbours,
    WordVectors,
    layer_rows,
    lowest_cosine,
    measure,
    nearest,
    own_tokens,
    pool_by_hand,
    token_pairs,
)
from contextlens.features.layers.snippet import SnippetText
from contextlens.figures.similarity import cosine_range
from contextlens.ui.state.controls import sentence_index
from contextlens.ui.state.view import Sentence, ViewState, letter

# --- One sentence layer by layer

Arrays = dict[str, NDArray[Any]]
_NEAREST = 2
_MOST_CELLS = 64 * 64  # of a table of pairs


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """The hidden states of one sentence.

    Attributes:
        index: the sentence's index.
        labels: the text written on each token.
        measure: the measure in the picture.
        layer: the chosen layer.
        picked: the position of the picked token.
        band: the random-pair baseline, or None until it is measured.
    """

    index: int
    sentence: Sentence
    card: ModelCard
    vocabulary: Vocabulary
    encoding: Encoding
    labels: tuple[str, ...]
    measure: Measure
    layer: int
    picked: int
    band: Band | None

    @property
    def measured(self) -> str:
        """The name of the measure in the picture."""
        if self.measure.kind == "first":
            return f"cosine to {self.labels[0]}"
        return MEASURE_NAMES[self.measure.kind]

    @property
    def own_mask(self) -> np.ndarray:
        """A mask of the text's own tokens."""
        return own_tokens(self.encoding)

    @property
    def n_unknown(self) -> int:
        """The number of unknown tokens in the text; a typed "[UNK]" does not count."""
        return kinds(self.encoding, self.vocabulary).count("unknown")

    @property
    def chance(self) -> FloatArray | None:
        """(n_layers,) the average cosine of random pairs, if known."""
        return None if self.band is None else self.band.mean

    @cached_property
    def cosine_scale(self) -> tuple[float, float]:
        """The common scale of every cosine of this sentence."""
        return cosine_range(np.array([lowest_cosine(self.encoding.hidden)]))

    @property
    def scale(self) -> tuple[float, float]:
        """The ends of the picture's colour scale."""
        if self.measure.kind != "length":
            return self.cosine_scale
        return 0.0, float(self.measure.values.max())

    @property
    def passport(self) -> Passport:
        """The passport behind the numbers."""
        baseline = {} if self.band is None else {"baseline_pairs": N_PAIRS, "baseline_seed": SEED}
        encoded = self.encoding.passport
        return replace(encoded, settings={**encoded.settings, **baseline})


@dataclass(frozen=True, eq=False)
class NearestTokens:
    """The tokens nearest to the picked one at each layer, among those of all sentences.

    Attributes:
        names: the text written on each token of all sentences, and its sentence's letter.
        picked: the index of the picked token among those.
        neighbours: the nearest tokens, by their indices.
    """

    names: list[tuple[str, str]]
    picked: int
    neighbours: Neighbours

    @property
    def is_empty(self) -> bool:
        """True if there is no other token."""
        return not self.neighbours.indices.shape[1]

    def table(self, states: HiddenStates) -> pd.DataFrame:
        """A row for each layer: the nearest tokens with their cosines."""
        columns: dict[str, object] = {"layer": states.encoding.layers}
        for rank, places in enumerate(self.neighbours.indices.T):
            columns[("nearest", "second")[rank]] = [" in ".join(self.names[i]) for i in places]
            columns[f"cosine {rank}"] = self.neighbours.cosines[:, rank]
        if states.chance is not None:
            columns["random pairs"] = states.chance
        return pd.DataFrame(columns)


def hidden_states(
    view: ViewState, service: EncoderService, card: ModelCard, baseline: Baseline | None
) -> HiddenStates:
    """Encode the chosen sentence and measure its tokens as the controls say."""
    index = sentence_index(view, SENTENCE)
    sentence = view.sentences[index]
    encoding = service.encode(view.model, [sentence.text], pairs=[sentence.pair])[0]
    vocabulary = service.vocabulary(view.model)
    return HiddenStates(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        encoding=encoding,
        labels=labels(encoding, vocabulary),
        measure=measure(encoding, MEASURES[MEASURE.of(view)]),
        layer=view.layer if view.layer in encoding.layers else encoding.layers[-1],
        picked=_picked(view, encoding, sentence),
        band=None if baseline is None else baseline.band("mean", centred=False),
    )


def encode_all(view: ViewState, service: EncoderService) -> list[Encoding]:
    """Encode every current sentence at all layers."""
    pairs = [sentence.pair for sentence in view.sentences]
    return service.encode(view.model, [s.text for s in view.sentences], pairs=pairs)


def nearest_tokens(view: ViewState, states: HiddenStates, service: EncoderService) -> NearestTokens:
    """The tokens nearest to the picked one, without itself and without added tokens."""
    encodings = encode_all(view, service)
    names = [
        (label, letter(i))
        for i, encoding in enumerate(encodings)
        for label in labels(encoding, states.vocabulary)
    ]
    is_candidate = np.concatenate([own_tokens(encoding) for encoding in encodings])
    picked = sum(e.n_tokens for e in encodings[: states.index]) + states.picked
    is_candidate[picked] = False
    vectors, texts = states.encoding.hidden[:, states.picked], [e.hidden for e in encodings]
    neighbours = nearest(vectors, texts, np.flatnonzero(is_candidate), _NEAREST)
    return NearestTokens(names, picked, neighbours)


def pairs_of(states: HiddenStates) -> FloatArray:
    """(n_tokens, n_tokens) cosines of a sentence's tokens at the chosen layer."""
    cosines: FloatArray = token_pairs(states.encoding.layer(states.layer)[None])[0]
    return cosines


def pairs_table(pairs: FloatArray, names: Sequence[str]) -> pd.DataFrame | None:
    """The cosines as a table, tokens named by position and label; None for a long text."""
    if pairs.size > _MOST_CELLS:
        return None
    headers = [f"{position} {name}" for position, name in enumerate(names)]
    return pd.DataFrame(np.round(pairs, 4), index=headers, columns=headers)


def menu_titles(states: HiddenStates) -> list[str]:
    """A different title for each token: its text, with its position if another has the same."""
    counts = Counter(states.labels)
    return [
        label if counts[label] == 1 else f"{label} ({position})"
        for position, label in enumerate(states.labels)
    ]


def pieces_of(states: HiddenStates) -> tuple[int, str]:
    """The number of tokens of the picked token's word, and that word."""
    encoding, at = states.encoding, states.picked
    text_id, word_id = int(encoding.text_ids[at]), int(encoding.word_ids[at])
    if word_id < 0:
        return 1, states.labels[at]
    in_word = (encoding.text_ids == text_id) & (encoding.word_ids == word_id)
    spans = encoding.offsets[in_word]
    text = encoding.text if text_id == 0 else encoding.pair or ""
    return int(in_word.sum()), text[int(spans.min()) : int(spans.max())]


def measure_table(states: HiddenStates) -> pd.DataFrame:
    """The numbers of the picture: a row for each token, a column for each layer."""
    measured = states.measure
    table = pd.DataFrame(measured.values.T, columns=[f"layer {n}" for n in measured.layers])
    table.insert(0, "token", states.labels)
    table.insert(0, "position", np.arange(len(table)))
    return table


def rows(states: HiddenStates, encodings: Sequence[Encoding]) -> list[dict[str, Any]]:
    """Every measure of every token at every layer, of all sentences."""
    return [
        row
        for i, encoding in enumerate(encodings)
        for row in layer_rows(encoding, labels(encoding, states.vocabulary), letter(i))
    ]


def shape_rows(encoding: Encoding) -> list[dict[str, str]]:
    """The shapes of the model's outputs for a text."""
    outputs = {"hidden states (layers, tokens, dimensions)": encoding.hidden}
    if encoding.pooler_output is not None:
        outputs["pooler output (dimensions)"] = encoding.pooler_output
    return [{"array": name, "shape": str(array.shape)} for name, array in outputs.items()]


def arrays(encodings: Sequence[Encoding]) -> Arrays:
    """Every layer of every sentence, by the sentence's letter."""
    by_name: Arrays = {"layers": np.array(encodings[0].layers)}
    for i, encoding in enumerate(encodings):
        name = letter(i)
        texts = [encoding.text, *([encoding.pair] if encoding.pair else [])]
        by_name[f"hidden_{name}"] = encoding.hidden
        by_name[f"tokens_{name}"] = np.array(encoding.tokens)
        by_name[f"token_ids_{name}"] = encoding.token_ids
        by_name[f"text_{name}"] = np.array(texts)
        if encoding.pooler_output is not None:
            by_name[f"pooler_output_{name}"] = encoding.pooler_output
    return by_name


def _picked(view: ViewState, encoding: Encoding, sentence: Sentence) -> int:
    """The position of the picked token: by default the first of the chosen word or the last one."""
    requested = TOKEN.of(view)
    if 0 <= requested < encoding.n_tokens:
        return requested
    return token_of_word(encoding, sentence.word)


# --- The pooler computed by hand from its weights


@dataclass(frozen=True, eq=False)
class ByHand:
    """The pooler's arithmetic for one text; both arrays are None if its weights are unavailable.

    Attributes:
        linear: (n_dims,) W x + b.
        pooled: (n_dims,) tanh of `linear`.
        reason: the reason why there is no result.
    """

    linear: FloatArray | None = None
    pooled: FloatArray | None = None
    reason: str = ""

    def difference(self, model_output: FloatArray) -> float | None:
        """The largest difference from the model's own output."""
        return None if self.pooled is None else float(np.abs(self.pooled - model_output).max())


def linear_name(states: HiddenStates, service: EncoderService) -> str:
    """The name of the pooler's linear layer, which depends on the family."""
    names = [parameter.name for parameter in service.parameters(states.card.id)]
    weight = next(n for n in names if n.startswith("pooler.") and n.endswith(".weight"))
    return weight.removesuffix(".weight")


def by_hand(states: HiddenStates, service: EncoderService) -> ByHand:
    """W x + b and its tanh for the first token's vector after the last layer."""
    name = linear_name(states, service)
    try:
        weight = service.matrix(states.card.id, f"{name}.weight")
    except RequestError as exc:  # too large to be sent
        return ByHand(reason=str(exc))
    bias = service.matrix(states.card.id, f"{name}.bias")
    return ByHand(*pool_by_hand(states.encoding.hidden[-1, 0], weight, bias))


def first_token(states: HiddenStates) -> str:
    """The name of the pooler's input token."""
    return f"{states.labels[0]}, layer {states.encoding.layers[-1]}"


def steps(states: HiddenStates, hand: ByHand, model_output: FloatArray) -> dict[str, FloatArray]:
    """The steps from the first token's vector to the pooler output, by name."""
    by_step = {first_token(states): states.encoding.hidden[-1, 0]}
    if hand.linear is not None and hand.pooled is not None:
        by_step |= {"W x + b": hand.linear, "tanh, by hand": hand.pooled}
    return {**by_step, "model's own": model_output}


def sentence_rows(encodings: Sequence[Encoding]) -> list[dict[str, str | float]]:
    """The similarity of the sentences by pooler output, by first token and by mean."""
    kinds = {
        "by pooler output": [e.pooler_output for e in encodings],
        "by first token": [e.hidden[-1, 0] for e in encodings],
        "by mean of tokens": [e.hidden[-1].mean(axis=0) for e in encodings],
    }
    cosines = {
        name: cosine_matrix(np.stack([v for v in vectors if v is not None]))
        for name, vectors in kinds.items()
    }
    return [
        {
            "sentences": f"{letter(i)} ~ {letter(j)}",
            **{name: float(matrix[i, j]) for name, matrix in cosines.items()},
        }
        for i, j in combinations(range(len(encodings)), 2)
    ]


# --- Whole layers compared over the same words

COMPONENTS = (1, 3, 10)
"""The numbers of principal components in the picture of the variance."""
_BATCH = 32  # sample sentences encoded at a time
_SAMPLE_STEP = 2  # half of the sample's sentences give `MAX_WORDS` words


@dataclass(frozen=True, eq=False)
class ComparedLayers:
    """The layers of two models, or of one, over the same words.

    Attributes:
        names: the models' titles.
        words: the words in each model.
        alike: the similarity of the layers.
        is_one: True if both are one model.
    """

    names: tuple[str, str]
    words: tuple[WordVectors, WordVectors]
    alike: LayerSimilarity
    is_one: bool


@dataclass(frozen=True, eq=False)
class SampleSpread:
    """The sample's words in a model, and the share of their variance in the first components.

    Attributes:
        sample: a few words of each of the sample's sentences.
        shares: (n_layers, n) for the first 1, 2, ... n components.
    """

    sample: WordVectors
    shares: FloatArray


def compared_layers(
    view: ViewState, card: ModelCard, other: ModelCard, service: EncoderService
) -> ComparedLayers:
    """Compare a model's layers with another's, or with its own, over the words of the view."""
    ours = _words_of(view, card, service)
    theirs = ours if other is card else _words_of(view, other, service)
    texts = () if _is_sample(view) else tuple((s.text, s.pair) for s in view.sentences)
    alike = remembered(
        "alike layers",
        card.checksum,
        other.checksum,
        texts,
        compute=lambda: measures.alike(*measures.shared(ours, theirs)),
    )
    names = card.title, other.title
    return ComparedLayers(names, (ours, theirs), alike, is_one=other is card)


def alike_table(compared: ComparedLayers, cka: FloatArray) -> pd.DataFrame:
    """One kind of CKA with the first model's layers down and the second's across."""
    table = pd.DataFrame(cka, columns=[f"layer {n}" for n in range(cka.shape[1])])
    table.insert(0, compared.names[0], [f"layer {n}" for n in range(len(table))])
    return table


def snippet_texts(view: ViewState, compared: ComparedLayers) -> list[SnippetText]:
    """The sentences with words in both models, and the spans of these words."""
    ours, theirs = compared.words
    both = set(theirs.keys)
    keys = [key for key in ours.keys if key in both]
    texts = []
    for i, sentence in enumerate(view.sentences):
        groups = [
            tuple(split_words(text)[word] for at, part, word in keys if (at, part) == (i, text_id))
            for text_id, text in enumerate((sentence.text, sentence.pair or ""))
        ]
        texts.append(SnippetText(sentence.text, sentence.pair, groups[0], groups[1]))
    return [text for text in texts if text.words or text.pair_words]


def spread_of(states: HiddenStates, service: EncoderService) -> SampleSpread:
    """The variance of the sample's words at each layer of a model."""
    sample, n = sample_words(states.card, service), max(COMPONENTS)
    shares = remembered(
        "variance of layers",
        states.card.checksum,
        n,
        compute=lambda: measures.variance_shares(sample.vectors, n),
    )
    return SampleSpread(sample, shares)


def spread_table(states: HiddenStates, shares: FloatArray) -> pd.DataFrame:
    """A row for each layer: random pairs, if measured, and the shares of the variance."""
    columns: dict[str, object] = {"layer": states.encoding.layers}
    if states.band is not None:
        columns |= {
            "random pairs, average": states.band.mean,
            "5th percentile": states.band.low,
            "95th percentile": states.band.high,
        }
    columns |= {f"first {count} of the variance": shares[:, count - 1] for count in COMPONENTS}
    return pd.DataFrame(columns)


def sample_words(card: ModelCard, service: EncoderService) -> WordVectors:
    """A few words of each of the sample's sentences in a model; cached."""
    return remembered(
        "sample words", card.id, card.checksum, compute=lambda: _sample(card.id, service)
    )


def _is_sample(view: ViewState) -> bool:
    return WORDS.of(view) != WORDS.default


def _words_of(view: ViewState, card: ModelCard, service: EncoderService) -> WordVectors:
    """The words of the sample or of the current sentences in a model."""
    if _is_sample(view):
        return sample_words(card, service)
    return measures.words_of(encode_all(replace(view, model=card.id), service))


def _sample(model: str, service: EncoderService) -> WordVectors:
    texts = baseline_sentences()[::_SAMPLE_STEP]
    chosen = measures.sample_choice([_spelled(text) for text in texts])
    runs = [slice(i, i + _BATCH) for i in range(0, len(texts), _BATCH)]
    parts = [measures.words_of(service.encode(model, texts[run]), chosen[run]) for run in runs]
    return measures.join(parts, [len(texts[run]) for run in runs])


def _spelled(text: str) -> Sequence[tuple[int, int, str]]:
    return [(a, b, text[a:b]) for a, b in split_words(text)]

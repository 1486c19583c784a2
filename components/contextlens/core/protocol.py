"""The only interface to a model: what every service offers, wherever it computes.

Each method states its arguments and its answer once, with the facts that decide how its calls are
handled (`contextlens.core.calls`). A service implements only `_answer`.
"""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from contextlens.core.calls import Call, Method, method
from contextlens.core.schema import (
    Architecture,
    AttentionRequest,
    Attribution,
    Classification,
    Counted,
    CutRules,
    EmbeddingParts,
    Encoding,
    FloatArray,
    IntArray,
    Intervention,
    Mask,
    ModelCard,
    ModelSpec,
    Parameter,
    Precision,
    Progress,
    Replacements,
    SentenceVector,
    TokenizerCard,
    TokenPredictions,
    Tokens,
    Vocabulary,
)

__all__ = ["METHODS", "EncoderService"]

_TEXTS = ("texts", "pairs")
_SPEC_SECONDS = 3.0
_CARD_SECONDS = 60.0  # how long the card of a loaded model is considered valid


class EncoderService:
    """The interface of every source of encodings; callers cannot tell where they come from.

    `checksum` is the checksum in the card that the caller has (from `load`, or from
    `load_tokenizer` for answers that depend on the tokenizer alone). Files with another checksum
    are refused, so results of two revisions of a model are never mixed.

    Raises:
        RevisionError: the model's files are not those that the caller expects.
    """

    _is_far = False
    """True if the answers come from another machine."""

    @property
    def uncached(self) -> EncoderService:
        """The same service without a cache, for work that reads each text once."""
        return self

    def _answer(self, call: Call) -> Any:
        """Return the answer to a call of any of the methods below."""
        raise NotImplementedError

    @method(believed_seconds=_SPEC_SECONDS, quick=True)
    def models(self) -> tuple[ModelSpec, ...]:
        """The models that everyone is offered, the default first."""

    @method(believed_seconds=_SPEC_SECONDS, quick=True)
    def spec(self, model: str) -> ModelSpec:
        """Facts about one model, without loading it, whether or not `models` lists it."""

    @method(of="model", believed_seconds=_CARD_SECONDS)
    def load(self, model: str, *, progress: Progress | None = None) -> ModelCard:
        """The card of a model, after its files are fetched, checked and loaded."""

    @method(of="tokenizer", columns=_TEXTS, cached="always")
    def tokenize(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        pad_to: int | None = None,
        max_length: int | None = None,
        checksum: str | None = None,
    ) -> list[Tokens]:
        """Each text's tokens, in the order given; the network does not run.

        Longer texts are cut to `max_length` tokens, by default the most that the model takes.
        """

    @method(of="tokenizer", believed_seconds=_CARD_SECONDS)
    def load_tokenizer(self, model: str, *, progress: Progress | None = None) -> TokenizerCard:
        """The card of a model's tokenizer; only its own files are fetched if they are missing."""

    @method(of="tokenizer", cached="far")
    def vocabulary(self, model: str, *, checksum: str | None = None) -> Vocabulary:
        """Every token that a model's tokenizer knows."""

    @method(of="tokenizer", cached="far")
    def cut_rules(self, model: str, *, checksum: str | None = None) -> CutRules:
        """The rules by which a model's tokenizer cuts words; a large vocabulary takes a second."""

    @method(of="tokenizer", cached="far")
    def normalize(
        self, model: str, texts: Sequence[str], *, checksum: str | None = None
    ) -> list[str]:
        """Each text as the tokenizer sees it before cutting (lower case, no accents, ...)."""

    @method(of="tokenizer", cached="far")
    def decode(
        self,
        model: str,
        token_ids: Sequence[int] | IntArray,
        *,
        skip_special: bool = False,
        checksum: str | None = None,
    ) -> str:
        """The text that token IDs stand for."""

    @method(of="model", columns=_TEXTS, cached="always")
    def encode(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        pad_to: int | None = None,
        max_length: int | None = None,
        mask: Mask = "model",
        layers: Sequence[int] | None = None,
        attentions: AttentionRequest = False,
        precision: Precision = "exact",
        checksum: str | None = None,
    ) -> list[Encoding]:
        """Each text's encoding, in the order given.

        Longer texts are cut to `max_length` tokens, by default the most that the model takes.
        """

    @method(of="model", columns=_TEXTS, cached="always")
    def sentence_vectors(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        prompt: str | None = None,
        precision: Precision = "exact",
        checksum: str | None = None,
    ) -> list[SentenceVector]:
        """Each text's vector by the model's own recipe (`ModelCard.recipe`), in the order given.

        The vectors are those of sentence-transformers' `encode`.

        Args:
            model: its id.
            texts: the texts.
            pairs: the second text or None for each text, or None if there are no pairs.
            prompt: the text before each text; None for the recipe's default prompt.
            precision: that of the last layer's states, as in `encode`.
        """

    @method(of="model", columns=(*_TEXTS, "positions"), cached="always")
    def predict_tokens(
        self,
        model: str,
        texts: Sequence[str],
        positions: Sequence[Sequence[int]],
        *,
        pairs: Sequence[str | None] | None = None,
        masked: bool = True,
        layers: Sequence[int] | None = None,
        n_best: int = 10,
        candidates: Sequence[int] = (),
        checksum: str | None = None,
    ) -> list[TokenPredictions]:
        """What the model's own trained head expects at some positions of each text.

        The numbers are those of transformers' ForMaskedLM class of the model's family. A model
        without such a head (`ModelCard.provenance.token_head`) is refused.

        Args:
            model: its id.
            texts: may repeat a text, with other positions.
            positions: for each text, the positions of the tokens to predict.
            pairs: the second text or None for each text, or None if there are no pairs.
            masked: put the mask token at all these positions of a text before the model reads it;
                False to read the text as written.
            layers: the layers whose hidden states the head reads; None for the last, on which
                it was trained.
            n_best: the number of most probable tokens returned, at most 100.
            candidates: IDs of tokens whose probabilities are returned besides.
        """

    @method(of="model", columns=_TEXTS, cached="always")
    def classify(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        checksum: str | None = None,
    ) -> list[Classification]:
        """The labels that the model's own trained head gives each text, or its tokens.

        The numbers are those of transformers' pipelines for text and token classification. A model
        without such a head (`ModelCard.provenance.text_head`, `label_head`) is refused.
        """

    @method(of="model", columns=_TEXTS, cached="always")
    def follows(
        self,
        model: str,
        texts: Sequence[str],
        pairs: Sequence[str],
        *,
        checksum: str | None = None,
    ) -> list[float]:
        """The probability that each pair follows its text, by the model's own trained head.

        The numbers are those of BertForNextSentencePrediction. A model without such a head
        (`ModelCard.provenance.next_head`) is refused.
        """

    @method(of="model", columns=(*_TEXTS, "interventions"), cached="always")
    def intervene(
        self,
        model: str,
        texts: Sequence[str],
        interventions: Sequence[Sequence[Intervention]],
        *,
        pairs: Sequence[str | None] | None = None,
        layers: Sequence[int] | None = None,
        baseline: Sequence[str] = (),
        progress: Counted | None = None,
        checksum: str | None = None,
    ) -> list[Encoding]:
        """Each text's encoding by a model whose computation is changed while it reads the text.

        Result i is the encoding of `texts[i]` under all of `interventions[i]`, or the plain one if
        that is empty. The pooler's output is included only if the last layer is.

        Args:
            model: its id.
            texts: may repeat a text, whose layers below the changes are then computed once.
            interventions: a list for each text, see `schema.Intervention`.
            pairs: the second text or None for each text, or None if there are no pairs.
            layers: the layers whose hidden states are returned; None for all.
            baseline: the texts whose tokens give the means for `SwitchOff` to "mean".
            progress: called with the number of results so far.
        """

    @method(of="model", cached="always")
    def integrated_gradients(
        self,
        model: str,
        text: str,
        weights: FloatArray,
        toward: FloatArray,
        *,
        pair: str | None = None,
        layer: int | None = None,
        steps: int | None = None,
        progress: Counted | None = None,
        checksum: str | None = None,
    ) -> Attribution:
        """Each token's contribution to `cos(sum of weights[i] * hidden[layer][i], toward)`.

        Integrated gradients (Sundararajan et al. 2017) along the straight path between two states
        of layer 0: from the input with [PAD]'s word vector in place of each token that is not
        special, to the input itself.

        Args:
            model: its id.
            text: the text whose tokens are weighted and summed.
            weights: (n_tokens,).
            toward: (n_dims,) the vector that the sum is compared with.
            pair: the text's pair, if any.
            layer: the layer whose states are summed; None for the last.
            steps: the number of steps; None takes 16 and halves the piece of the path with the
                largest error, until the errors add up to 0.001 or 512 steps were taken.
            progress: called with the numbers of steps done and of steps known to be needed.
        """

    @method(of="model", cached="always")
    def label_gradients(
        self,
        model: str,
        text: str,
        label: int,
        *,
        pair: str | None = None,
        token: int | None = None,
        steps: int | None = None,
        progress: Counted | None = None,
        checksum: str | None = None,
    ) -> Attribution:
        """Each token's contribution to the score of a label, by integrated gradients.

        The path and the steps are those of `integrated_gradients`; the score is that of `classify`.

        Args:
            model: its id.
            text: the text that is labelled.
            label: the label's index in `ModelCard.labels`.
            pair: the text's pair, if any.
            token: the position that is labelled, by a head for tokens; None for one for texts.
            steps: the number of steps; None for as many as are needed, at most 512.
            progress: called with the numbers of steps done and of steps known to be needed.
        """

    @method(of="model", cached="always")
    def label_replacements(
        self,
        model: str,
        text: str,
        label: int,
        *,
        pair: str | None = None,
        token: int | None = None,
        raises: bool = False,
        n_best: int = 10,
        checksum: str | None = None,
    ) -> Replacements:
        """The words that, each in the place of a token, are expected to change a label most.

        The change is estimated to first order, from one gradient (HotFlip, Ebrahimi et al. 2018):
        the slope of the label at the token's word vector, times the difference of both words'
        vectors. Only `classify` tells what the edited text gets.

        Args:
            model: its id.
            text: the text that is labelled.
            label: the label's index in `ModelCard.labels`.
            pair: the text's pair, if any.
            token: the position that is labelled, by a head for tokens; None for one for texts.
            raises: True for words that raise the label; False for words that lower it.
            n_best: the number of words for each token, at most 100; tokens of the vocabulary that
                begin a word and consist of two letters or more.
        """

    @method(of="model", cached="always")
    def embedding_parts(
        self, model: str, text: str, *, pair: str | None = None, checksum: str | None = None
    ) -> EmbeddingParts:
        """The embedding layer's arithmetic for one text."""

    @method(of="model", cached="far")
    def word_rows(
        self, model: str, token_ids: Sequence[int] | IntArray, *, checksum: str | None = None
    ) -> FloatArray:
        """(len(token_ids), n_embedding_dims) float32 rows of the word-embedding table."""

    @method(of="model", cached="always")
    def nearest_rows(
        self, model: str, vector: FloatArray, n: int, *, checksum: str | None = None
    ) -> list[tuple[int, str, float]]:
        """The n rows of the word table nearest to a vector: (token ID, token, cosine)."""

    @method(of="model", cached="always")
    def parameters(self, model: str, *, checksum: str | None = None) -> tuple[Parameter, ...]:
        """Every parameter of the model, in its own order."""

    @method(of="model", cached="always")
    def architecture(self, model: str, *, checksum: str | None = None) -> Architecture:
        """A model's sizes and parameters; those of a preset are known without its weights."""

    @method(of="model", cached="far")
    def matrix(self, model: str, name: str, *, checksum: str | None = None) -> FloatArray:
        """One parameter as float32; one with more than 5,000,000 values is refused."""


METHODS: Mapping[str, Method] = {
    name: function.facts
    for name, function in vars(EncoderService).items()
    if hasattr(function, "facts")
}
"""The facts about each method, by its name."""

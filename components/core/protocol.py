"""The only interface to a model: what every service offers, wherever it computes.

Each method states its arguments and its answer once, with the facts that decide how its calls are
handled (`components.core.calls`). A service implements only `_answer`.
"""
# mypy: disable-error-code="empty-body"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from components.core.calls import Call, Method, method
from components.core.schema import (
    Architecture,
    AttentionRequest,
    Attribution,
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
    TokenizerCard,
    Tokens,
    Vocabulary,
)

__all__ = ["METHODS", "EncoderService"]

_TEXTS = ("texts", "pairs")
_SPEC_SECONDS = 3.0
_CARD_SECONDS = 60.0  # how long the card of a loaded model is considered valid


class EncoderService:
    """The interface of every source of encodings: local, cached or remote, callers cannot tell.

    A `checksum` is that of a card which the caller already has (from `load`, or `load_tokenizer`
    for answers that depend on the tokenizer alone). Files with another checksum are refused, so
    results of two revisions of a model are never mixed.

    Raises:
        RevisionError: the model's files are not those that the caller expects.
    """

    _is_far = False
    """True if the answers come from another machine."""

    def _answer(self, call: Call) -> Any:
        """Return the answer to a call of any of the methods below."""
        raise NotImplementedError

    @method(believed_seconds=_SPEC_SECONDS, quick=True)
    def models(self) -> tuple[ModelSpec, ...]:
        """The models that everyone is offered, the default first."""

    @method(believed_seconds=_SPEC_SECONDS, quick=True)
    def spec(self, model: str) -> ModelSpec:
        """What is known of one model without loading it, whether or not `models` lists it."""

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
        """Each text's tokens, in the order given; nothing is computed by the network.

        Longer ones are cut to `max_length` tokens, by default the most that the model takes.
        """

    @method(of="tokenizer", believed_seconds=_CARD_SECONDS)
    def load_tokenizer(self, model: str, *, progress: Progress | None = None) -> TokenizerCard:
        """The card of a model's tokenizer, whose files alone are fetched where it is not here."""

    @method(of="tokenizer", cached="far")
    def vocabulary(self, model: str, *, checksum: str | None = None) -> Vocabulary:
        """Every token that a model's tokenizer knows."""

    @method(of="tokenizer", cached="far")
    def cut_rules(self, model: str, *, checksum: str | None = None) -> CutRules:
        """How a model's tokenizer learned to cut words; a second for a large vocabulary, once."""

    @method(of="tokenizer", cached="far")
    def normalize(
        self, model: str, texts: Sequence[str], *, checksum: str | None = None
    ) -> list[str]:
        """Each text as the tokenizer sees it before cutting (small letters, no accents, ...)."""

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
        mask: Mask = "model",
        layers: Sequence[int] | None = None,
        attentions: AttentionRequest = False,
        precision: Precision = "exact",
        checksum: str | None = None,
    ) -> list[Encoding]:
        """Each text's encoding, in the order given."""

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
        """Each text's encoding with something changed inside the model while it was read.

        Result i is `texts[i]` under all of `interventions[i]`; none gives the plain encoding. What
        the model's pooler makes of it comes with the last layer only.

        Args:
            model: its id.
            texts: may name a text often; what lies below its changes is computed once.
            interventions: for each text, see `schema.interventions`.
            pairs: for each text, or None.
            layers: whose hidden states are given; None for all.
            baseline: texts over whose tokens parts are averaged that are switched to their mean.
            progress: told how many results are there; raising in it ends the work.
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
        """What each token adds to cos(sum of weights[i] * hidden[layer][i], toward).

        Integrated gradients (Sundararajan et al. 2017) along the straight way between two states of
        layer 0: from the input with [PAD]'s word vector in place of each token that is not
        special, to the input itself.

        Args:
            model: its id.
            text: whose tokens are weighed.
            weights: (n_tokens,).
            toward: (n_dims,) the vector that is compared with.
            pair: of the text.
            layer: None for the last.
            steps: of the way; None takes 16, and halves what misses most of the way until the
                shares add up to 0.001, or 512 were taken.
            progress: told how many steps are done, of those that are known to be needed so far.
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
        """What a model is made of; a preset's is known without its weights."""

    @method(of="model", cached="far")
    def matrix(self, model: str, name: str, *, checksum: str | None = None) -> FloatArray:
        """One parameter as float32; too large a one is refused."""


METHODS: Mapping[str, Method] = {
    name: function.facts
    for name, function in vars(EncoderService).items()
    if hasattr(function, "facts")
}
"""The facts about each method, by its name."""

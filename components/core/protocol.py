"""The one door to a model: what every service offers, wherever it computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

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

__all__ = ["EncoderService"]


class EncoderService(Protocol):
    """What any source of encodings offers: local, cached or remote, callers cannot tell."""

    def models(self) -> tuple[ModelSpec, ...]:
        """The models that everyone is offered, the default first."""
        ...

    def spec(self, model: str) -> ModelSpec:
        """What is known of one model without loading it, whether or not `models` lists it."""
        ...

    def load(self, model: str, *, progress: Progress | None = None) -> ModelCard:
        """The card of a model, after its files are fetched, checked and loaded."""
        ...

    def tokenize(
        self,
        model: str,
        texts: Sequence[str],
        *,
        pairs: Sequence[str | None] | None = None,
        pad_to: int | None = None,
        max_length: int | None = None,
    ) -> list[Tokens]:
        """Each text's tokens, in the order given; nothing is computed by the network.

        Longer ones are cut to `max_length` tokens, by default the most that the model takes.
        """
        ...

    def load_tokenizer(self, model: str, *, progress: Progress | None = None) -> TokenizerCard:
        """The card of a model's tokenizer, whose files alone are fetched where it is not here."""
        ...

    def vocabulary(self, model: str) -> Vocabulary:
        """Every token that a model's tokenizer knows."""
        ...

    def cut_rules(self, model: str) -> CutRules:
        """How a model's tokenizer learned to cut words; a second for a large vocabulary, once."""
        ...

    def normalize(self, model: str, texts: Sequence[str]) -> list[str]:
        """Each text as the tokenizer sees it before cutting (small letters, no accents, ...)."""
        ...

    def decode(
        self, model: str, token_ids: Sequence[int] | IntArray, *, skip_special: bool = False
    ) -> str:
        """The text that token IDs stand for."""
        ...

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
    ) -> list[Encoding]:
        """Each text's encoding, in the order given."""
        ...

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
        ...

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
            steps: of the way; None takes as many as the shares need to add up to 0.001, 256 at
                most.
            progress: told how many steps are done, of those that are known to be needed so far.
        """
        ...

    def embedding_parts(self, model: str, text: str, *, pair: str | None = None) -> EmbeddingParts:
        """The embedding layer's arithmetic for one text."""
        ...

    def word_rows(self, model: str, token_ids: Sequence[int] | IntArray) -> FloatArray:
        """(len(token_ids), n_embedding_dims) float32 rows of the word-embedding table."""
        ...

    def nearest_rows(self, model: str, vector: FloatArray, n: int) -> list[tuple[int, str, float]]:
        """The n rows of the word table nearest to a vector: (token ID, token, cosine)."""
        ...

    def parameters(self, model: str) -> tuple[Parameter, ...]:
        """Every parameter of the model, in its own order."""
        ...

    def architecture(self, model: str) -> Architecture:
        """What a model is made of; a preset's is known without its weights."""
        ...

    def matrix(self, model: str, name: str) -> FloatArray:
        """One parameter as float32; too large a one is refused."""
        ...

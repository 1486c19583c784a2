"""The sum of the embedding layer for one sentence: its rows, the words about it, and its script.

The service computes the rows and layer 0; the sum, LayerNorm and the contributions are recomputed
here, and compared with the model's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from plotly import graph_objects as go

from contextlens.analysis.snippet_start import literal, load_lines
from contextlens.analysis.tokens import labels
from contextlens.content.examples import EXAMPLES
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import adding_up, escape, leading, placed, shortened
from contextlens.core import EncoderService, Encoding, ModelCard
from contextlens.core.families import FAMILIES, PROJECTIONS
from contextlens.core.schema import EmbeddingParts, FloatArray, PartState, Passport, Vocabulary
from contextlens.core.words import token_of_word
from contextlens.features.embedding_layer.arithmetic import (
    Contribution,
    Normalization,
    constant_parts,
    contributions,
    normalization_of,
    rebuild,
    sum_of,
    summands,
)
from contextlens.features.embedding_layer.controls import MAX_DRAWN_TOKENS, SENTENCE, token_in
from contextlens.features.embedding_layer.sum_flow import SumStep, sum_flow
from contextlens.figures.frames import signed_bound
from contextlens.ui.panel import Panel, Rows
from contextlens.ui.state.controls import Choice, sentence_index
from contextlens.ui.state.view import Sentence, ViewState, letter

_DOWNLOADED = {
    "share": "share",
    "norm": "norm",
    "left_out_moved": "moved",
    "left_out_turned": "turned",
}
"""From the ending of an array's name in the download to the attribute of `Contribution`."""
_SUMMANDS: tuple[Literal["word", "position", "segment"], ...] = ("word", "position", "segment")
_MAX_ROUNDING = 1e-5  # of layer 0, relative to its largest value (at least 1)
_MAX_LABEL = 20  # characters of a token in the title

FORMULA = r"""
**The sum.** The token at place $t$ has the ID $i_t$, the position row $p_t$ and the segment $s_t$.
Each of them names a row of a table, and the rows are added (families without segments leave $S$
out, and those whose positions act in attention leave $P$ out; Gemma multiplies $W_{i_t}$ by the
root of its $d$ dimensions):

$$x_t = W_{i_t} + P_{p_t} + S_{s_t}$$

**LayerNorm.** The sum's $d$ numbers are brought to mean 0 and variance 1, then scaled and shifted
by two learned vectors $\gamma$ and $\beta$ (ModernBERT has no $\beta$; EuroBERT, Gemma,
Megatron-BERT and XLM-RoBERTa-XL have no LayerNorm here):

$$h_{0,t} = \frac{x_t - \mu_t}{\sqrt{\sigma_t^2 + \epsilon}} \odot \gamma + \beta$$

**Projection.** ALBERT, RemBERT, and ELECTRA where its tables are narrower than its layers, then
apply a linear layer: $h_{0,t} A^\top + b$.

**Projection share.** A part $r$ of the sum $x$ counts with its length along the sum's own
direction, as a share of the sum's length. The shares of a token add up to 1; a part that points
against the sum has a negative one. Long parts have large shares, and so has a row that is the same
for every token:

$$\mathrm{share}(r) = \frac{r \cdot x}{\lVert x \rVert^2}$$

A part's share is called the largest only where it is more than one percentage point above each
other part's.

**Left out.** How far layer 0 moves where a part is left out of the sum before LayerNorm, as a share
of its length, and as one minus the cosine. With $h(x)$ for all that follows the sum:

$$
\frac{\lVert h(x - r) - h(x) \rVert}{\lVert h(x) \rVert} \qquad
1 - \cos(h(x - r), \; h(x))
$$
""".strip()


# --- One sentence's sum


@dataclass(frozen=True, eq=False)
class EmbeddingSum(Panel):
    """The embedding layer of one sentence.

    Attributes:
        index: the sentence's index.
        encoding: the model's own layer 0.
        labels: the text written on each token.
        normalization: the operations after the sum.
        rebuilt: (n_tokens, n_dims) layer 0 as recomputed here.
        contributions: the contribution of each part to each token.
        following: the choice of the token to follow; by default the chosen word's first.
        focus: the position of the followed token.
    """

    formula: ClassVar[str] = FORMULA

    index: int
    sentence: Sentence
    card: ModelCard
    vocabulary: Vocabulary
    parts: EmbeddingParts
    encoding: Encoding
    labels: tuple[str, ...]
    normalization: Normalization
    rebuilt: FloatArray
    contributions: Mapping[str, Contribution]
    following: Choice
    focus: int

    @property
    def state(self) -> PartState:
        """The training state of the embedding layer."""
        return self.card.provenance.embedding_layer

    @property
    def window(self) -> slice:
        """The tokens to draw: `MAX_DRAWN_TOKENS`, with the followed one in the middle."""
        n_tokens = self.parts.tokens.n_tokens
        first = max(0, min(self.focus - MAX_DRAWN_TOKENS // 2, n_tokens - MAX_DRAWN_TOKENS))
        return slice(first, min(n_tokens, first + MAX_DRAWN_TOKENS))

    @property
    def layer_0(self) -> FloatArray:
        """(n_tokens, n_dims) layer 0 as the model computes it."""
        return self.encoding.layer(0)

    @property
    def difference(self) -> float:
        """The largest difference between our layer 0 and the model's."""
        return float(np.abs(self.rebuilt - self.layer_0).max(initial=0))

    @property
    def agrees(self) -> bool:
        """True if the difference is within the rounding that the service promises."""
        largest = float(np.abs(self.layer_0).max(initial=0))
        return self.difference <= _MAX_ROUNDING * max(1.0, largest)

    @property
    def passport(self) -> Passport:
        """The passport with which to reproduce these numbers."""
        encoded = self.encoding.passport
        settings = dict(encoded.settings)
        if self.parts.epsilon is not None:
            settings["layer_norm_epsilon"] = self.parts.epsilon
        if self.parts.word_scale != 1:
            settings["word_scale"] = self.parts.word_scale
        return replace(encoded, settings=settings)

    def title(self) -> Claim:
        """One token's sum in a line, with the numbers of its rows; the label is not escaped."""
        numbers = {"token": shortened(self.labels[self.focus], _MAX_LABEL), "position": self.focus}
        segments = self.parts.tokens.token_type_ids
        if self.parts.segment is not None:
            numbers["segment"] = 0 if segments is None else int(segments[self.focus])
        if self.parts.word_scale != 1:
            return claim("embedding_layer.title.scaled", scale=self.parts.word_scale, **numbers)
        return claim(f"embedding_layer.title.{sum_of(self.parts)}", **numbers)

    def claims(self) -> list[Claim]:
        """The part that contributes most to the token, the average of all, and one caution."""
        means = {
            name: float(np.mean(part.share, dtype=np.float64))
            for name, part in self.contributions.items()
        }
        caution = claim("embedding_layer.caution") if self.agrees else self._agreement()
        cautions = untrained_caution(self.state) or [caution]
        if len(means) == 1:
            return [claim("embedding_layer.focus.only", token=self._token()), *cautions]
        average = claim(
            "embedding_layer.average",
            n=len(self.labels),
            shares=_ranked(dict(zip(means, adding_up(list(means.values())), strict=True))),
        )
        return [self._largest(), average, *cautions]

    def sure(self) -> list[Claim]:
        """The effect of leaving a part out, the check against the model, and constant rows."""
        moved = {name: float(part.moved[self.focus]) for name, part in self.contributions.items()}
        claims = [self._agreement()]
        if len(moved) > 1:
            removed = claim("embedding_layer.removed", token=self._token(), shifts=_ranked(moved))
            claims.insert(0, removed)
        if constant := constant_parts(self.parts):
            rows = ", ".join(
                say(f"embedding_layer.row.{name}") for name in _SUMMANDS if name in constant
            )
            claims.append(claim("embedding_layer.constant", rows=rows, n_tokens=len(self.labels)))
        return claims

    def notes(self) -> list[Claim]:
        """The part of a long text that the picture leaves out, and the part that is not read."""
        tokens, notes = self.parts.tokens, []
        if tokens.n_tokens > MAX_DRAWN_TOKENS:
            first, end = self.window.start, self.window.stop
            notes.append(
                claim("embedding_layer.window", first=first, last=end - 1, n=tokens.n_tokens)
            )
        if tokens.n_truncated:
            texts = "text" if tokens.pair is None else "pair"
            notes.append(claim(f"embedding_layer.cut.{texts}", n=tokens.n_truncated))
        return notes

    def kind(self) -> list[Claim]:
        """What this model adds up here, and what it lacks."""
        parts = self.parts
        claims = [claim(f"embedding_layer.kind.{sum_of(parts)}"), *self.scaled()]
        if parts.segment is not None and not self.card.has_segments:
            claims.append(claim("embedding_layer.kind.one_segment"))
        if parts.position_ids is not None and parts.position_ids[0]:
            claims.append(claim("embedding_layer.kind.after_padding"))
        claims += self.told()
        if parts.epsilon is None:
            claims.append(claim("embedding_layer.kind.no_norm"))
        if parts.projected:
            claims.append(claim("embedding_layer.kind.projected"))
        if FAMILIES[self.card.family].parts.layer_inputs is not None:
            claims.append(claim("embedding_layer.kind.read_again"))
        return claims

    def told(self) -> list[Claim]:
        """How attention is told of positions, if it is."""
        how = self.card.positions
        return [] if how is None else [claim(f"embedding_layer.kind.attention.{how}")]

    def scaled(self) -> list[Claim]:
        """The factor of the word's row, if there is one."""
        scale, n = self.parts.word_scale, self.parts.word.shape[1]
        return [] if scale == 1 else [claim("embedding_layer.kind.scaled", scale=scale, n=n)]

    def figure(self) -> go.Figure:
        """The sum as a flow, one token's row strong."""
        window = self.window
        return sum_flow(
            self.steps(),
            {name: part.of(window) for name, part in self.contributions.items()},
            self.labels[window],
            focus=self.focus - window.start,
            first=window.start,
        )

    def alt(self) -> str:
        """A description of the flow."""
        return say("embedding_layer.alt", title=str(self.title()))

    def steps(self) -> list[SumStep]:
        """The steps of the sum, limited to the tokens to draw."""
        parts = self.parts
        added = [("" if i == 0 else "+", *row) for i, row in enumerate(summands(parts).items())]
        if len(added) > 1 and (parts.epsilon is not None or parts.projected):
            added.append(("=", "sum", parts.total))
        last = "=" if parts.epsilon is None and not parts.projected else "→"
        normalized = []
        if parts.projected and parts.epsilon is not None:
            normalized = [("→", "LayerNorm", parts.normalized)]
        bound = signed_bound(*(rows for _, _, rows in added))
        scaled = [
            *((*step, bound) for step in added),
            *((*step, signed_bound(parts.normalized)) for step in normalized),
            (last, "layer 0", self.layer_0, signed_bound(self.layer_0)),
        ]
        has_scale = parts.word_scale != 1
        return [
            SumStep(sign, name, rows[self.window], end, is_scaled=has_scale and name == "word")
            for sign, name, rows, end in scaled
        ]

    def rows(self) -> Rows:
        """A row for each token: the rows that were added, and the contribution of each."""
        parts, by_name = self.parts, self.contributions.items()
        segments = parts.tokens.token_type_ids
        total = np.linalg.norm(parts.total, axis=1)
        return [
            {
                "token": label,
                "word row (ID)": int(parts.tokens.token_ids[i]),
                "position row": None if parts.position_ids is None else int(parts.position_ids[i]),
                "segment row": None
                if parts.segment is None
                else (0 if segments is None else int(segments[i])),
                **{f"{name} norm": float(part.norm[i]) for name, part in by_name},
                "sum norm": float(total[i]),
                **{f"{name} share": float(part.share[i]) for name, part in by_name},
                **{f"without {name}: moved": float(part.moved[i]) for name, part in by_name},
                **{f"without {name}: 1 - cos": float(part.turned[i]) for name, part in by_name},
            }
            for i, label in enumerate(self.labels)
        ]

    def values(self) -> pd.DataFrame:
        """A row for each dimension, a column for each step of the followed token's sum."""
        parts, i = self.parts, self.focus
        columns = {name: rows[i] for name, rows in summands(parts).items()}
        columns |= {"sum": parts.total[i]}
        columns |= {"LayerNorm": parts.normalized[i]} if parts.projected else {}
        columns |= {"layer 0, ours": self.rebuilt[i], "layer 0, the model's": self.layer_0[i]}
        table = pd.DataFrame({name: pd.Series(values) for name, values in columns.items()})
        table.insert(0, "dimension", range(len(table)))
        return table

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The steps of the sum, and the contribution of each part."""
        parts = self.parts
        return {
            **summands(parts),
            "sum": parts.total,
            "normalized": parts.normalized,
            "layer_0": self.layer_0,
            "rebuilt": self.rebuilt,
            "token_ids": parts.tokens.token_ids,
            **({} if parts.position_ids is None else {"position_ids": parts.position_ids}),
            "tokens": np.array(parts.tokens.tokens),
            "text": np.array(parts.tokens.text),
            "pair": np.array(parts.tokens.pair or ""),
            **{
                f"{name}_{ending}": getattr(part, field)
                for name, part in self.contributions.items()
                for ending, field in _DOWNLOADED.items()
            },
        }

    def snippet(self) -> str:
        """A script that computes the rows, their sum, and the page's numbers for each part."""
        return _script(self.card, self.parts)

    def _token(self) -> str:
        return placed(self.labels[self.focus], self.focus, self.labels)

    def _agreement(self) -> Claim:
        verdict = "close" if self.agrees else "off"
        return claim(f"embedding_layer.agreement.{verdict}", difference=self.difference)

    def _largest(self) -> Claim:
        """The part with the largest share of the token's sum, if one is clearly the largest."""
        token = self._token()
        shares = {name: float(part.share[self.focus]) for name, part in self.contributions.items()}
        if not any(shares.values()):
            return claim("embedding_layer.focus.zeros", token=token)
        first = leading(list(shares.values()))
        rounded = dict(zip(shares, adding_up(list(shares.values())), strict=True))
        if len(first) > 1:
            return claim("embedding_layer.focus.even", token=token, shares=_ranked(rounded))
        top = next(name for name in _SUMMANDS if name == list(shares)[first[0]])
        others = _ranked({name: share for name, share in rounded.items() if name != top})
        return claim(f"embedding_layer.focus.{top}", token=token, share=rounded[top], others=others)


def embedding_sum(view: ViewState, service: EncoderService, card: ModelCard) -> EmbeddingSum:
    """Take the embedding layer apart for the chosen sentence."""
    index = sentence_index(view, SENTENCE)
    sentence = view.sentences[index]
    parts = service.embedding_parts(view.model, sentence.text, pair=sentence.pair)
    encoding = service.encode(view.model, [sentence.text], pairs=[sentence.pair], layers=[0])[0]
    vocabulary = service.vocabulary(view.model)
    names = labels(parts.tokens, vocabulary)
    normalization = normalization_of(view.model, service, parts)
    following = token_in(names, token_of_word(parts.tokens, sentence.word))
    return EmbeddingSum(
        index=index,
        sentence=sentence,
        card=card,
        vocabulary=vocabulary,
        parts=parts,
        encoding=encoding,
        labels=names,
        normalization=normalization,
        rebuilt=rebuild(list(summands(parts).values()), normalization),
        contributions=contributions(parts, normalization),
        following=following,
        focus=int(following.of(view)),
    )


def _ranked(shares: Mapping[str, float]) -> str:
    """Names with their shares in one line, the largest first."""
    ranked = sorted((name for name in _SUMMANDS if name in shares), key=lambda name: -shares[name])
    return ", ".join(say(f"embedding_layer.share.{name}", share=shares[name]) for name in ranked)


# --- For the closer looks


def untrained_caution(state: PartState) -> list[Claim]:
    """A caution if the layer does not look trained, else nothing."""
    if state.state == "trained":
        return []
    return [claim("embedding_layer.untrained", reason=escape(state.reason))]


def other_texts(view: ViewState, embedding: EmbeddingSum) -> dict[str, Sentence]:
    """Texts to compare with: the other sentences, and an example, so that there is always one."""
    text = embedding.sentence.text.strip()
    others = {letter(i): s for i, s in enumerate(view.sentences) if i != embedding.index}
    example = next(s.text for s in EXAMPLES[0].sentences[::-1] if s.text.strip() != text)
    return {**others, "Example": Sentence(example)}


# --- The script

PICTURE = """\
import plotly.express as px

names = [f"{i} {token}" for i, token in enumerate(tokenizer.convert_ids_to_tokens(ids))]
rows = [(n, part, v) for part in shares for n, v in zip(names, shares[part].tolist())]
px.bar(rows, x=0, y=2, color=1, labels={"0": "token", "1": "part", "2": "share of the sum"})
"""
"""Goes on from the script: each part's share at each token."""

_PARTS = """\
shares, norms, moved, turned = {}, {}, {}, {}
for name, rows in parts.items():
    shares[name] = (rows * total).sum(-1) / (total * total).sum(-1).clamp(min=1e-24)
    norms[name] = rows.norm(dim=-1)
    with torch.inference_mode():
        without = finish(total - rows)
    moved[name] = (without - output).norm(dim=-1) / output.norm(dim=-1).clamp(min=1e-12)
    turned[name] = 1 - torch.cosine_similarity(without, output, dim=-1)

for i, token in enumerate(tokenizer.convert_ids_to_tokens(ids)):
    print(i, token)
    for name in parts:
        print(
            f"  {name}: share {shares[name][i]:.1%}, norm {norms[name][i]:.4f}, left out: layer 0 "
            f"moves by {moved[name][i]:.1%} of its length (1 - cosine {turned[name][i]:.4f})"
        )
"""


def _script(card: ModelCard, parts: EmbeddingParts) -> str:
    """A script that computes the rows, their sum, and the page's numbers for each part.

    It defines `parts` (the rows), `total`, `output` and `difference`, and by part, (n_tokens,)
    each, `shares`, `norms`, `moved` and `turned`.
    """
    tokens, family = parts.tokens, FAMILIES[card.family]
    pair = "" if tokens.pair is None else f", {literal(tokens.pair)}"
    lines = [
        "import torch",
        "from transformers import AutoModel, AutoTokenizer",
        "",
        *load_lines(card),
        "",
        "batch = tokenizer(",
        f"    {literal(tokens.text)}{pair},",
        f'    truncation=True, max_length={card.max_length}, return_tensors="pt",',
        *(["    return_token_type_ids=True,"] if card.has_segments else []),
        ")",
        'ids = batch["input_ids"][0]',
        f"tables = {f'model.{family.tables}'.removesuffix('.')}",
        "",
        "",
        "def finish(total):",
        '    """What follows the sum."""',
        f"    return {_after_sum(card, parts)}",
        "",
        "",
        "with torch.inference_mode():",
        f'    parts = {{"word": tables.{family.word_table}(ids)}}',
        *_position(parts),
        *_segment(card, parts),
        "    total = sum(parts.values())",
        "    output = finish(total)",
        "    layer_0 = model(**batch, output_hidden_states=True).hidden_states[0][0]",
        "difference = (output - layer_0).abs().max().item()",
        'print(f"largest difference to the model\'s own layer 0: {difference:.1e}")',
        "",
        *_PARTS.splitlines(),
    ]
    return "\n".join(lines) + "\n"


def _after_sum(card: ModelCard, parts: EmbeddingParts) -> str:
    norm = FAMILIES[card.family].norm
    normalized = "total" if norm is None else f"tables.{norm}(total)"
    return f"model.{PROJECTIONS[card.family]}({normalized})" if parts.projected else normalized


def _position(parts: EmbeddingParts) -> list[str]:
    """The code for positions, from 0, or from the row after padding in families with such a row."""
    if parts.position_ids is None:
        return []
    if not parts.position_ids[0]:
        return ['    parts["position"] = tables.position_embeddings(torch.arange(len(ids)))']
    pad = int(parts.position_ids[0]) - 1
    return [
        f"    real = (ids != {pad}).long()  # padding keeps its own row",
        f"    places = torch.cumsum(real, 0) * real + {pad}",
        '    parts["position"] = tables.position_embeddings(places)',
    ]


def _segment(card: ModelCard, parts: EmbeddingParts) -> list[str]:
    if parts.segment is None:
        return []
    ids = 'batch["token_type_ids"][0]' if card.has_segments else "torch.zeros_like(ids)"
    return [f'    parts["segment"] = tables.token_type_embeddings({ids})']

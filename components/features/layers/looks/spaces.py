"""More closer looks on Layer by layer: whole layers compared, also of two models; the pooler."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from components.analysis.similarity import cosine_matrix
from components.content.wording import escape
from components.core import EncoderService, ModelCard
from components.core.errors import RequestError
from components.core.schema import FloatArray
from components.core.words import split_words
from components.features.layers.compute import (
    PAGE,
    WORDS,
    LayerView,
    alike,
    encode_all,
    own_words,
    sample_words,
)
from components.features.layers.explain import ALIKE, POOLER
from components.features.layers.figures.tokens import spaces_heatmap
from components.features.layers.measures.spaces import Alike, Words
from components.features.layers.measures.tokens import pool_by_hand
from components.features.layers.page import Arrays
from components.features.layers.reading.spaces import alike_reading, alike_title
from components.features.layers.reading.tokens import pooler_reading
from components.features.layers.snippet import SnippetText, cka_snippet, pooler_snippet
from components.figures.strips import vector_strips
from components.ui.models import second
from components.ui.state.view import ViewState, letter
from components.ui.widgets import inputs, kit

__all__ = ["layers_compared", "pooler"]

_BARE = {"displayModeBar": False, "displaylogo": False}
_MOST_WORDS = 200  # in a snippet that one can still read


def layers_compared(view: ViewState, what: LayerView, service: EncoderService) -> Arrays:
    """Linear CKA between layers of this model, or of this one and another."""
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom"):
        source = inputs.choice(view, PAGE, "words", WORDS, "Words from")
        specs = {spec.id: spec for spec in service.models() if spec.id != view.model}
        titles = {"": "This model itself", **{name: spec.title for name, spec in specs.items()}}
        chosen = inputs.select(view, PAGE, "other", titles, "With the layers of")
    other = second.model_card(specs[chosen]) if chosen else what.card
    if other is None:
        return {}
    names = what.card.title, other.title
    with st.spinner("Comparing the layers…"):
        ours, theirs = (_words_from(source, view, card, service) for card in (what.card, other))
        found = alike(ours, theirs, _key(source, view, what.card, other))
    _show(found, names, same=other is what.card)
    with st.expander("Numbers, formula and code"):
        _alike_details(view, what, found, ours, theirs, other if chosen else None, source)
    return {"linear_cka": found.cka, "linear_cka_shuffled": found.shuffled}


def pooler(view: ViewState, what: LayerView, service: EncoderService) -> Arrays:
    """The pooler by hand, beside the model's own output."""
    own = what.encoding.pooler_output
    if own is None:
        kit.reading(pooler_reading(what.card, None), key="reading_pooler")
        st.caption(f"Shapes: {_first(what)} ({what.card.n_dims},) · pooler output: none.")
        return {}
    linear, pooled = _by_hand(what, service) or (None, None)
    largest = None if pooled is None else float(np.abs(pooled - own).max())
    kit.reading(pooler_reading(what.card, largest), key="reading_pooler")
    rows = {_first(what): what.encoding.hidden[-1, 0]}
    if linear is not None and pooled is not None:
        rows |= {"W x + b": linear, "tanh, by hand": pooled}
    rows["model's own"] = own
    _pooler_strips(rows)
    left, right = st.columns(2, gap="medium")
    with left:
        _sentences_table(view, service)
    with right, st.expander("Formula and code"):
        st.markdown(POOLER)
        snippet = pooler_snippet(
            what.card, what.encoding.text, what.encoding.pair, linear=_linear(what, service)
        )
        st.code(snippet, language="python", wrap_lines=True)
    return {"pooler_output": own, **({} if pooled is None else {"pooler_by_hand": pooled})}


def _words_from(source: str, view: ViewState, card: ModelCard, service: EncoderService) -> Words:
    own = source == WORDS[0]
    return own_words(view, card.id, service) if own else sample_words(card, service)


def _key(source: str, view: ViewState, first: ModelCard, second: ModelCard) -> tuple[object, ...]:
    texts = tuple((s.text, s.pair or None) for s in view.sentences) if source == WORDS[0] else ()
    return first.checksum, second.checksum, texts


def _show(found: Alike, names: tuple[str, str], *, same: bool) -> None:
    kit.reading(alike_reading(found, names, same=same), key="reading_alike")
    if np.isfinite(found.cka).any():
        title = alike_title(found, same=same)
        st.plotly_chart(
            spaces_heatmap(found, names=names, title=title),
            key="layers_alike",
            config=_BARE,
            alt=f"{title}. Linear CKA of every layer with every layer.",
        )


def _alike_details(
    view: ViewState,
    what: LayerView,
    found: Alike,
    ours: Words,
    theirs: Words,
    other: ModelCard | None,
    source: str,
) -> None:
    table = pd.DataFrame(found.cka, columns=[f"layer {n}" for n in range(found.cka.shape[1])])
    table.insert(0, f"{what.card.title}", [f"layer {n}" for n in range(len(table))])
    numbers = {name: st.column_config.NumberColumn(format="%.4f") for name in table.columns[1:]}
    st.dataframe(table, hide_index=True, column_config=numbers, key="layers_alike_table")
    st.markdown(ALIKE)
    if source != WORDS[0]:
        st.caption("For code that computes these numbers, choose the words of your sentences.")
        return
    shared = [key for key in ours.keys if key in set(theirs.keys)]
    if not 2 <= len(shared) <= _MOST_WORDS:
        st.caption(f"The code is shown for 2 to {_MOST_WORDS} words.")
        return
    st.code(
        cka_snippet(what.card, _snippet_texts(view, shared), other),
        language="python",
        wrap_lines=True,
    )


def _snippet_texts(view: ViewState, keys: list[tuple[int, int, int]]) -> list[SnippetText]:
    """The sentences that have words among the keys, with the spans of these."""
    texts = []
    for i, sentence in enumerate(view.sentences):
        groups = [
            tuple(split_words(text)[word] for at, which, word in keys if (at, which) == (i, own))
            for own, text in enumerate((sentence.text, sentence.pair or ""))
        ]
        texts.append(SnippetText(sentence.text, sentence.pair or None, groups[0], groups[1]))
    return [text for text in texts if text.words or text.pair_words]


def _first(what: LayerView) -> str:
    return f"{what.labels[0]}, layer {what.encoding.layers[-1]}"


def _linear(what: LayerView, service: EncoderService) -> str:
    """The name of the pooler's linear layer, which differs by family."""
    names = [p.name for p in service.parameters(what.card.id)]
    weight = next(n for n in names if n.startswith("pooler.") and n.endswith(".weight"))
    return weight.removesuffix(".weight")


def _by_hand(what: LayerView, service: EncoderService) -> tuple[FloatArray, FloatArray] | None:
    """W x + b and its tanh; None where the weights are too large to be had."""
    name = _linear(what, service)
    try:
        weight = service.matrix(what.card.id, f"{name}.weight")
    except RequestError as exc:
        st.caption(f"Not computed by hand: {escape(str(exc))}")
        return None
    bias = service.matrix(what.card.id, f"{name}.bias")
    return pool_by_hand(what.encoding.hidden[-1, 0], weight, bias)


def _pooler_strips(rows: dict[str, FloatArray]) -> None:
    title = "From the first token's vector to the pooler output"
    st.plotly_chart(
        vector_strips(np.stack(list(rows.values())), list(rows), title=title, height=260),
        key="layers_pooler",
        config=_BARE,
        alt=f"{title}: {', '.join(rows)}.",
    )


def _sentences_table(view: ViewState, service: EncoderService) -> None:
    """How alike the sentences look to the pooler, to the first token, and to the mean."""
    encodings = encode_all(view, service)
    kinds = {
        "by pooler output": [e.pooler_output for e in encodings],
        "by first token": [e.hidden[-1, 0] for e in encodings],
        "by mean of tokens": [e.hidden[-1].mean(axis=0) for e in encodings],
    }
    cosines = {
        name: cosine_matrix(np.stack([v for v in vectors if v is not None]))
        for name, vectors in kinds.items()
    }
    n = len(encodings)
    rows = [
        {
            "sentences": f"{letter(i)} ~ {letter(j)}",
            **{k: float(m[i, j]) for k, m in cosines.items()},
        }
        for i in range(n)
        for j in range(i + 1, n)
    ]
    if not rows:
        st.caption("Add a second sentence to see how alike the pooler makes them.")
        return
    st.caption("Cosine of whole sentences, by three sentence vectors of the last layer")
    numbers = {name: st.column_config.NumberColumn(format="%.4f") for name in kinds}
    st.dataframe(pd.DataFrame(rows), hide_index=True, column_config=numbers, key="layers_sentences")

"""The data behind the Anatomy page: parts, tables and the weights of one array."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from contextlens.content.language import say
from contextlens.core import EncoderService, ModelCard, ModelSpec
from contextlens.core.byte_cache import remembered
from contextlens.core.errors import ModelError
from contextlens.core.families import FAMILIES
from contextlens.core.presets import preset_config
from contextlens.core.schema import Architecture, Parameter, Passport
from contextlens.features.anatomy.controls import (
    MAX_SAMPLED_VALUES,
    PART,
    SEARCH,
    SUBJECT,
    TOKENS,
)
from contextlens.features.anatomy.measures import (
    Node,
    Totals,
    WeightStatistics,
    build_tree,
    evenly_spaced,
    n_values,
    operations,
    parameter_rows,
    search,
    totals,
    trained_text,
    weight_statistics,
)
from contextlens.ui.state.view import ViewState

# --- The view's model and its parts


@dataclass(frozen=True)
class PaddingRow:
    """The row of the word table for padding, and what becomes of it in a text.

    Attributes:
        token: the padding token.
        token_id: its row.
        norm: the length of that row.
        norm_at_end: the length of a padding position's vector after the last layer.
    """

    token: str
    token_id: int
    norm: float
    norm_at_end: float


@dataclass(frozen=True, eq=False)
class AnatomyView:
    """The model on the page, taken apart.

    Attributes:
        card: the loaded model, whether or not it is the one taken apart.
        architecture: the model that is taken apart.
        subject_card: its card if it is loaded; None if only its config is known.
        chosen: the selected part.
        query: the search text.
        matches: the names of the parameters that it matches; None without a search.
        n_tokens: the length of text for which operations are counted.
        padding: the word table's row for padding; None unless that table is the selected part.
    """

    card: ModelCard
    architecture: Architecture
    subject_card: ModelCard | None
    tree: Node
    totals: Totals
    chosen: Node
    query: str
    matches: frozenset[str] | None
    n_tokens: int
    passport: Passport
    padding: PaddingRow | None


def subjects(
    view: ViewState, service: EncoderService, card: ModelCard, more: Iterable[ModelSpec] = ()
) -> dict[str, str]:
    """The titles of the models to take apart, by the control's value.

    The chosen model comes first, then other loaded ones (of these, `more` last), then presets.
    """
    other_specs = [spec for spec in (*service.models(), *more) if spec.id != view.model]
    return {
        "": card.title,
        **{s.id: say("anatomy.loaded", model=s.title) for s in other_specs if s.loaded},
        **{
            s.id: say("anatomy.no_weights", model=s.title)
            for s in other_specs
            if not s.loaded and preset_config(s.id) is not None
        },
    }


def anatomy_view(
    view: ViewState, service: EncoderService, card: ModelCard, more: Iterable[ModelSpec] = ()
) -> AnatomyView:
    """Take apart the model that the view names."""
    subject = SUBJECT.among(subjects(view, service, card, more)).of(view)
    subject_card = card if not subject else _card(service, subject)
    architecture = service.architecture(subject or view.model)
    tree = build_tree(architecture)
    query = SEARCH.of(view).strip()
    chosen = tree.find(PART.among(node.path for node in tree.walk()).of(view)) or tree
    has_rows = subject_card is not None and chosen.kind == "word"
    return AnatomyView(
        card=card,
        architecture=architecture,
        subject_card=subject_card,
        tree=tree,
        totals=totals(architecture.parameters),
        chosen=chosen,
        query=query,
        matches=search(tree, query) if query else None,
        n_tokens=TOKENS.of(view),
        passport=_passport(architecture, subject_card, service.load_tokenizer(card.id).versions),
        padding=padding_row(architecture, service) if has_rows else None,
    )


def padding_row(architecture: Architecture, service: EncoderService) -> PaddingRow | None:
    """The word table's row for padding and one padding position's vector; None if it overflows."""
    model = architecture.id
    vocabulary = service.vocabulary(model)
    (row,) = service.word_rows(model, [vocabulary.pad_id])
    text = "" if service.load_tokenizer(model).n_added[0] else "a"  # the shortest with a token
    (tokens,) = service.tokenize(model, [text])
    layers, pad_to = [architecture.n_layers], tokens.n_tokens + 1
    try:
        (encoding,) = service.encode(model, [text], layers=layers, pad_to=pad_to)
    except ModelError:
        return None
    return PaddingRow(
        token=vocabulary.pieces[vocabulary.pad_id],
        token_id=vocabulary.pad_id,
        norm=float(np.linalg.norm(row)),
        norm_at_end=float(np.linalg.norm(encoding.hidden[0, -1])),
    )


def compared_architectures(anatomy: AnatomyView, service: EncoderService) -> list[Architecture]:
    """The model taken apart, the loaded one, and every preset that is allowed here."""
    ids = [
        anatomy.architecture.id,
        anatomy.card.id,
        *(spec.id for spec in service.models() if preset_config(spec.id) is not None),
    ]
    return [service.architecture(model) for model in dict.fromkeys(ids)]


def _card(service: EncoderService, model: str) -> ModelCard | None:
    """The card of a model that is in memory; this never loads a model."""
    return service.load(model) if service.spec(model).loaded else None


def _passport(
    architecture: Architecture, card: ModelCard | None, versions: Mapping[str, str]
) -> Passport:
    settings = {"weights": "none: built from the config"}
    if card:
        settings = {"language": card.language} if card.language else {}
        if card.was_converted:
            settings["weights stored as"] = ", ".join(card.stored_as)
    return Passport(
        model=architecture.id,
        revision=card.revision if card else "",
        checksum=card.checksum if card else "",
        precision="exact",
        versions=versions,
        settings=settings,
    )


# --- The numbers of the Anatomy page as rows and arrays


def parameters_table(anatomy: AnatomyView) -> pd.DataFrame:
    """A row for each array; during a search, only for the arrays that match."""
    table = pd.DataFrame(parameter_rows(anatomy.tree))
    if anatomy.matches is not None:
        table = table[table["name"].isin(anatomy.matches)]
    return table if table["tied to"].any() else table.drop(columns="tied to")


def rows_below(part: Node) -> list[Mapping[str, str | int]]:
    """The parts or arrays directly below a part."""
    if part.children:
        return [
            {"part": c.name, "parameters": c.n_values, "trained": trained_text(c.parameters)}
            for c in part.children
        ]
    return [
        {
            "array": p.name.rpartition(".")[2],
            "shape": " × ".join(map(str, p.shape)),
            "parameters": n_values(p),
            "trained": trained_text([p]),
        }
        for p in part.parameters
    ]


def counts_by_part(architecture: Architecture) -> dict[str, int]:
    """The numbers of parameters in the embedding layer, in the layers and in the pooler."""
    counts = {"Embedding layer": 0, "Layers": 0, "Pooler": 0}
    names = {"embeddings": "Embedding layer", "pooler": "Pooler"}
    for child in build_tree(architecture).children:
        counts[names.get(child.kind, "Layers")] += child.n_values
    return counts


def arrays(anatomy: AnatomyView) -> dict[str, NDArray[Any]]:
    """Every parameter, and the operations for a text, by name."""
    parameters = anatomy.architecture.parameters
    work = operations(anatomy.architecture, anatomy.n_tokens)
    return {
        "names": np.array([p.name for p in parameters]),
        "shapes": np.array([str(p.shape) for p in parameters]),
        "n_values": np.array([n_values(p) for p in parameters], dtype=np.int64),
        "n_bytes": np.array([p.n_bytes for p in parameters], dtype=np.int64),
        "tied_to": np.array([p.tied_to or "" for p in parameters]),
        "n_tokens": np.array(anatomy.n_tokens),
        "multiply_adds": np.array([work.linear, work.attention, work.pooler], dtype=np.int64),
    }


# --- The numbers inside one array


@dataclass(frozen=True, eq=False)
class Measured:
    """The statistics of one array, measured on every `step`-th row."""

    parameter: Parameter
    stats: WeightStatistics
    step: int

    @property
    def n_rows(self) -> int | None:
        """The number of rows of the whole array, if only a sample was measured."""
        return self.parameter.shape[0] if self.step > 1 else None


def measure(anatomy: AnatomyView, parameter: Parameter, service: EncoderService) -> Measured:
    """The statistics of one array; a word table too large to send is sampled at even intervals.

    Raises:
        RequestError: an array that is not a word table has too many values to send.
    """
    model, checksum = anatomy.architecture.id, anatomy.passport.checksum
    return remembered(
        "weight statistics",
        model,
        checksum,
        parameter,
        compute=lambda: _measure(model, parameter, service),
    )


def summary(measured: Measured) -> dict[str, str | int | float]:
    """One array's row in the table."""
    stats = measured.stats
    spectrum = (
        {"largest singular value": stats.singular[0], "smallest": stats.singular[-1]}
        if stats.singular.size
        else {}
    )
    return {
        "measured": " × ".join(map(str, stats.shape)),
        "mean": stats.mean,
        "standard deviation": stats.std,
        "minimum": stats.low,
        "maximum": stats.high,
        "Frobenius norm": stats.norm,
        **spectrum,
        "outside the chart": stats.n_outside,
    }


_WORD_TABLES = tuple(f"{family.word_name}.weight" for family in FAMILIES.values())


def _measure(model: str, parameter: Parameter, service: EncoderService) -> Measured:
    step = 1
    if parameter.name.endswith(_WORD_TABLES) and n_values(parameter) > MAX_SAMPLED_VALUES:
        rows = evenly_spaced(parameter.shape[0], parameter.shape[1], MAX_SAMPLED_VALUES)
        array, step = service.word_rows(model, rows), int(rows[1] - rows[0])
    else:
        array = service.matrix(model, parameter.name)
    return Measured(parameter, weight_statistics(array), step)

"""Edits in words: which of them the model hardly notices, and which change everything."""

from __future__ import annotations

from components.analysis.baseline import Band
from components.content.wording import MARGIN, bold, escape, span, two
from components.features.why.compute.edits import EditsShown, RankedEdit

__all__ = ["edits_reading"]


def edits_reading(shown: EditsShown, band: Band | None) -> list[str]:
    """Two to three sentences: the most and the least, negation, and what unrelated ones get.

    Args:
        shown: the edits with their cosines.
        band: random pairs of sentences, at each layer; None where there are none.
    """
    edits = shown.edits
    if not edits:
        return ["No ready edit fits this sentence."]
    said = [_ends(edits), _negation(edits)]
    if band is not None:
        mean = float(band.mean[shown.score.layer])
        said.append(f"Random pairs of {band.of} have {two(mean)} on average.")
    return [sentence for sentence in said if sentence]


def _ends(edits: tuple[RankedEdit, ...]) -> str:
    first, last = edits[0], edits[-1]
    if last.cosine - first.cosine <= MARGIN:
        each = "The one edit leaves" if len(edits) == 1 else f"All {len(edits)} edits leave"
        return f"{each} a cosine of {bold(first.cosine)} with the sentence."
    near = sum(last.cosine - each.cosine <= MARGIN for each in edits)
    nearest = f"{near} are nearest" if near > 1 else f"nearest is “{escape(last.edit.text)}”"
    own = span([each.cosine for each in edits[-near:]], bold)
    return (
        f"Of {len(edits)} edits, the one furthest away is “{escape(first.edit.text)}” "
        f"({bold(first.cosine)}); {nearest} ({own})."
    )


def _negation(edits: tuple[RankedEdit, ...]) -> str:
    """How far a negation moves the sentence, beside something that changes no meaning."""
    own = next((e for e in edits if e.edit.kind == "negation"), None)
    typo = next((e for e in edits if e.edit.kind == "typo"), None)
    if own is None:
        return ""
    said = f"Its negation, “{escape(own.edit.text)}”, has {bold(own.cosine)}"
    if typo is None:
        return f"{said}."
    gap = own.cosine - typo.cosine
    if abs(gap) <= MARGIN:
        return f"{said}, about as much as a typing error leaves ({bold(typo.cosine)})."
    than = "more" if gap > 0 else "less"
    return f"{said}, {than} than a typing error leaves ({bold(typo.cosine)})."

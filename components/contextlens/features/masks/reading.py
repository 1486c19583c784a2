"""The reading of Padding & masks: the share of padding, its effect on a text, and a model's limit.

All claims are computed here; the sentences are in `english.toml`. A similarity is called lower
than another one only if the two are displayed with different numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from contextlens.content.language import Claim, claim
from contextlens.content.wording import escape, percent, placed, quoted, two
from contextlens.core.schema import Tokens
from contextlens.features.masks.controls import ALL
from contextlens.features.masks.measures import (
    FourCases,
    PaddedBatch,
    PaddedText,
    Saving,
    most_changed,
    text_to_describe,
    token_labels,
)

_UNCHANGED = two(1.0)
_LONGEST_QUOTE = 40
_CASES = ("on_real", "on_all", "off_real", "off_all")


# The batch


def batch_title(lab: PaddedBatch) -> Claim:
    """The finding of the batch: what its mask does with the padding."""
    if not lab.share:
        return claim("masks.title.none")
    return claim(f"masks.title.{'on' if lab.masked else 'off'}")


def cases_title(cases: FourCases, case: str) -> Claim:
    """The finding of the four cases: the similarity of the present one."""
    return claim("masks.case.title", label=cases.label, similarity=_similarity(cases, case))


def case_of(*, masked: bool, average: str) -> str:
    """The name of one of the four cases, such as "on_real"."""
    return f"{'on' if masked else 'off'}_{average}"


def layers_title(row: PaddedText) -> Claim:
    """The finding of one text's lines over the layers, based on its mean."""
    low = float(row.damage.mean.min())
    if not row.n_padding:
        return claim("masks.layers.none", label=row.label)
    case = "unchanged" if two(low) == _UNCHANGED else "changed"
    return claim(f"masks.layers.{case}", label=row.label, similarity=low)


def masks_reading(lab: PaddedBatch, cases: FourCases | None, case: str) -> list[Claim]:
    """The similarity of the present case, and those of the mistakes or of doing it right."""
    if cases is None:
        return [claim("masks.share.none", n=len(lab.rows) * lab.pad_to)]
    numbers = {name: _similarity(cases, name) for name in _CASES}
    claims = [claim(f"masks.case.{case}", label=cases.label, similarity=numbers[case])]
    claims.append(claim(f"masks.case.{'mistakes' if case == 'on_real' else 'right'}", **numbers))
    return claims


def masks_sure(lab: PaddedBatch, row: PaddedText, layer: int) -> list[Claim]:
    """The share of padding, its effect on tokens, the compared vectors, the most changed text."""
    described, worst = text_to_describe(lab, row, layer), most_changed(lab, layer)
    if described is None or worst is None:
        return []
    lengths = described.damage.lengths[described.damage.layers.index(layer)]
    pad, real = float(lengths[described.n_real :].mean()), float(lengths[: described.n_real].mean())
    claims = [
        claim("masks.share.some", share=lab.share, n=len(lab.rows) * lab.pad_to),
        _effect_claim(lab, described, layer),
        claim("masks.sure.compared"),
        claim("masks.sure.lengths", pad=escape(described.pad_token), length=pad, real=real),
    ]
    if two(_at(worst, layer)) != two(_at(described, layer)):
        claims.append(claim("masks.sure.worst", label=worst.label, similarity=_at(worst, layer)))
    return claims


def padding_note(lab: PaddedBatch, row: PaddedText, layer: int) -> Claim | None:
    """The meaning of the hatching, with the mask on or off; None without padding."""
    described = text_to_describe(lab, row, layer)
    if described is None:
        return None
    return claim(
        f"masks.note.{'off' if described.mask[-1] else 'on'}", pad=escape(described.pad_token)
    )


def _effect_claim(lab: PaddedBatch, row: PaddedText, layer: int) -> Claim:
    """The effect of padding on a text's mean and on its most changed tokens."""
    cosines = row.damage.tokens[row.damage.layers.index(layer)].tolist()
    numbers = {"label": row.label, "layer": layer, "lowest": min(cosines)}
    if _is_unchanged(row, layer):
        if lab.masked:
            return claim("masks.effect.on_unchanged", **numbers)
        return claim(f"masks.effect.{'off_unchanged' if layer else 'embedding'}", **numbers)
    lowest = [i for i, cosine in enumerate(cosines) if two(cosine) == two(min(cosines))]
    labels = token_labels(row.alone)
    return claim(
        f"masks.effect.{'on' if lab.masked else 'off'}",
        **numbers,
        n=len(lowest),
        similarity=_at(row, layer),
        token=placed(labels[lowest[0]], lowest[0], labels),
    )


def _at(row: PaddedText, layer: int) -> float:
    return row.damage.means(layer)[0]


def _similarity(cases: FourCases, case: str) -> float:
    mask, _, average = case.partition("_")
    return (cases.on if mask == "on" else cases.off)[average == ALL]


def _is_unchanged(row: PaddedText, layer: int) -> bool:
    """True if the similarities of mean and tokens are all displayed as 1.00."""
    tokens = row.damage.tokens[row.damage.layers.index(layer)]
    return two(min(_at(row, layer), float(tokens.min()))) == _UNCHANGED


# Problems, the saving by sorting, and the limit


def problems(
    lab: PaddedBatch | None,
    *,
    left_out: Sequence[str],
    unfit: str,
    limit: int,
    labels: tuple[str, str] = ("", ""),
) -> list[Claim]:
    """Notes on what was left out, cut or impossible, one sentence each.

    Args:
        lab: the batch, if any.
        labels: the names of the chosen sentence and of the one that the numbers are for.
        left_out: the names of the blank sentences.
        unfit: a requested length that is too short or too long, or "".
        limit: the model's maximum number of tokens.
    """
    blank = claim("masks.problem.blank", n=len(left_out), names=", ".join(left_out))
    claims = [blank] if left_out else []
    if lab is None:
        return claims
    if labels[0] != labels[1]:
        claims.append(claim("masks.problem.other", label=labels[0], other=labels[1]))
    if unfit:
        numbers = {"longest": max(lab.lengths), "limit": limit, "pad_to": lab.pad_to}
        claims.append(claim("masks.problem.unfit", asked=escape(unfit), **numbers))
    cut = [(row.label, row.alone.n_truncated) for row in lab.rows if row.alone.n_truncated]
    return claims + [claim("masks.problem.cut", label=label, n=n) for label, n in cut]


def example_note(example: str, n_own: int) -> Claim:
    """The reason for the example in a batch, from the number of the visitor's own sentences."""
    return claim("masks.problem.example", example=example, n=n_own)


def saving_title(measured: Saving) -> Claim:
    """The saving by sorting, in one line."""
    before, after = measured.padding_given, measured.padding_sorted
    if measured.saved <= 0:
        return claim("masks.saving.nothing", after=after)
    case = "little" if percent(before) == percent(after) else "cuts"
    return claim(f"masks.saving.{case}", before=before, after=after)


def saving_reading(measured: Saving, n_texts: int) -> Claim:
    """The saving by sorting many texts by length."""
    return claim(
        "masks.saving.sample",
        n=n_texts,
        size=measured.size,
        before=measured.padding_given,
        after=measured.padding_sorted,
    )


def cut_title(tokens: Tokens) -> Claim:
    """The number of a text's tokens that fit."""
    n_kept, n_lost = tokens.n_tokens, tokens.n_truncated
    if not n_lost:
        return claim("masks.limit.title_fits", n=n_kept)
    return claim("masks.limit.title_cut", total=n_kept + n_lost, kept=n_kept, n=n_lost)


def limit_reading(tokens: Tokens, limit: int, n_positions: int | None) -> list[Claim]:
    """A model's treatment of a text at or over its limit, from the tokenizer's output.

    Args:
        tokens: one text as the tokenizer cuts it.
        limit: the model's maximum number of tokens.
        n_positions: positions of a text for which the model has a vector; None if unknown.
    """
    total, n_lost = tokens.n_tokens + tokens.n_truncated, tokens.n_truncated
    claims = [claim("masks.limit.total", n=total, limit=limit)]
    if not n_lost:
        return claims
    rest = tokens.text[int(tokens.offsets[:, 1].max()) :]
    case = "lost_from" if rest.strip() else "lost"
    claims.append(claim(f"masks.limit.{case}", n=n_lost, rest=quoted(rest, _LONGEST_QUOTE)))
    if n_positions is not None:
        claims.append(claim("masks.limit.positions", n=n_positions))
    return claims

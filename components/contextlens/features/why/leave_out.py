"""Leave out: the score without each word, and without each pair of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from plotly.graph_objects import Figure

from contextlens.analysis.leaving_out import MAX_LEFT_OUT_WORDS, cut_out
from contextlens.analysis.shares import Doubles, Unit, is_word
from contextlens.analysis.snippet_start import literal
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import quoted, signed, span, two
from contextlens.core import EncoderService
from contextlens.core.schema import Block, Counted
from contextlens.core.words import Span
from contextlens.features.why.charts import WordBar, signed_matrix, word_bars
from contextlens.features.why.controls import (
    HOW_OUT,
    MAX_PAIRED_WORDS,
    MAX_SCRIPTED_CASES,
    OUT_OF,
    PAIRS,
    WORDS,
)
from contextlens.features.why.explanation import (
    NOISE,
    Explanation,
    before_and_after,
    direction,
    leading_of,
    strongest,
    task_of,
)
from contextlens.features.why.score import (
    SCORE_FORMULA,
    ModelRun,
    Score,
    Side,
    cosine,
    vectors_of,
    weights_of,
)
from contextlens.features.why.script import (
    COSINE,
    both_vectors,
    reader,
    script,
    side_arguments,
    text_arguments,
)
from contextlens.features.why.word_rows import word_row
from contextlens.figures.frames import signed_end
from contextlens.figures.word_rows import Captions, WordRows
from contextlens.jobs import Task
from contextlens.ui.panel import Rows
from contextlens.ui.state.view import ViewState
from contextlens.ui.widgets.comparison.compute import chosen_span

FORMULA = (
    SCORE_FORMULA
    + r"""
**Leave out.** The change is the score without the word, less the score. *Taken out*, the text is
read anew without the word's characters. *Hidden*, the word keeps its tokens and their positions,
and no token may attend to them in any layer, they themselves included.

**Order.** Kendall's $\tau_b$ (1945) between shares and falls, from 1 (the same order) to -1.
"""
)
How = Literal["taken", "hidden"]
_CAPTIONS = Captions(
    quantity=say("why.leave_out.quantity"),
    between="",
    low=say("why.leave_out.low"),
    high=say("why.leave_out.high"),
    hint=say("why.leave_out.hint"),
)
_CHANGED = {"taken": "each word taken out of the text", "hidden": "each word hidden from attention"}


@dataclass(frozen=True)
class LeftOutWord:
    """A word that was left out.

    Attributes:
        side: 0 for the first sentence, 1 for the second.
        unit: the word.
        cosine: the cosine without the word.
        change: `cosine` less the score; below 0 if the two are less alike without the word.
    """

    side: int
    unit: Unit
    cosine: float
    change: float


@dataclass(frozen=True, eq=False)
class LeaveOutResult(Explanation):
    """The score without each word.

    Attributes:
        how: "taken" out of the text, or "hidden" from attention.
        words: in text order, the first sentence's before the second's.
        pairs: (n_words, n_words) float64 change with both left out, symmetric, with single words on
            the diagonal; None if the texts are too long, or if pairs were not requested.
        shares: (n_words,) float64 the share of each word at the layer.
        order: the agreement of the words' orders by share and by change; None if only one
            token or word is compared, as the others then have no shares.
        limits: remarks on the words or pairs that were not left out.
    """

    formula = FORMULA
    chart_code = "px.bar(x=list(changes), y=[float(change) for change in changes.values()])"

    how: How
    words: tuple[LeftOutWord, ...]
    pairs: Doubles | None
    shares: Doubles
    order: Order | None
    limits: tuple[Claim, ...]

    @property
    def changes(self) -> Doubles:
        """(n_words,) the change of the cosine without each word."""
        return np.array([word.change for word in self.words], dtype=np.float64)

    def settings(self) -> Mapping[str, Any]:
        """Return how words were left out, and whether pairs were."""
        return {"changed": _CHANGED[self.how], "pairs of words": self.pairs is not None}

    # Claims

    def title(self) -> Claim:
        """Return the word with the largest effect."""
        leaders = strongest(self.changes)
        if len(leaders) != 1:
            how_many = "several" if leaders else "none"
            return claim(f"why.leave_out.title.{how_many}", n=len(leaders))
        word = self.words[leaders[0]]
        side = self.score.sides[word.side]
        verdict = f"{direction(word.change)}_{self.how}"
        return claim(
            f"why.leave_out.title.{verdict}", word=side.titled(word.unit), letter=side.letter
        )

    def claims(self) -> Sequence[Claim]:
        """Return the words that lower and that raise the score most."""
        if unread := self.score.unread_letters:
            return [claim("why.shares.summary.unread", letters=unread)]
        claims = []
        for verdict, changes in (("lowers", -self.changes), ("raises", self.changes)):
            leaders = [self.words[i] for i in leading_of(changes.tolist())]
            if leaders:
                cosine, without, _ = before_and_after(self.score.cosine, leaders[0].change)
                if len(leaders) > 1:
                    cosine = two(self.score.cosine)
                    without = span([word.cosine for word in leaders])
                numbers = {"n": len(leaders), "cosine": cosine, "without": without}
                words = self._quoted(leaders[0])
                claims.append(claim(f"why.leave_out.{verdict}", word=words, **numbers))
        return [*claims, claim("why.leave_out.alone")] if claims else [claim("why.leave_out.none")]

    def sure(self) -> Sequence[Claim]:
        """Return the agreement with the shares, and the pair of words that interact most."""
        claims = []
        if self.order is not None and len(self.words) > 1:
            n, tau = len(self.words), self.order.tau or 0.0
            claims.append(claim(f"why.leave_out.{self.order.verdict}", n=n, tau=tau))
        if self.pairs is not None and len(self.words) > 1:
            claims.append(self._pair_claim(self.pairs))
        return claims

    def notes(self) -> Sequence[Claim]:
        """Return remarks on what was not left out."""
        return self.limits

    def _quoted(self, word: LeftOutWord) -> str:
        side = self.score.sides[word.side]
        return f"{side.quoted(word.unit)} ({side.letter})"

    def _pair_claim(self, pairs: Doubles) -> Claim:
        """The claim about the two words whose joint effect differs most from the sum of theirs."""
        beyond = np.abs(interaction(pairs))
        i, j = divmod(int(beyond.argmax()), len(beyond))
        if beyond[i, j] < 2 * NOISE:
            return claim("why.leave_out.additive")
        return claim(
            "why.leave_out.together",
            first=self._quoted(self.words[i]),
            second=self._quoted(self.words[j]),
            both=signed(pairs[i, j]),
            one=signed(pairs[i, i]),
            other=signed(pairs[j, j]),
        )

    # Pictures

    def word_rows(self) -> WordRows:
        """Return both sentences with what each word adds; NaN for those not left out."""
        values = []
        for index, side in enumerate(self.score.sides):
            changes = {
                word.unit.positions: -word.change for word in self.words if word.side == index
            }
            values.append(
                np.array([changes.get(unit.positions, np.nan) for unit in side.units], dtype=float)
            )
        first, second = map(word_row, self.score.sides, (WORDS, WORDS), values)
        return WordRows(first, second, _CAPTIONS, end=signed_end(*values))

    @property
    def detail(self) -> str:
        """The name of the bars, or of the matrix of pairs."""
        return say("why.detail.words" if self.pairs is None else "why.detail.pairs")

    def figure(self) -> Figure:
        """Return what each word adds as bars, or each pair of words as a matrix."""
        title, letters = str(self.title()), [side.letter for side in self.score.sides]
        if self.pairs is not None:
            names = [f"{word.unit.label} · {letters[word.side]}" for word in self.words]
            quantity = say("why.leave_out.quantity")
            return signed_matrix(-self.pairs, names, names, quantity=quantity, title=title)
        has_shares = self.order is not None
        bars = [
            WordBar(
                word.unit.label,
                letters[word.side],
                -word.change,
                float(share) if has_shares else None,
            )
            for word, share in zip(self.words, self.shares, strict=True)
        ]
        return word_bars(
            bars,
            quantity=say("why.leave_out.quantity"),
            mark=say("why.leave_out.predicted") if has_shares else "",
            title=title,
        )

    def alt(self) -> str:
        """Return the finding, and what the chart shows."""
        key = "why.leave_out.alt" if self.pairs is None else "why.leave_out.alt_pairs"
        return say(key, title=str(self.title()))

    # Files

    def rows(self) -> Rows:
        """Return a row for each word."""
        letters = [side.letter for side in self.score.sides]
        return [
            {
                "sentence": letters[word.side],
                "position": word.unit.positions[0],
                "word left out": word.unit.label,
                "cosine": word.cosine,
                "change": word.change,
                "share": float(share),
            }
            for word, share in zip(self.words, self.shares, strict=True)
        ]

    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """Return the changes and shares of the words."""
        pairs = {} if self.pairs is None else {"pairs": self.pairs}
        return {
            "changes": self.changes,
            "shares": self.shares,
            "sides": np.array([word.side for word in self.words], dtype=np.int64),
            "words": np.array([word.unit.label for word in self.words], dtype=np.str_),
            **pairs,
        }

    def snippet(self) -> str:
        """Return a script that computes `changes`, a dict by `case_name`."""
        score = self.score
        lines = ["cases = {  # what is left out, and both vectors without it"]
        for case in self.written_cases():
            first, second = (self._vector_without(i, case) for i in (0, 1))
            lines.append(f"    {literal(self.case_name(case))}: ({first}, {second}),")
        parts = (
            reader(score, hides=self.how == "hidden"),
            COSINE,
            both_vectors(score),
            "\n".join([*lines, "}"]),
            _SCRIPT,
        )
        return script(score.card, *parts)

    def written_cases(self) -> list[tuple[LeftOutWord, ...]]:
        """Return the words, then the pairs if there are any, with the largest effects."""
        order = np.argsort(-np.abs(self.changes), kind="stable")[:MAX_SCRIPTED_CASES]
        single: list[tuple[LeftOutWord, ...]] = [(self.words[i],) for i in sorted(order.tolist())]
        if self.pairs is None:
            return single
        pairs = list(combinations(range(len(self.words)), 2))
        sizes = np.abs(self.pairs)
        pairs.sort(key=lambda pair: -float(sizes[pair[0], pair[1]]))
        return [*single, *((self.words[i], self.words[j]) for i, j in pairs[:MAX_SCRIPTED_CASES])]

    def case_name(self, case: tuple[LeftOutWord, ...]) -> str:
        """Return the name of the words that are left out: by letter, position and word."""
        return " and ".join(
            f"{self.score.sides[word.side].letter} {word.unit.positions[0]} {word.unit.label}"
            f" ({word.side + 1})"
            for word in case
        )

    def _vector_without(self, index: int, case: tuple[LeftOutWord, ...]) -> str:
        units = [word.unit for word in case if word.side == index]
        if not units:
            return "ab"[index]
        side, kind = self.score.sides[index], self.score.vector_kind
        if self.how == "hidden":
            hidden = [i for unit in units for i in unit.positions]
            return f"vector({side_arguments(side, kind)}, hidden={hidden})"
        text, pair, word = texts_without(side, units)
        return f"vector({text_arguments(text, pair, word if kind == 'word' else None)})"


_SCRIPT = """
changes = {name: cosine(one, other) - score for name, (one, other) in cases.items()}
for name, change in changes.items():
    print(f"{name}: {change:+.4f}")
"""


# --- The work


def task(view: ViewState, score: Score, service: EncoderService, *, token_seconds: float) -> Task:
    """Return the job that leaves words out; `token_seconds` is the duration of a token in a run."""
    how, pairs = cast(How, HOW_OUT.of(view)), OUT_OF.of(view) == PAIRS
    n_tokens = sum(_n_runs(side, pairs) * side.encoding.n_tokens for side in score.sides)
    return task_of(
        ("leave out", how, pairs, score.key),
        "Reading without each word",
        partial(leave_out, score, service, how=how, pairs=pairs),
        n_tokens * token_seconds,
    )


def _n_runs(side: Side, pairs: bool) -> int:
    n = min(len(side.words), MAX_LEFT_OUT_WORDS)
    return n * (n + 1) // 2 if pairs and n <= MAX_PAIRED_WORDS else n


def leave_out(
    score: Score,
    service: EncoderService,
    *,
    how: How = "taken",
    pairs: bool = False,
    progress: Counted | None = None,
) -> LeaveOutResult:
    """Return the score without each word of either sentence.

    Args:
        score: the score with all words.
        service: runs the model; preferably without a cache.
        how: "taken" out of the text and read anew, or "hidden" from attention.
        pairs: True to leave out pairs of words too, if the sentences are short.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    candidates = [_candidates(score, side, how) for side in score.sides]
    has_pairs = (
        pairs
        and all(len(words) <= MAX_PAIRED_WORDS for words in candidates)
        and not any(map(_is_pair_alone, score.sides, candidates))
    )
    groups = [
        [*((unit,) for unit in words), *(combinations(words, 2) if has_pairs else ())]
        for words in candidates
    ]
    runs = [
        _run_without(score, side, group, how)
        for side, side_groups in zip(score.sides, groups, strict=True)
        for group in side_groups
    ]
    vectors = vectors_of(runs, service, score.card, layer=score.layer, progress=progress)
    side_vectors = vectors[: len(groups[0])], vectors[len(groups[0]) :]
    changes = _changes(score, candidates, side_vectors, pairs=has_pairs)
    units = [(i, unit) for i, words in enumerate(candidates) for unit in words]
    single = np.diag(changes)
    by_token = score.token_shares
    sums = by_token.rows, by_token.columns
    shares = np.array([sums[i][list(unit.positions)].sum() for i, unit in units], dtype=np.float64)
    return LeaveOutResult(
        score=score.lean,
        how=how,
        words=tuple(
            LeftOutWord(i, unit, score.cosine + float(change), float(change))
            for (i, unit), change in zip(units, single, strict=True)
        ),
        pairs=changes if has_pairs else None,
        shares=shares,
        order=order_of(shares, single) if score.vector_kind == "mean" else None,
        limits=tuple(_limits(score, candidates, how, pairs=pairs)),
    )


def _run_without(score: Score, side: Side, units: Sequence[Unit], how: How) -> ModelRun:
    """The run of a sentence without some words."""
    kind, encoding = score.vector_kind, side.encoding
    if how == "hidden":
        hidden = [i for unit in units for i in unit.positions]
        blocks = tuple(Block(token=i) for i in hidden)
        weights = _mean_without(side.weights, hidden) if kind == "mean" else side.weights
        return ModelRun(encoding.text, encoding.pair, lambda _: weights, blocks)
    text, pair, word = texts_without(side, units)
    return ModelRun(text, pair, lambda tokens: weights_of(tokens, kind, word))


def texts_without(side: Side, units: Sequence[Unit]) -> tuple[str, str | None, Span | None]:
    """Return a sentence without some words: its text, its pair, and the span of its chosen word."""
    encoding, word = side.encoding, chosen_span(side.sentence)
    remaining = cut_out(
        encoding.text, [unit.span for unit in units if unit.span and unit.text_id == 0]
    )
    pair = encoding.pair
    if pair is not None:
        pair = cut_out(pair, [unit.span for unit in units if unit.span and unit.text_id == 1]).text
        pair = pair if pair.strip() else None  # as in a view
    return remaining.text, pair, None if word is None else remaining.moved(word)


def _mean_without(weights: Doubles, positions: Sequence[int]) -> Doubles:
    """The weights of a mean over the tokens that are not hidden, which sum to 1."""
    remaining = weights.copy()
    remaining[list(positions)] = 0
    remaining /= remaining.sum()
    return remaining


def _candidates(score: Score, side: Side, how: How) -> list[Unit]:
    """The words to leave out in turn.

    Not the compared word if it would be taken out, and not a word that has all of the tokens.
    """
    n_tokens = side.encoding.n_tokens
    words = [unit for unit in side.units if is_word(unit) and len(unit.positions) < n_tokens]
    if score.vector_kind == "word" and how == "taken":
        words = [unit for unit in words if not side.weights[list(unit.positions)].any()]
    return words[:MAX_LEFT_OUT_WORDS]


def _is_pair_alone(side: Side, words: Sequence[Unit]) -> bool:
    """True for two words that together have all of a sentence's tokens: nothing is left without."""
    return len(words) == 2 and _covers(side, words)


def _covers(side: Side, words: Sequence[Unit]) -> bool:
    covered = {position for word in words for position in word.positions}
    return len(covered) == side.encoding.n_tokens


def _changes(
    score: Score,
    candidates: Sequence[Sequence[Unit]],
    vectors: tuple[Sequence[Doubles], Sequence[Doubles]],
    *,
    pairs: bool,
) -> Doubles:
    """(n_words, n_words) changes with both left out, single words on the diagonal.

    Zero off the diagonal if pairs are not requested.
    """
    side_vectors = [side.vector(score.layer) for side in score.sides]
    n_first, n = len(candidates[0]), len(candidates[0]) + len(candidates[1])
    cosines = np.full((n, n), score.cosine)
    for i_side, (first, words) in enumerate(((0, candidates[0]), (n_first, candidates[1]))):
        other_vector, without = side_vectors[1 - i_side], vectors[i_side]
        for i in range(len(words)):
            cosines[first + i, first + i] = cosine(without[i], other_vector)
        for k, (i, j) in enumerate(combinations(range(len(words)), 2) if pairs else ()):
            joint = cosine(without[len(words) + k], other_vector)
            cosines[first + i, first + j] = cosines[first + j, first + i] = joint
    for i in range(n_first if pairs else 0):
        for j in range(n_first, n):
            cosines[i, j] = cosines[j, i] = cosine(vectors[0][i], vectors[1][j - n_first])
    changes: Doubles = cosines - score.cosine
    return changes


def _limits(
    score: Score, candidates: Sequence[Sequence[Unit]], how: How, *, pairs: bool
) -> list[Claim]:
    """Remarks on the words and pairs that are not left out."""
    claims = []
    if pairs and any(len(words) > MAX_PAIRED_WORDS for words in candidates):
        claims.append(claim("why.leave_out.note.pairs", most=MAX_PAIRED_WORDS))
    for side, words in zip(score.sides, candidates, strict=True):
        n, letter = len(side.words), side.letter
        is_alone = n == 1 and _covers(side, side.words)
        if is_alone or (pairs and _is_pair_alone(side, words)):
            claims.append(claim("why.leave_out.note.alone", n=n, letter=letter))
        if len(words) == MAX_LEFT_OUT_WORDS and n > MAX_LEFT_OUT_WORDS:
            claims.append(
                claim("why.leave_out.note.long", letter=letter, n=n, most=MAX_LEFT_OUT_WORDS)
            )
        if side.n_truncated and how == "taken":
            claims.append(claim("why.leave_out.note.cut", letter=letter))
    if score.vector_kind == "word" and how == "taken":
        names = list(dict.fromkeys(quoted(side.word) for side in score.sides))
        listed = " and ".join(names)
        claims.append(claim("why.leave_out.note.compared", n=len(names), words=listed))
    return list({str(note): note for note in claims}.values())  # both sides may be one sentence


# --- The agreement between shares and the effects of leaving out, and between two words

MIN_ORDERED_WORDS = 8
"""The minimum number of words for comparing two orders."""
UNRELATED = 0.2
"""The largest absolute Kendall's tau of orders that count as unrelated."""


@dataclass(frozen=True)
class Order:
    """Two orders of the same words: by share, and by the fall of the cosine without each.

    Attributes:
        verdict: "same" or "opposite" if tau lies further from 0 than for 19 of 20 random orders;
            "unrelated" if it is small, also for many words; else, or for fewer than
            `MIN_ORDERED_WORDS` words, "cannot tell".
        tau: Kendall's tau-b (1945) of the two, from -1 (reversed) to 1 (the same); None if one of
            them has no order, because all its numbers are equal.
    """

    verdict: Literal["same", "opposite", "unrelated", "cannot tell"]
    tau: float | None


def order_of(shares: Doubles, changes: Doubles) -> Order:
    """Compare the orders of words by share and by change.

    Args:
        shares: (n,) the share of each word.
        changes: (n,) the change of the cosine without each word: below 0 if it falls.
    """
    from scipy.stats import kendalltau

    n = len(shares)
    if n < 2 or np.ptp(shares) == 0 or np.ptp(changes) == 0:
        return Order("cannot tell", None)
    tau = float(kendalltau(shares, -changes).statistic)
    if n < MIN_ORDERED_WORDS:
        return Order("cannot tell", tau)
    by_chance = 1.96 * float(np.sqrt(2 * (2 * n + 5) / (9 * n * (n - 1))))
    if abs(tau) > max(by_chance, UNRELATED):
        return Order("same" if tau > 0 else "opposite", tau)
    return Order("unrelated" if abs(tau) <= UNRELATED else "cannot tell", tau)


def interaction(pairs: Doubles) -> Doubles:
    """(n, n) the effect of two words beyond the sum of their single effects; 0 on the diagonal.

    Args:
        pairs: (n, n) changes with two words left out; with one, on the diagonal.
    """
    single = np.diag(pairs)
    joint: Doubles = pairs - single[:, None] - single[None, :]
    np.fill_diagonal(joint, 0.0)
    return joint

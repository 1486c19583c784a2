"""The data behind the looks of Why alike?, computed from a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from contextlens.analysis.shares import (
    Doubles,
    Shares,
    Unit,
    by_unit,
    is_word,
    merged,
    shares_of,
    vector_of,
)
from contextlens.content.bundled_texts import SenseSentence, ambiguous_words, baseline_sentences
from contextlens.content.language import Claim, claim, say
from contextlens.content.wording import shortened
from contextlens.core import EncoderService, ModelCard
from contextlens.core.errors import RequestError
from contextlens.core.schema import (
    Block,
    Counted,
    Intervention,
    Patch,
    SwitchOff,
    Tokens,
    Vocabulary,
)
from contextlens.core.words import Span, find_word
from contextlens.features.why.edits import (
    Edit,
    case_shape,
    exchanged_words,
    negations,
    other_cases,
    other_names,
    other_numbers,
    typo,
    with_neighbour,
)
from contextlens.features.why.english import FUNCTION_WORDS, is_english
from contextlens.features.why.measures import (
    Alignment,
    Order,
    VectorKind,
    align,
    cosine,
    cut,
    fraction,
    is_way,
    order_of,
    pair_cosines,
    sense_gap,
    weights_of,
)
from contextlens.features.why.score import ModelRun, Score, Side, problem_of, side_of, vectors_of
from contextlens.ui.state.view import ViewState, letter
from contextlens.ui.widgets.comparison.compute import chosen_span

# --- The shares in a score


@dataclass(frozen=True, eq=False)
class SharesResult:
    """The score split into shares at its layer.

    Attributes:
        score: the score to explain.
        by_token: (n_tokens of the first, n_tokens of the second) cells.
        by_word: (n_units of the first, n_units of the second) cells: words and special tokens, as
            in `score.first.units` and `score.second.units`.
    """

    score: Score
    by_token: Shares
    by_word: Shares

    def shares(self, unit: str) -> Shares:
        """The shares of "words" or of "tokens"."""
        return self.by_word if unit == "words" else self.by_token


@dataclass(frozen=True, eq=False)
class InputShares:
    """The contribution of each input token of one sentence, with the other sentence held fixed.

    Attributes:
        side: the sentence.
        shares: (n_tokens,) float64.
        by_word: (n_units,) float64 sums over the tokens of each of `side.units`.
        start: the cosine if every token that is not special has the word vector of padding.
        end: the cosine of the actual sentence: the score.
        remainder: `end - start` less the sum of the shares: the error of the steps.
        n_steps: the number of steps, the same on each piece of the path.
        cuts: the ends of the pieces, in order, from 0 to 1.
    """

    side: Side
    shares: Doubles
    by_word: Doubles
    start: float
    end: float
    remainder: float
    n_steps: int
    cuts: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class InputsResult:
    """The input tokens of both sentences."""

    score: Score
    first: InputShares
    second: InputShares

    @property
    def sides(self) -> tuple[InputShares, InputShares]:
        """Both sentences."""
        return self.first, self.second


def shares_at(score: Score) -> SharesResult:
    """Return the shares at the score's layer."""
    first, second = score.sides
    shares = shares_of(
        first.encoding.layer(score.layer),
        second.encoding.layer(score.layer),
        first.weights,
        second.weights,
    )
    return SharesResult(score, shares, merged(shares, first.units, second.units))


def integrated_of(
    score: Score, service: EncoderService, *, progress: Counted | None = None
) -> InputsResult:
    """Trace the score down to the input tokens, for each sentence against the other.

    Args:
        score: the score to explain.
        service: runs the model and its gradients.
        progress: receives the progress in hundredths; an exception that it raises ends the work.
    """
    first_side, second_side = score.sides
    first = _input_shares(score, first_side, second_side, service, _half_counter(0, progress))
    second = _input_shares(score, second_side, first_side, service, _half_counter(1, progress))
    return InputsResult(score.lean, first, second)


def _input_shares(
    score: Score, side: Side, other: Side, service: EncoderService, progress: Counted | None
) -> InputShares:
    encoding = side.encoding
    gradients = service.integrated_gradients(
        score.card.id,
        encoding.text,
        side.weights.astype(np.float32),
        other.vector(score.layer).astype(np.float32),
        pair=encoding.pair,
        layer=score.layer,
        progress=progress,
    )
    return InputShares(
        side=side.lean,
        shares=gradients.shares,
        by_word=by_unit(gradients.shares, side.units),
        start=gradients.start,
        end=gradients.end,
        remainder=gradients.remainder,
        n_steps=gradients.steps,
        cuts=gradients.cuts,
    )


def _half_counter(half: int, progress: Counted | None) -> Counted | None:
    """A counter that counts one of two halves of the work as fifty of a hundred."""
    if progress is None:
        return None
    return lambda done, n: progress(50 * half + round(50 * done / max(n, 1)), 100)


# --- Words left out

How = Literal["taken", "hidden"]
MAX_WORDS = 100
"""Maximum words of a sentence that are left out in turn."""
MAX_PAIRED = 12
"""Maximum words of a sentence for which pairs are left out too."""


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
class LeaveOutResult:
    """The score without each word.

    Attributes:
        score: the score with all words.
        how: "taken" out of the text, or "hidden" from attention.
        words: in text order, the first sentence's before the second's.
        pairs: (n_words, n_words) float64 change with both left out, symmetric, with single words on
            the diagonal; None if the texts are too long, or if pairs were not requested.
        shares: (n_words,) float64 the share of each word at the layer.
        order: the agreement of the words' orders by share and by change; None if only one
            token or word is compared, as the others then have no shares.
        notes: plain sentences on the words or pairs that were not left out.
    """

    score: Score
    how: How
    words: tuple[LeftOutWord, ...]
    pairs: Doubles | None
    shares: Doubles
    order: Order | None
    notes: tuple[str, ...]

    @property
    def changes(self) -> Doubles:
        """(n_words,) the change of the cosine without each word."""
        return np.array([word.change for word in self.words], dtype=np.float64)


def leave_out(
    score: Score,
    service: EncoderService,
    *,
    how: How = "taken",
    pairs: bool = False,
    progress: Counted | None = None,
) -> LeaveOutResult:
    """The score without each word of either sentence.

    Args:
        score: the score with all words.
        service: runs the model; preferably without a cache.
        how: "taken" out of the text and read anew, or "hidden" from attention.
        pairs: True to leave out pairs of words too, if the sentences are short.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    candidates = [_candidates(score, side, how) for side in score.sides]
    is_short = all(len(words) <= MAX_PAIRED for words in candidates)
    groups = [_groups(words, pairs and is_short) for words in candidates]
    runs = [
        run_without(score, side, group, how)
        for side, side_groups in zip(score.sides, groups, strict=True)
        for group in side_groups
    ]
    vectors = vectors_of(runs, service, score.card, layer=score.layer, progress=progress)
    side_vectors = vectors[: len(groups[0])], vectors[len(groups[0]) :]
    changes = _leave_out_changes(score, candidates, side_vectors, pairs=pairs and is_short)
    units = [(i, unit) for i, words in enumerate(candidates) for unit in words]
    single = np.diag(changes)
    shares = _shares_of_words(score, units)
    return LeaveOutResult(
        score=score.lean,
        how=how,
        words=tuple(
            LeftOutWord(i, unit, score.cosine + float(change), float(change))
            for (i, unit), change in zip(units, single, strict=True)
        ),
        pairs=changes if pairs and is_short else None,
        shares=shares,
        order=order_of(shares, single) if score.vector_kind == "mean" else None,
        notes=tuple(_leave_out_notes(score, candidates, how, pairs=pairs and not is_short)),
    )


def run_without(score: Score, side: Side, units: Sequence[Unit], how: How) -> ModelRun:
    """The run of a sentence without some words."""
    kind, encoding, span = score.vector_kind, side.encoding, chosen_span(side.sentence)
    if how == "hidden":
        hidden = [i for unit in units for i in unit.positions]
        blocks = tuple(Block(token=i) for i in hidden)
        weights = _without(side.weights, hidden) if kind == "mean" else side.weights
        return ModelRun(encoding.text, encoding.pair, lambda _: weights, blocks)
    remaining = cut(encoding.text, [unit.span for unit in units if unit.span and unit.text_id == 0])
    pair = encoding.pair
    if pair is not None:
        pair = cut(pair, [unit.span for unit in units if unit.span and unit.text_id == 1]).text
    moved = None if span is None else remaining.moved(span)

    def weigh(tokens: Tokens) -> Doubles:
        return weights_of(tokens, kind, moved)

    return ModelRun(remaining.text, pair, weigh)


def _without(weights: Doubles, positions: Sequence[int]) -> Doubles:
    """The weights of a mean over the tokens that are not hidden, which sum to 1."""
    remaining = weights.copy()
    remaining[list(positions)] = 0
    remaining /= remaining.sum()
    return remaining


def _candidates(score: Score, side: Side, how: How) -> list[Unit]:
    """The words to leave out in turn; not the compared word if it would be taken out."""
    words = [unit for unit in side.units if is_word(unit)]
    if score.vector_kind == "word" and how == "taken":
        words = [unit for unit in words if not side.weights[list(unit.positions)].any()]
    return words[:MAX_WORDS]


def _groups(words: Sequence[Unit], pairs: bool) -> list[tuple[Unit, ...]]:
    """Each word alone, then each pair of them."""
    return [*((unit,) for unit in words), *(combinations(words, 2) if pairs else ())]


def _leave_out_changes(
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


def _shares_of_words(score: Score, units: Sequence[tuple[int, Unit]]) -> Doubles:
    shares = shares_at(score).by_token
    sums = shares.rows, shares.columns
    return np.array([sums[i][list(unit.positions)].sum() for i, unit in units], dtype=np.float64)


def _leave_out_notes(
    score: Score, candidates: Sequence[Sequence[Unit]], how: How, *, pairs: bool
) -> list[str]:
    notes = []
    if pairs:
        notes.append(say("why.leave_out.note.pairs", most=MAX_PAIRED))
    for side, words in zip(score.sides, candidates, strict=True):
        n = len(side.words)
        if len(words) == MAX_WORDS and n > MAX_WORDS:
            notes.append(say("why.leave_out.note.long", letter=side.letter, n=n, most=MAX_WORDS))
        if side.n_truncated and how == "taken":
            notes.append(say("why.leave_out.note.cut", letter=side.letter))
    if score.vector_kind == "word" and how == "taken":
        names = list(dict.fromkeys(f"“{shortened(side.word, 24)}”" for side in score.sides))
        notes.append(say("why.leave_out.note.compared", n=len(names), words=" and ".join(names)))
    return list(dict.fromkeys(notes))


# --- Parts switched off

To = Literal["zero", "mean"]
Over = Literal["two", "all"]
N_SAMPLE = 64
"""Sample sentences whose tokens give the mean output of a part."""


@dataclass(frozen=True)
class HeadEffect:
    """A head and the effect of its absence: the change of the (mean) cosine, and its consistency.

    Attributes:
        layer: from 1.
        head: from 0.
        change: the change of the cosine; the mean over the pairs.
        n_alike: the number of pairs whose change has the sign of that mean.
    """

    layer: int
    head: int
    change: float
    n_alike: int


@dataclass(frozen=True, eq=False)
class SwitchOffResult:
    """The contribution of each part to the score.

    Attributes:
        score: the score with all parts.
        to: the replacement of a part's output: "zero", or its "mean" over sample sentences.
        sides: the sentences measured, without their states: the score's two, or all that can be
            compared.
        cosine: the mean over all pairs of these sentences, with all parts on.
        layers: 1 to the score's layer: higher layers do not affect it.
        heads: (n_layers, n_heads) float64 changes of `cosine` with that head off.
        attention: (n_layers,) float64 changes with the layer's whole attention off.
        feed_forward: (n_layers,) float64 changes with the layer's feed-forward off.
        by_pair: (n_pairs, n_layers, n_heads) float64 the heads' changes for each pair of sentences.
        notes: a plain note that names the sentences left out, if any.
    """

    score: Score
    to: To
    sides: tuple[Side, ...]
    cosine: float
    layers: tuple[int, ...]
    heads: Doubles
    attention: Doubles
    feed_forward: Doubles
    by_pair: Doubles
    notes: tuple[str, ...]

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the sentences measured."""
        return tuple(side.letter for side in self.sides)

    @property
    def n_pairs(self) -> int:
        """The number of pairs of sentences in the mean."""
        return len(self.by_pair)

    def strongest(self, n: int) -> list[HeadEffect]:
        """The heads whose absence changes the cosine most, in either direction."""
        flat = np.argsort(-np.abs(self.heads), axis=None, kind="stable")[:n]
        places = zip(*np.unravel_index(flat, self.heads.shape), strict=True)
        return [self._head(int(row), int(head)) for row, head in places]

    def _head(self, row: int, head: int) -> HeadEffect:
        change = float(self.heads[row, head])
        n_alike = int((np.sign(self.by_pair[:, row, head]) == np.sign(change)).sum())
        return HeadEffect(self.layers[row], head, change, n_alike)


def switch_off(
    view: ViewState,
    score: Score,
    service: EncoderService,
    *,
    to: To = "zero",
    over: Over = "two",
    progress: Counted | None = None,
) -> SwitchOffResult:
    """The score without each part of the layers up to its own.

    Args:
        view: the source of the sentences if `over` is "all".
        score: the score with all parts.
        service: runs the model; preferably without a cache.
        to: the replacement of a part's output.
        over: the score's two sentences, or all of the view's that can be compared.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    sides, notes = _comparable_sides(view, score, service, over)
    layers = tuple(range(1, score.layer + 1))
    parts = parts_of(layers, score.card.n_heads, to)
    runs = [_run_without_part(side, part) for part in parts for side in sides]
    vectors = vectors_of(
        runs,
        service,
        score.card,
        layer=score.layer,
        baseline=sample() if to == "mean" else (),
        progress=progress,
    )
    cosines = pair_cosines([side.vector(score.layer) for side in sides])
    n, n_heads = len(sides), score.card.n_heads
    without = [pair_cosines(vectors[i : i + n]) for i in range(0, len(vectors), n)]
    changes = np.array(without).reshape(len(layers), n_heads + 2, len(cosines)) - cosines
    means = changes.mean(axis=2)
    return SwitchOffResult(
        score=score.lean,
        to=to,
        sides=tuple(side.lean for side in sides),
        cosine=float(cosines.mean()),
        layers=layers,
        heads=means[:, :n_heads],
        attention=means[:, n_heads],
        feed_forward=means[:, n_heads + 1],
        by_pair=np.moveaxis(changes[:, :n_heads], 2, 0),
        notes=notes,
    )


def parts_of(layers: Sequence[int], n_heads: int, to: To) -> list[SwitchOff]:
    """All parts, layer by layer: its heads, its whole attention, its feed-forward."""
    return [
        part
        for layer in layers
        for part in (
            *(SwitchOff("head", layer, head, to) for head in range(n_heads)),
            SwitchOff("attention", layer, to=to),
            SwitchOff("feed_forward", layer, to=to),
        )
    ]


def sample() -> tuple[str, ...]:
    """The sentences whose tokens give the mean output of a part."""
    return baseline_sentences()[:N_SAMPLE]


def _run_without_part(side: Side, part: SwitchOff) -> ModelRun:
    return ModelRun(side.encoding.text, side.encoding.pair, lambda _: side.weights, (part,))


def _comparable_sides(
    view: ViewState, score: Score, service: EncoderService, over: Over
) -> tuple[list[Side], tuple[str, ...]]:
    """The sentences to measure, and a note that names those left out."""
    if over == "two":
        return list(score.sides), ()
    problems = {i: problem_of(view, i, score.vector_kind) for i in range(len(view.sentences))}
    usable = [i for i, problem in problems.items() if not problem]
    chosen = [view.sentences[i] for i in usable]
    encodings = service.encode(
        score.card.id,
        [sentence.text for sentence in chosen],
        pairs=[sentence.pair for sentence in chosen],
    )
    vocabulary = service.vocabulary(score.card.id)
    sides = []
    for i, encoding in zip(usable, encodings, strict=True):
        try:
            sides.append(side_of(view, i, encoding, score.vector_kind, vocabulary))
        except RequestError:
            problems[i] = "not read"
    left_out = [letter(i) for i, problem in problems.items() if problem]
    if len(sides) < 2:
        return list(score.sides), ()
    if not left_out:
        return sides, ()
    return sides, (say("why.switch_off.note", n=len(left_out), letters=", ".join(left_out)),)


# --- The contribution of each head to the separation of senses


@dataclass(frozen=True, eq=False)
class HeadCosts:
    """The gap between the cosines within a sense and those across senses, with each head off.

    Attributes:
        words: the words measured.
        gaps: (n_words,) with all heads on, at the last layer.
        changes: (n_words, n_layers, n_heads) changes of the gap with that head off.
    """

    words: tuple[str, ...]
    gaps: Doubles
    changes: Doubles

    def dearest(self, n: int) -> list[tuple[int, int]]:
        """The layer and head of the n heads whose absence lowers the mean gap most, worst first."""
        means = self.changes.mean(axis=0)
        order = np.argsort(means, axis=None, kind="stable")[:n]
        rows, heads = np.unravel_index(order, means.shape)
        return [(int(row) + 1, int(head)) for row, head in zip(rows, heads, strict=True)]


def head_costs(
    service: EncoderService,
    card: ModelCard,
    words: Sequence[str] = (),
) -> HeadCosts:
    """Measure how the gap changes when each head in turn is set to zero, for ambiguous words.

    Args:
        service: runs the model; preferably without a cache.
        card: the model's card.
        words: some of the ambiguous words; all if none are given.
    """
    measured = tuple(words) or tuple(dict.fromkeys(sentence.word for sentence in ambiguous_words()))
    gaps, changes = [], []
    for word in measured:
        sentences = [sentence for sentence in ambiguous_words() if sentence.word == word]
        runs = list(filter(None, (_sense_run(sentence, service, card) for sentence in sentences)))
        senses = [sense for sense, _ in runs]
        parts = parts_of(range(1, card.n_layers + 1), card.n_heads, "zero")
        heads = [part for part in parts if part.part == "head"]
        interventions: list[tuple[Intervention, ...]] = [(), *((head,) for head in heads)]
        vectors = vectors_of(
            [ModelRun(run.text, None, run.weigh, off) for off in interventions for _, run in runs],
            service,
            card,
            layer=card.n_layers,
        )
        n = len(runs)
        word_gaps = [
            sense_gap(np.stack(vectors[i : i + n]), senses) for i in range(0, len(vectors), n)
        ]
        gaps.append(word_gaps[0])
        shape = (card.n_layers, card.n_heads)
        changes.append((np.array(word_gaps[1:]) - word_gaps[0]).reshape(shape))
    return HeadCosts(measured, np.array(gaps), np.stack(changes))


def _sense_run(
    sentence: SenseSentence, service: EncoderService, card: ModelCard
) -> tuple[str, ModelRun] | None:
    """A sentence's sense and run; None if the model does not read its word."""
    span = find_word(sentence.text, sentence.word)
    (tokens,) = service.tokenize(card.id, [sentence.text])
    try:
        weights_of(tokens, "word", span)
    except RequestError:
        return None
    return sentence.sense, ModelRun(
        sentence.text, None, lambda read: weights_of(read, "word", span)
    )


# --- Hidden states swapped in

Into = Literal["first", "second"]
MAX_TOKENS = 64
"""Maximum number of aligned tokens; texts with more are not swapped."""


@dataclass(frozen=True, eq=False)
class SwapInResult:
    """The share of the way from the receiver's vector to the donor's for each hidden state.

    Attributes:
        score: the score of the two.
        into: the sentence whose run changes: "first" or "second".
        alignment: the pairs of a receiver's token (first) and a donor's (second).
        layers: 0 to the score's layer.
        fractions: (n_layers, n_aligned) float64 for each pair of `alignment.pairs`: 0 for none,
            1 for all of the way; values outside this range are possible.
        problem: the reason why there is nothing to show; None if there is a result.
    """

    score: Score
    into: Into
    alignment: Alignment
    layers: tuple[int, ...]
    fractions: Doubles
    problem: Claim | None = None

    @property
    def receiver(self) -> Side:
        """The sentence whose run changes."""
        return self.score.first if self.into == "first" else self.score.second

    @property
    def donor(self) -> Side:
        """The sentence whose hidden states are inserted."""
        return self.score.second if self.into == "first" else self.score.first

    @property
    def names(self) -> tuple[str, ...]:
        """The label of each aligned pair: the token, or "pet / coding" if they differ."""
        ours, theirs = self.receiver.labels, self.donor.labels
        labels = ((ours[i], theirs[j]) for i, j in self.alignment.pairs)
        return tuple(a if a == b else f"{a} / {b}" for a, b in labels)


def swap_in(
    score: Score,
    service: EncoderService,
    *,
    into: Into = "first",
    progress: Counted | None = None,
) -> SwapInResult:
    """Insert each hidden state of one sentence into the other's run, one at a time.

    Args:
        score: the score of the two.
        service: runs the model; preferably without a cache.
        into: the sentence whose run changes: the first or the second.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    receiver, donor = score.sides if into == "first" else score.sides[::-1]
    alignment = align(receiver.encoding, donor.encoding)
    layers = tuple(range(score.layer + 1))
    start, end = receiver.vector(score.layer), donor.vector(score.layer)
    problem = _swap_problem(score, alignment, is_way(start, end))
    runs = [
        _swapped_run(receiver, donor, layer, i, j)
        for layer in (layers if problem is None else ())
        for i, j in alignment.pairs
    ]
    vectors = vectors_of(runs, service, score.card, layer=score.layer, progress=progress)
    shape = (len(layers), len(alignment.pairs)) if problem is None else (0, 0)
    fractions = np.array([fraction(vector, start, end) for vector in vectors], dtype=np.float64)
    return SwapInResult(
        score=score.lean,
        into=into,
        alignment=alignment,
        layers=layers,
        fractions=fractions.reshape(shape),
        problem=problem,
    )


def _swapped_run(receiver: Side, donor: Side, layer: int, i: int, j: int) -> ModelRun:
    patch = Patch(layer, (i,), donor.encoding.text, (j,), donor.encoding.pair)
    encoding = receiver.encoding
    return ModelRun(encoding.text, encoding.pair, lambda _: receiver.weights, (patch,))


def _swap_problem(score: Score, alignment: Alignment, is_some_way: bool) -> Claim | None:
    n = len(alignment.pairs)
    if score.are_equal:
        return claim("why.swap_in.equal", a=score.first.letter, b=score.second.letter)
    if not is_some_way:
        return claim("why.swap_in.stuck")
    if not n:
        return claim("why.swap_in.unpaired")
    return claim("why.swap_in.long", n=n, most=MAX_TOKENS) if n > MAX_TOKENS else None


LookResult = SharesResult | InputsResult | LeaveOutResult | SwitchOffResult | SwapInResult
"""The data of one look."""


# --- Edits of a sentence

_MOST_REPLACED = 6
"""Maximum words that are replaced by a neighbour, the chosen one first."""
_N_SHARED_LETTERS = 3
"""Words count as forms of one word if they share this many first letters, or all but two letters of
the shorter word if that is more."""
_N_SEARCHED = 40
"""The nearest rows of the word table among which a neighbour is looked for."""


@dataclass(frozen=True)
class RankedEdit:
    """An edit, and the cosine between the edited and the original sentence."""

    edit: Edit
    cosine: float


@dataclass(frozen=True, eq=False)
class EditsResult:
    """The edits of the first sentence, in ascending order of similarity.

    Attributes:
        score: the score whose first sentence is edited.
        vector_kind: the vector compared: "mean" or "cls" ("mean" if words are chosen).
        edits: ranked by their cosine, the lowest first.
        is_english: True if the sentence is English; other languages have no edits.
    """

    score: Score
    vector_kind: VectorKind
    edits: tuple[RankedEdit, ...]
    is_english: bool

    @property
    def side(self) -> Side:
        """The edited sentence."""
        return self.score.first


def edits_of(
    score: Score, service: EncoderService, *, progress: Counted | None = None
) -> EditsResult:
    """All ready edits of the first sentence, with the cosine of each at the score's layer.

    They come from tables of English words: a text that is not clearly English has none.

    Args:
        score: the score whose first sentence is edited; its second text, if any, is kept.
        service: runs the model and gives its word table.
        progress: receives the number of finished runs; an exception that it raises ends the work.
    """
    side, kind = score.first, score.vector_kind if score.vector_kind != "word" else "mean"
    text, pair = side.encoding.text, side.encoding.pair
    if not is_english(text):
        return EditsResult(score.lean, kind, (), is_english=False)
    candidates = [
        *negations(text),
        *exchanged_words(text),
        *(
            with_neighbour(text, span, word)
            for span, word in neighbours_of(side, service, score.card.id).items()
        ),
        *other_names(text),
        *other_numbers(text),
        *typo(text),
        *other_cases(text),
    ]
    edits = list({edit.text: edit for edit in reversed(candidates) if edit.text != text}.values())
    runs = [ModelRun(edit.text, pair, lambda tokens: weights_of(tokens, kind)) for edit in edits]
    vectors = vectors_of(runs, service, score.card, layer=score.layer, progress=progress)
    vector = vector_of(side.encoding.layer(score.layer), weights_of(side.encoding, kind))
    cosines = [cosine(vector, edited) for edited in vectors]
    ranked = sorted(zip(cosines, edits, strict=True), key=lambda pair: (pair[0], pair[1].text))
    edits_by_cosine = tuple(RankedEdit(edit, similarity) for similarity, edit in ranked)
    return EditsResult(score.lean, kind, edits_by_cosine, is_english=True)


def neighbours_of(side: Side, service: EncoderService, model: str) -> dict[Span, str]:
    """The nearest other word in the word table, by span, for some words of a sentence.

    Both are written in the same case. Only words that are one token of the vocabulary have a
    neighbour; function words have none.
    """
    vocabulary = service.vocabulary(model)
    words = [unit for unit in side.words if unit.text_id == 0 and _is_whole(unit, side, vocabulary)]
    chosen = side.sentence.word
    words.sort(key=lambda unit: (unit.span != chosen, -len(unit.label), unit.positions))
    neighbours: dict[Span, str] = {}
    for unit in words[:_MOST_REPLACED]:
        neighbour = _neighbour(unit, side, service, model)
        if unit.span is not None and neighbour:
            neighbours[unit.span] = neighbour
    return neighbours


def _is_whole(unit: Unit, side: Side, vocabulary: Vocabulary) -> bool:
    """True if a word is one token of the vocabulary, has only letters, and is worth replacing."""
    if len(unit.positions) > 1 or not unit.label.isalpha():
        return False
    token = int(side.encoding.token_ids[unit.positions[0]])
    plain = unit.label.casefold()
    return vocabulary.texts[token].casefold() == plain and plain not in FUNCTION_WORDS


def _neighbour(unit: Unit, side: Side, service: EncoderService, model: str) -> str:
    """The nearest other word in the word table, written in the same case; "" for none."""
    vocabulary = service.vocabulary(model)
    token = int(side.encoding.token_ids[unit.positions[0]])
    row = service.word_rows(model, [token])[0]
    shape, plain = case_shape(unit.label), unit.label.casefold()
    is_uncased = vocabulary.texts[token] == plain != unit.label
    for other, _, _ in service.nearest_rows(model, row, _N_SEARCHED):
        new = vocabulary.texts[other]
        if is_uncased and shape == "Title":
            new = new[:1].upper() + new[1:]
        elif is_uncased and shape == "CAPITALS":
            new = new.upper()
        if _is_other_word(new, plain, shape) and vocabulary.kinds[other] == vocabulary.kinds[token]:
            return new
    return ""


def _is_other_word(new: str, plain: str, shape: str) -> bool:
    """True if `new` has this case and is not another form of the same word."""
    if not new.isalpha() or case_shape(new) != shape:
        return False
    n = max(_N_SHARED_LETTERS, min(len(new), len(plain)) - 2)
    return new.casefold()[:n] != plain[:n]

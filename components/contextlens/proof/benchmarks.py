"""Published benchmarks on a user's file: the figure of this installation beside the published one.

A file is a table, as `contextlens.corpus` reads it; it may hold its training rows, or a second file
has them. Correlations are SciPy's; the classifiers are scikit-learn's or stated in a line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from contextlens.analysis.words import word_vectors
from contextlens.content.language import say, table
from contextlens.core.errors import CorpusError, RequestError
from contextlens.core.recipe import pool
from contextlens.core.schema import TEST, TRAIN, FloatArray, IntArray, ModelCard
from contextlens.core.service import EncoderService
from contextlens.core.words import Span
from contextlens.corpus.table import Cells, Table, is_number, label_rank, named, text_pair
from contextlens.corpus.targets import MarkColumns, guess_marks, targets_of, two_sides
from contextlens.proof.checks import WEIGHTS, Check, Step

__all__ = [
    "BENCHMARKS",
    "MAX_ROWS",
    "Benchmark",
    "Rows",
    "expected_figure",
    "measure",
    "rows_from",
]

MAX_ROWS = 30_000
_TOLERANCE = 0.0005
"""Published figures have four digits; the last one depends on the rounding of texts' vectors."""
_MIN_TESTED_ROWS = 10
_N_FOLDS = 10
_CHUNK = 256  # texts
_SAME = {"t", "true", "1", "1.0", "yes", "same"}
_DIFFERENT = {"f", "false", "0", "0.0", "no", "different"}


Task = Literal["similarity", "same meaning", "senses", "classes"]
"""What a benchmark asks: how similar two texts are, whether a marked word means the same in both,
which sense it has in one text, or which of two classes a text has."""


@dataclass(frozen=True)
class Benchmark:
    """A published data set. Its texts for readers are in `english.toml`, by its key.

    Attributes:
        key: its name in addresses and on the command line.
        task: what it asks, which decides its columns and how its figure is computed.
        n_rows: the number of rows that published figures are for; 0 if none is known here.
        published: the figure by the model's name on the hub, as in `WEIGHTS`.
        tests_split: True if, in a file with a column for the split, only test rows are judged.
    """

    key: str
    task: Task
    n_rows: int = 0
    published: Mapping[str, float] | None = None
    tests_split: bool = False

    @property
    def is_pair(self) -> bool:
        """True if each row has two texts."""
        return self.task in {"similarity", "same meaning"}

    @property
    def has_marks(self) -> bool:
        """True if a marked word of each text counts, and not the whole text."""
        return self.task in {"same meaning", "senses"}

    @property
    def needs_train(self) -> bool:
        """True if something is learned from training rows."""
        return self.task in {"same meaning", "senses"}


_STSB = {"all-MiniLM-L6-v2": 0.8203, "all-mpnet-base-v2": 0.8342}
_SICK = {"all-MiniLM-L6-v2": 0.7758, "all-mpnet-base-v2": 0.8059}
BENCHMARKS: Mapping[str, Benchmark] = {
    benchmark.key: benchmark
    for benchmark in (
        Benchmark("stsb", "similarity", 1_379, _STSB, tests_split=True),
        Benchmark("sick", "similarity", 9_927, _SICK),
        Benchmark("wic", "same meaning"),
        Benchmark("coarsewsd", "senses"),
        Benchmark("polarity", "classes"),
    )
}


@dataclass(frozen=True, eq=False)
class Rows:
    """The usable rows of a benchmark's files.

    Attributes:
        texts: one or two texts of each row.
        spans: the marked word of each of these texts; empty if whole texts count.
        gold: (n,) scores, or the numbers of labels.
        groups: (n,) rows of one group are learned and judged together: one word's, or all.
        train: (n,) True for rows to learn from.
        n_left_out: rows without a text, a label or a word that can be placed.
    """

    texts: tuple[tuple[str, ...], ...]
    spans: tuple[tuple[Span, ...], ...]
    gold: NDArray[np.float64]
    groups: IntArray
    train: NDArray[np.bool_]
    n_left_out: int = 0

    @property
    def n_tested(self) -> int:
        """The number of rows that are judged."""
        return int((~self.train).sum())

    @property
    def key(self) -> str:
        """A digest of all of them."""
        digest = hashlib.sha256(repr((self.texts, self.spans)).encode("utf-8", "surrogatepass"))
        for array in (self.gold, self.groups, self.train):
            digest.update(array.tobytes())
        return digest.hexdigest()


def rows_from(benchmark: Benchmark, sheet: Table, train: Table | None = None) -> Rows:
    """Return the rows of a benchmark's file, and of the one with training rows if there is one.

    Raises:
        CorpusError: a file is not in the benchmark's format, too long or too short.
    """
    parts = [(sheet, False)] if train is None else [(train, True), (sheet, False)]
    n_rows = sum(part.n_rows for part, _ in parts)
    if n_rows > MAX_ROWS:
        raise CorpusError(say("proof.error.too_long", n=n_rows, most=MAX_ROWS))
    names = dict[str, int](), dict[str, int]()
    lists = [_Reader(benchmark, part, names).rows(is_train) for part, is_train in parts]
    rows = [row for part in lists for row in part]
    if benchmark.tests_split and any(row.split == "test" for row in rows):
        used = [row for row in rows if row.split == "test"]
    elif benchmark.needs_train and any(row.split == "train" for row in rows):
        used = [row for row in rows if row.split in {"train", "test"}]
    else:
        used = rows
    n_tested = sum(not _is_train(benchmark, row) for row in used)
    if n_tested < _MIN_TESTED_ROWS:
        raise CorpusError(
            say("proof.error.too_few", name=named(sheet.name), n=n_tested, least=_MIN_TESTED_ROWS)
        )
    if benchmark.needs_train and n_tested == len(used):
        raise CorpusError(say("proof.error.no_train", name=named(sheet.name)))
    return Rows(
        texts=tuple(row.texts for row in used),
        spans=tuple(row.spans for row in used),
        gold=np.array([row.gold for row in used], np.float64),
        groups=np.array([row.group for row in used], np.int64),
        train=np.array([_is_train(benchmark, row) for row in used], np.bool_),
        n_left_out=n_rows - len(rows),
    )


@dataclass(frozen=True)
class _Row:
    texts: tuple[str, ...]
    spans: tuple[Span, ...]
    gold: float
    group: int
    split: str


def _is_train(benchmark: Benchmark, row: _Row) -> bool:
    return benchmark.needs_train and row.split == "train"


class _Reader:
    """One file of a benchmark, its columns guessed by title, then by content."""

    def __init__(
        self, benchmark: Benchmark, sheet: Table, names: tuple[dict[str, int], dict[str, int]]
    ) -> None:
        self._benchmark, self._sheet = benchmark, sheet
        self._labels, self._words = names
        pair = text_pair(sheet)
        self._texts = pair if benchmark.is_pair else (sheet.text_column,)
        if not all(self._texts):
            raise self._wrong("texts")
        self._marks: tuple[MarkColumns, ...] = ()
        if benchmark.has_marks:
            self._marks = guess_marks(sheet, *self._texts)
            if not all(self._marks):
                raise self._wrong("marks")
        self._label = self._label_column()

    def rows(self, is_train: bool) -> Iterator[_Row]:
        """The usable rows; without a column for the split, all are for one purpose."""
        sheet = self._sheet
        columns = [sheet.columns[title] for title in self._texts]
        spans = self._spans(columns)
        labels, words = sheet.columns[self._label], self._groups()
        split_cells = sheet.columns.get(sheet.split_column)
        for i in range(sheet.n_rows):
            texts = tuple((column[i] or "").strip() for column in columns)
            gold = self._gold((labels[i] or "").strip())
            placed = tuple(span for side in spans if (span := side[i]) is not None)
            if not all(texts) or gold is None or len(placed) < len(spans):
                continue
            split = "train" if is_train else "test"
            if split_cells is not None and not is_train:
                split = _split((split_cells[i] or "").strip().casefold())
            yield _Row(texts, placed, gold, words[i], split)

    def _spans(self, columns: Sequence[Cells]) -> list[tuple[Span | None, ...]]:
        spans = []
        for side, marks in enumerate(self._marks):
            cells = {title: self._sheet.columns[title] for title in marks.numbers}
            if marks.word:
                cells[marks.word] = self._sheet.columns[marks.word]
            if self._benchmark.is_pair and marks.index:
                cells[marks.index] = two_sides(cells, marks.index)[side]
            spans.append(targets_of(cells, columns[side], marks).spans)
        return spans

    def _label_column(self) -> str:
        sheet = self._sheet
        taken = {*self._texts, sheet.split_column}
        taken |= set[str]().union(*(marks.numbers for marks in self._marks))
        titles = [title for title in sheet.columns if title not in taken]
        ranked = sorted(
            (title for title in titles if label_rank(title) is not None),
            key=lambda title: label_rank(title) or 0,
        )
        for title in (*ranked, *titles):
            if self._fits(sheet.columns[title], title in ranked):
                return title
        raise self._wrong("label")

    def _fits(self, cells: Cells, is_titled: bool) -> bool:
        """True if a column can be the label or score of this benchmark."""
        values = {cell.strip().casefold() for cell in set(cells) if cell} - {""}
        match self._benchmark.task:
            case "similarity":
                numbers = bool(values) and all(map(is_number, values))
                return numbers and (is_titled or any("." in value for value in values))
            case "same meaning":
                return bool(values) and values <= _SAME | _DIFFERENT
            case "senses":
                return is_titled and len(values) > 1
            case "classes":
                return len(values) == 2

    def _gold(self, label: str) -> float | None:
        if not label:
            return None
        match self._benchmark.task:
            case "similarity":
                return float(label.rstrip("%")) if is_number(label) else None
            case "same meaning":
                return float(label.casefold() in _SAME)
        return float(self._labels.setdefault(label, len(self._labels)))

    def _groups(self) -> list[int]:
        """The number of each row's word; 0 for all if the file is of one."""
        title = next((t for t in self._sheet.columns if t.strip().casefold() == "word"), "")
        if self._benchmark.task != "senses" or not title:
            return [0] * self._sheet.n_rows
        cells = self._sheet.columns[title]
        return [self._words.setdefault((c or "").casefold(), 1 + len(self._words)) for c in cells]

    def _wrong(self, part: Literal["texts", "marks", "label"]) -> CorpusError:
        columns = table("proof.benchmark")[self._benchmark.key]["format"]
        return CorpusError(
            say(f"proof.error.{part}", name=named(self._sheet.name))
            + " "
            + say("proof.error.format", format=columns)
        )


def _split(value: str) -> str:
    return "train" if value in TRAIN else "test" if value in TEST else "other"


def expected_figure(benchmark: Benchmark, card: ModelCard) -> float | None:
    """Return the figure published for these very weights, or None if none is known."""
    names = (name for name, checksum in WEIGHTS.items() if checksum == card.checksum)
    return next(((benchmark.published or {}).get(name) for name in names), None)


def measure(
    benchmark: Benchmark, rows: Rows, service: EncoderService, card: ModelCard, on_step: Step
) -> Check:
    """Compute a benchmark's figure with a model and compare it with the published one.

    Raises:
        StoppedError: `on_step` says that nobody wants it any more.
        CorpusError: the model reads too few of the rows.
    """
    sides = len(rows.texts[0])
    distinct = dict[tuple[str, Span | None], int]()
    vector_ids = np.array(
        [
            [
                distinct.setdefault((texts[i], spans[i] if spans else None), len(distinct))
                for i in range(sides)
            ]
            for texts, spans in zip(rows.texts, rows.spans, strict=True)
        ]
    )
    vectors = _vectors(service.uncached, card, list(distinct), on_step)
    read = ~np.isnan(vectors[vector_ids]).any(axis=(1, 2))
    if (read & ~rows.train).sum() < _MIN_TESTED_ROWS:
        raise CorpusError(say("proof.error.not_read", least=_MIN_TESTED_ROWS))
    on_step(table("proof.check")[benchmark.key], 0.97)
    figure = _figure(benchmark, rows, vectors[vector_ids], read)
    n, published = int((read & ~rows.train).sum()), expected_figure(benchmark, card)
    measured = f"{figure:.4f}"
    left_out = rows.n_left_out + int((~read).sum())
    note = say("proof.note.rows", n=n, left_out=left_out)
    if published is None:
        return Check(benchmark.key, "", measured, why=f"{say('proof.why.no_figure')} {note}")
    expected, apart = f"{published:.4f}", abs(figure - published)
    if n != benchmark.n_rows:
        note = say("proof.note.other_rows", n=n, published=benchmark.n_rows)
        if not apart <= _TOLERANCE:
            return Check(
                benchmark.key, expected, measured, tolerance=_TOLERANCE, why=note, is_blocked=True
            )
    return Check(benchmark.key, expected, measured, apart, _TOLERANCE, why=note)


def _vectors(
    service: EncoderService,
    card: ModelCard,
    items: Sequence[tuple[str, Span | None]],
    on_step: Step,
) -> FloatArray:
    """(n, n_dims): each text's vector by the model's recipe, or a marked word's last state.

    NaN for a word that the model does not read.
    """
    by_length = sorted(range(len(items)), key=lambda i: len(items[i][0]))  # even batches
    vectors: list[FloatArray] = [np.full(1, np.nan, np.float32)] * len(items)
    words = items[0][1] is not None
    for start in range(0, len(items), _CHUNK):
        on_step(say("proof.reading", n=len(items)), 0.95 * start / len(items))
        chunk = by_length[start : start + _CHUNK]
        texts = [items[i][0] for i in chunk]
        if card.recipe is not None and not words:
            sentence_vectors = service.sentence_vectors(card.id, texts, checksum=card.checksum)
            for i, vector in zip(chunk, sentence_vectors, strict=True):
                vectors[i] = vector.vector
            continue
        encodings = service.encode(card.id, texts, layers=[card.n_layers], checksum=card.checksum)
        for i, encoding in zip(chunk, encodings, strict=True):
            span = items[i][1]
            if span is None:
                vectors[i] = pool(encoding.hidden[0], "mean")
                continue
            try:
                vectors[i] = word_vectors(encoding, span)[0]
            except RequestError:
                vectors[i] = np.full(card.n_dims, np.nan, np.float32)
    rows = np.stack(vectors).astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    units: FloatArray = rows / np.maximum(lengths, 1e-12)
    return units


def _figure(
    benchmark: Benchmark, rows: Rows, vectors: FloatArray, read: NDArray[np.bool_]
) -> float:
    """The benchmark's figure.

    Args:
        benchmark: the benchmark.
        rows: its rows.
        vectors: (n, sides, n_dims) of length 1.
        read: (n,) True for rows that count.
    """
    train, test = rows.train & read, ~rows.train & read
    gold = rows.gold
    if benchmark.task == "classes":
        return _ten_fold(vectors[read, 0], gold[read])
    if benchmark.task == "senses":
        return _nearest_centroid(vectors[:, 0], gold, rows.groups, train, test)
    cosines = np.einsum("ij,ij->i", *(vectors[:, i].astype(float) for i in (0, 1)))
    if benchmark.task == "same meaning":
        cut = _threshold(cosines[train], gold[train] == 1)
        return float(((cosines[test] >= cut) == (gold[test] == 1)).mean())
    from scipy.stats import spearmanr

    return float(spearmanr(cosines[test], gold[test]).statistic)


def _threshold(cosines: NDArray[np.float64], same: NDArray[np.bool_]) -> float:
    """The cosine from which "same" is right most often; the lowest of several such cosines."""
    order = np.argsort(cosines, kind="stable")
    values, kinds = cosines[order], same[order]
    # Right if the cut is before item i: different ones below it, same ones from it on.
    right = np.append(0, np.cumsum(~kinds)) + kinds.sum() - np.append(0, np.cumsum(kinds))
    begins = np.concatenate([[True], values[1:] > values[:-1], [True]])
    best = int(np.argmax(np.where(begins, right, -1)))
    return float(values[best]) if best < len(values) else float(np.nextafter(values[-1], 9))


def _nearest_centroid(
    vectors: FloatArray,
    gold: NDArray[np.float64],
    groups: IntArray,
    train: NDArray[np.bool_],
    test: NDArray[np.bool_],
) -> float:
    """The share of tested rows whose nearest training centroid, by cosine, is their sense's."""
    n_right = 0
    for group in np.unique(groups[test]).tolist():
        in_group = groups == group
        senses = np.unique(gold[in_group & train])
        if not len(senses):
            continue
        means = np.stack([vectors[in_group & train & (gold == s)].mean(axis=0) for s in senses])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        nearest = senses[np.argmax(vectors[in_group & test] @ means.T, axis=1)]
        n_right += int((nearest == gold[in_group & test]).sum())
    return n_right / int(test.sum())


def _ten_fold(vectors: FloatArray, gold: NDArray[np.float64]) -> float:
    """The accuracy of a logistic regression, each tenth judged by one that learned the rest."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    if np.unique(gold, return_counts=True)[1].min() < _N_FOLDS:
        raise CorpusError(say("proof.error.folds", least=_N_FOLDS))
    folds = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=0)
    model = LogisticRegression(max_iter=1_000)
    return float((cross_val_predict(model, vectors, gold, cv=folds) == gold).mean())

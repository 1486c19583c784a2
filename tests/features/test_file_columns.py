"""The columns that Map, Corpora and Pairs choose in files as people bring them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.corpus.readers import Sheet
from components.corpus.sheet import counts_up, sheet_of
from components.corpus.targets import MarkColumns, label_columns
from components.features.corpora.compute import corpus_from, guess
from components.features.pairs.files import PairColumns, guess_columns, pairs_from

BANK = [
    "The fishermen sat on its bank .",
    "We met at the bank of the canal .",
    "A bank lends money to those who have some .",
    "She rowed to the other bank before dark .",
    "His bank closed at noon .",
    "Every bank in town was shut .",
]
OTHERS = [
    "The heron stood on one bank .",
    "My bank sent a letter .",
    "No bank would take the coins .",
    "Reeds grow along the left bank .",
    "The robbers left the bank on foot .",
    "A bank of clouds hid the sun .",
]
FIRST, SECOND = [5, 4, 1, 5, 1, 1], [5, 1, 1, 5, 4, 1]
N = len(BANK)
TF = ["T", "F", "T", "T", "F", "T"]
BITS = ["1", "0", "1", "1", "0", "1"]
SHOWS = ["A slow start , a fine end", "Loud and empty", "Not bad at all", "It never once bores"]
Columns = Mapping[str, Sequence[object]]


def starts(texts: Sequence[str]) -> list[int]:
    return [text.index("bank") for text in texts]


def ends(texts: Sequence[str]) -> list[int]:
    return [text.index("bank") + len("bank") for text in texts]


def sheet(columns: Columns) -> Sheet:
    cells = {
        title: [None if cell is None else str(cell) for cell in column]
        for title, column in columns.items()
    }
    return sheet_of("mine.csv", "CSV", cells)


def untitled(*columns: Sequence[object]) -> Columns:
    return {f"column {i}": column for i, column in enumerate(columns, start=1)}


@dataclass(frozen=True)
class Layout:
    """A file's columns, and the choices that are right for it.

    Attributes:
        columns: the cells by title.
        text: the text column of Map and Corpora.
        labels: the label columns of both.
        pairs: the roles of the columns on Pairs.
        marks: the columns that mark a word on Corpora.
        split: the column of train and test.
        words: the compared words of the first pair.
    """

    columns: Columns
    text: str
    labels: tuple[str, ...] = ()
    pairs: PairColumns = field(default_factory=PairColumns)
    marks: MarkColumns = field(default_factory=MarkColumns)
    split: str = ""
    words: tuple[str, str] = ("", "")


LAYOUTS = {
    "WiC": Layout(
        untitled(
            ["bank"] * N,
            ["N"] * N,
            [f"{a}-{b}" for a, b in zip(FIRST, SECOND, strict=True)],
            BANK,
            OTHERS,
        ),
        "column 4",
        ("column 1", "column 2"),
        PairColumns(
            "column 4",
            "column 5",
            word1="column 1",
            word2="column 1",
            index1="column 3",
            index2="column 3",
        ),
        MarkColumns(word="column 1", index="column 3"),
        words=("bank", "bank"),
    ),
    "WiC from a hub": Layout(
        {
            "word": ["bank"] * N,
            "sentence1": BANK,
            "sentence2": OTHERS,
            "start1": starts(BANK),
            "start2": starts(OTHERS),
            "end1": ends(BANK),
            "end2": ends(OTHERS),
            "idx": range(N),
            "label": BITS,
        },
        "sentence1",
        ("word", "label"),
        PairColumns(
            "sentence1",
            "sentence2",
            word1="word",
            word2="word",
            start1="start1",
            end1="end1",
            start2="start2",
            end2="end2",
            label="label",
        ),
        MarkColumns(word="word", start="start1", end="end1"),
        words=("bank", "bank"),
    ),
    "XL-WiC": Layout(
        untitled(
            ["bank"] * N,
            ["N"] * N,
            starts(BANK),
            ends(BANK),
            starts(OTHERS),
            ends(OTHERS),
            BANK,
            OTHERS,
            BITS,
        ),
        "column 7",
        ("column 1", "column 2", "column 9"),
        PairColumns(
            "column 7",
            "column 8",
            start1="column 3",
            end1="column 4",
            start2="column 5",
            end2="column 6",
            label="column 9",
        ),
        MarkColumns(start="column 3", end="column 4"),
        words=("bank", "bank"),
    ),
    "MCL-WiC in two languages": Layout(
        {
            "id": [f"test.en-de.{i}" for i in range(N)],
            "lemma": ["shore"] * N,
            "pos": ["NOUN"] * N,
            "sentence1": BANK,
            "sentence2": OTHERS,
            "start1": starts(BANK),
            "end1": ends(BANK),
            "start2": starts(OTHERS),
            "end2": ends(OTHERS),
        },
        "sentence1",
        ("lemma", "pos"),
        PairColumns(
            "sentence1", "sentence2", start1="start1", end1="end1", start2="start2", end2="end2"
        ),
        MarkColumns(start="start1", end="end1"),
        words=("bank", "bank"),
    ),
    "CoarseWSD": Layout(
        untitled(FIRST, BANK),
        "column 2",
        pairs=PairColumns("column 2"),
        marks=MarkColumns(index="column 1"),
    ),
    "SICK": Layout(
        {
            "pair_ID": range(1, 5),
            "sentence_A": ["A child jumps", "A woman slices an onion", "Two dogs run", "He sings"],
            "sentence_B": ["A kid leaps", "A train crosses a bridge", "Dogs are out", "He hums"],
            "entailment_label": ["ENTAILMENT", "NEUTRAL", "NEUTRAL", "CONTRADICTION"],
            "relatedness_score": [4.6, 1.0, 3.5, 3.1],
            "entailment_AB": ["A_entails_B", "A_neutral_B", "A_neutral_B", "A_contradicts_B"],
            "sentence_A_original": SHOWS,
            "sentence_B_original": SHOWS[::-1],
            "sentence_A_dataset": ["FLICKR"] * 4,
            "SemEval_set": ["TRAIN", "TRIAL", "TEST", "TEST"],
        },
        "sentence_A",
        (
            "entailment_label",
            "relatedness_score",
            "entailment_AB",
            "sentence_A_dataset",
            "SemEval_set",
        ),
        PairColumns("sentence_A", "sentence_B", label="relatedness_score", split="SemEval_set"),
        split="SemEval_set",
    ),
    "SICK from a hub": Layout(
        {
            "id": range(N),
            "sentence_A": BANK,
            "sentence_B": OTHERS,
            "label": [0, 1, 2] * 2,
            "relatedness_score": [4.5, 3.2, 1.0] * 2,
        },
        "sentence_A",
        ("label", "relatedness_score"),
        PairColumns("sentence_A", "sentence_B", label="relatedness_score"),
    ),
    "MRPC": Layout(
        {
            "Quality": BITS,
            "#1 ID": range(100, 100 + N),
            "#2 ID": range(200, 200 + N),
            "#1 String": BANK,
            "#2 String": OTHERS,
        },
        "#1 String",
        ("Quality",),
        PairColumns("#1 String", "#2 String", label="Quality"),
    ),
    "GLUE from a hub": Layout(
        {"sentence1": BANK, "sentence2": OTHERS, "label": BITS, "idx": [0, 1, 2, 3, 4003, 4004]},
        "sentence1",
        ("label",),
        PairColumns("sentence1", "sentence2", label="label"),
    ),
    "rows in another order": Layout(
        {"sentence1": BANK, "sentence2": OTHERS, "label": BITS, "idx": [3, 0, 4, 1, 5, 2]},
        "sentence1",
        ("label",),
        PairColumns("sentence1", "sentence2", label="label"),
    ),
    "STS-B": Layout(
        untitled(
            ["main-captions"] * N,
            ["MSRvid"] * N,
            ["2012test"] * N,
            [f"{i:04}" for i in range(N)],
            ["1.800", "4.200", "3.600", "0.400", "5.000", "1.800"],
            BANK,
            OTHERS,
        ),
        "column 6",
        ("column 1", "column 2", "column 3"),
        PairColumns("column 6", "column 7", label="column 5"),
    ),
    "QNLI": Layout(
        {
            "index": range(N),
            "question": [f"Who sat there, and why {i}?" for i in range(N)],
            "sentence": BANK,
            "label": ["entailment", "not_entailment"] * 3,
        },
        "question",
        ("label",),
        PairColumns("question", "sentence", label="label"),
    ),
    "SNLI": Layout(
        {
            "gold_label": ["neutral", "entailment", "-"] * 2,
            "sentence1_binary_parse": [f"( {text} )" for text in BANK],
            "sentence2_binary_parse": [f"( {text} )" for text in OTHERS],
            "sentence1": BANK,
            "sentence2": OTHERS,
            "captionID": [f"{i}.jpg#2" for i in range(N)],
            "label1": ["neutral", "entailment", "neutral"] * 2,
        },
        "sentence1",
        ("gold_label", "label1"),
        PairColumns("sentence1", "sentence2", label="gold_label"),
    ),
    "Quora": Layout(
        {
            "id": range(N),
            "qid1": range(1, 2 * N, 2),
            "qid2": range(2, 2 * N + 1, 2),
            "question1": BANK,
            "question2": OTHERS,
            "is_duplicate": BITS,
        },
        "question1",
        ("is_duplicate",),
        PairColumns("question1", "question2", label="is_duplicate"),
    ),
    "premises": Layout(
        {"premise": BANK, "hypothesis": OTHERS, "label": [0, 1, 2] * 2},
        "premise",
        ("label",),
        PairColumns("premise", "hypothesis", label="label"),
    ),
    "words with a similarity": Layout(
        {
            "Word 1": ["tiger", "love", "cup"],
            "Word 2": ["cat", "heart", "tea"],
            "Human": [7, 6, 5.5],
        },
        "Word 1",
        pairs=PairColumns("Word 1", "Word 2"),
    ),
    "SST-2 from a hub": Layout(
        {"idx": range(4), "sentence": SHOWS, "label": [1, 0, 1, 1]},
        "sentence",
        ("label",),
        PairColumns("sentence", label="label"),
    ),
    "pandas": Layout(
        {"index": range(4), "text": SHOWS, "label": ["pos", "neg", "pos", "pos"]},
        "text",
        ("label",),
        PairColumns("text", label="label"),
    ),
    "AG News": Layout(
        untitled([3, 2, 1, 4], ["Oil", "Late goal", "Talks", "New probe"], SHOWS),
        "column 3",
        ("column 1",),
        PairColumns("column 3"),
    ),
    "Sentiment140": Layout(
        untitled([0, 0, 4, 4], range(1467, 1471), ["NO_QUERY"] * 4, list("abcd"), SHOWS),
        "column 5",
        ("column 1", "column 3"),
        PairColumns("column 5", label=""),
    ),
    "reviews": Layout(
        {"stars": [5, 1, 3, 4], "date": ["2024-01-31"] * 4, "review": SHOWS},
        "review",
        ("stars", "date"),
        PairColumns("review", label="stars"),
    ),
    "equal texts": Layout(
        {"text": ["It rains on Monday", "It rains on Tuesday"] * 20, "day": ["Mon", "Tue"] * 20},
        "text",
        ("day",),
        PairColumns("text"),
    ),
    "subtitles": Layout(
        {"start": [0, 4, 9, 15], "end": [3, 8, 14, 20], "text": SHOWS},
        "text",
        pairs=PairColumns("text"),
    ),
    "a validation part": Layout(
        {"text": SHOWS, "label": [1, 0, 1, 0], "part": ["train", "train", "dev", "dev"]},
        "text",
        ("label", "part"),
        PairColumns("text", label="label", split="part"),
        split="part",
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_every_page_chooses_the_right_columns(layout: Layout) -> None:
    given = sheet(layout.columns)
    assert (given.text_column, label_columns(given)) == (layout.text, layout.labels)
    chosen = guess(given)
    assert (chosen.text, chosen.labels) == (layout.text, layout.labels)
    assert (chosen.marks, chosen.split) == (layout.marks, layout.split)
    columns = guess_columns(given)
    assert columns == layout.pairs
    spans = corpus_from(given, chosen).spans
    assert (spans is not None) == bool(layout.marks)
    if spans is not None:
        assert {BANK[i][slice(*span)] for i, span in enumerate(spans)} == {"bank"}
    if columns.text2:
        pairs = pairs_from(given, columns)
        assert pairs.n == given.n_rows
        assert (pairs.word(0, 0), pairs.word(0, 1)) == layout.words


SOME_CELLS = st.none() | st.sampled_from(["", "0", "1", "5-4", "T", "bank", *BANK[:2]])
SOME_TITLES = ["index", "word", "label", "text1", "text2", "start1", "end1", "split", "id"]


@given(
    cells=st.lists(SOME_CELLS, min_size=12, max_size=12),
    titles=st.lists(st.sampled_from(SOME_TITLES), min_size=3, max_size=3, unique=True),
)
def test_no_file_breaks_a_guess(cells: list[str | None], titles: list[str]) -> None:
    """Any small table has its columns guessed, each once at most among texts and labels."""
    if not any(cells):
        return
    columns = {title: cells[i::3] for i, title in enumerate(titles)}
    given = sheet(columns)
    chosen, pair = guess(given), guess_columns(given)
    assert chosen.text in titles
    assert chosen.text not in chosen.labels
    assert not chosen.marks.numbers & {chosen.text, *chosen.labels}
    assert {pair.text1, pair.text2, pair.label} <= {*titles, ""}
    assert not pair.text2 or pair.text1 != pair.text2
    assert bool(pair.marks(1)) == bool(pair.marks(2))


@pytest.mark.parametrize(
    ("cells", "counts"),
    [
        ("0 1 2 3", True),
        ("7 12 40", True),
        ("0 1 2 0 1 2", True),
        ("5 4 1 5 1 1", False),
        ("1 2 1 2 1 2", False),
        ("3 3 3", False),
        ("0 1.5 2", False),
        ("a b", False),
        ("", False),
        ("5", False),
    ],
)
def test_a_column_that_counts_is_known(cells: str, counts: bool) -> None:
    assert counts_up(cells.split()) == counts

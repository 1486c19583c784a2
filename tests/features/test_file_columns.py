"""The columns that Map, Corpora and Pairs choose in files as people bring them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from contextlens.content.language import say
from contextlens.corpus.readers import Table, read
from contextlens.corpus.second_file import joined
from contextlens.corpus.table import counts_up, table_of
from contextlens.corpus.targets import MarkColumns, label_columns
from contextlens.features.corpora.compute import corpus_from, guess
from contextlens.features.pairs.pair_file import PairColumns, guess_columns, pairs_from
from contextlens.ui.corpora.controls import COLLECTION
from contextlens.ui.state.view import DEFAULT
from tests.support.fields import field as field_of
from tests.support.pages import bundled_app, framed, plainly_said, press, settled

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


SPANS = {
    "start1": starts(BANK),
    "end1": ends(BANK),
    "start2": starts(OTHERS),
    "end2": ends(OTHERS),
}
SPANNED = PairColumns("sentence1", "sentence2", **{role: role for role in SPANS})


def sheet(columns: Columns) -> Table:
    cells = {
        title: [None if cell is None else str(cell) for cell in column]
        for title, column in columns.items()
    }
    return table_of("mine.csv", "CSV", cells)


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
            **SPANS,
            "idx": range(N),
            "label": BITS,
        },
        "sentence1",
        ("word", "label"),
        replace(SPANNED, word1="word", word2="word", label="label"),
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
            **SPANS,
        },
        "sentence1",
        ("lemma", "pos"),
        SPANNED,
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
    "PAWS": Layout(
        {"id": [3, 0, 4, 1, 5, 2], "sentence1": BANK, "sentence2": OTHERS, "label": BITS},
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
    "MCL-WiC": Layout(
        {
            "id": [f"training.en-en.{i}" for i in range(N)],
            "lemma": ["bank"] * N,
            "pos": ["NOUN"] * N,
            "sentence1": BANK,
            "sentence2": OTHERS,
            **SPANS,
        },
        "sentence1",
        ("lemma", "pos"),
        replace(SPANNED, word1="lemma", word2="lemma"),
        MarkColumns(word="lemma", start="start1", end="end1"),
        words=("bank", "bank"),
    ),
    "SST-2": Layout(
        {"sentence": [f"{show} " for show in SHOWS], "label": [1, 0, 1, 1]},
        "sentence",
        ("label",),
        PairColumns("sentence", label="label"),
    ),
    "STS-B of GLUE": Layout(
        {
            "index": range(N),
            "genre": ["main-captions"] * N,
            "filename": ["MSRvid"] * N,
            "year": ["2012test"] * N,
            "old_index": [f"{i:04}" for i in range(N)],
            "source1": ["none"] * N,
            "source2": ["none"] * N,
            "sentence1": BANK,
            "sentence2": OTHERS,
            "score": ["1.800", "4.200", "3.600", "0.400", "5.000", "1.800"],
        },
        "sentence1",
        ("genre", "filename", "year", "source1", "source2", "score"),
        PairColumns("sentence1", "sentence2", label="score"),
    ),
    "IMDB": Layout(
        {
            "review": [f"{show}.<br /><br />I saw it twice, {n}." for n, show in enumerate(SHOWS)],
            "sentiment": ["positive", "negative"] * 2,
        },
        "review",
        ("sentiment",),
        PairColumns("review", label="sentiment"),
    ),
    "20 newsgroups": Layout(
        {
            "text": [f"{show}\n\n> Nobody said so.\n" for show in SHOWS],
            "label": [7, 4, 7, 1],
            "label_text": ["rec.autos", "sci.space", "rec.autos", "talk.misc"],
        },
        "text",
        ("label", "label_text"),
        PairColumns("text", label="label"),
    ),
    "tweet_eval": Layout({"text": SHOWS}, "text", pairs=PairColumns("text")),
    "dated": Layout(
        {
            "date": [f"Monday, {n} May 2024" for n in range(4)],
            "note": SHOWS,
            "label": ["a", "b", "a", "b"],
        },
        "note",
        ("label",),
        PairColumns("note", label="label"),
    ),
    "papers": Layout(
        {
            "authors": [
                "Ada Ruiz and Jo Kim",
                "Max Orr, Lea Sand",
                "Li Wei and Bo",
                "Eva Maria Ott",
            ],
            "abstract": SHOWS,
        },
        "abstract",
        pairs=PairColumns("abstract"),
    ),
    "for and against": Layout(
        {"pros": SHOWS, "cons": ["Too dear for me", "My feet hurt in it", "It leaks", "Odd smell"]},
        "pros",
        pairs=PairColumns("pros"),
    ),
    "two styles": Layout(
        {"formal": SHOWS, "casual": [f"so {text}" for text in SHOWS]},
        "formal",
        pairs=PairColumns("formal", "casual"),
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


# The same layouts as files


Writer = Callable[[pd.DataFrame], str]


def csv(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False)


def tsv(frame: pd.DataFrame) -> str:
    """Return tabs, as data sets are published: quotes are plain characters."""
    return "\n".join(map("\t".join, [list(frame), *frame.to_numpy().tolist()])) + "\n"


def tsv_untitled(frame: pd.DataFrame) -> str:
    return tsv(frame).partition("\n")[2]


def csv_quoted_untitled(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False, header=False, quoting=1)


def tsv_quoted(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False, sep="\t", quoting=1)


def jsonl(frame: pd.DataFrame) -> str:
    return frame.to_json(orient="records", lines=True)


def json_list(frame: pd.DataFrame) -> str:
    return json.dumps(frame.to_dict("records"), indent=4)


FILES: Mapping[str, tuple[str, str, Writer]] = {
    "PAWS": ("train.tsv", "PAWS", tsv),
    "WiC of SuperGLUE": ("train.jsonl", "WiC from a hub", jsonl),
    "WiC": ("train.data.txt", "WiC", tsv_untitled),
    "MCL-WiC": ("training.en-en.data", "MCL-WiC", json_list),
    "CoarseWSD-20": ("train.data.txt", "CoarseWSD", tsv_untitled),
    "SST-2": ("train.tsv", "SST-2", tsv),
    "MRPC of GLUE": ("train.tsv", "MRPC", tsv),
    "MRPC": ("msr_paraphrase_train.txt", "MRPC", tsv),
    "STS-B": ("sts-train.csv", "STS-B", tsv_untitled),
    "STS-B of GLUE": ("train.tsv", "STS-B of GLUE", tsv),
    "SICK": ("SICK.txt", "SICK", tsv),
    "AG News": ("train.csv", "AG News", csv_quoted_untitled),
    "Quora question pairs": ("quora_duplicate_questions.tsv", "Quora", tsv_quoted),
    "IMDB": ("IMDB Dataset.csv", "IMDB", csv),
    "20 newsgroups": ("train.jsonl", "20 newsgroups", jsonl),
    "tweet_eval": ("train_text.txt", "tweet_eval", tsv_untitled),
    "SNLI, MNLI": ("snli_1.0_train.jsonl", "SNLI", jsonl),
}
"""Well-known data sets: the file's name, the layout of its columns, and how it is written."""


def file_of(data_set: str) -> tuple[str, bytes, Layout]:
    name, layout_name, write = FILES[data_set]
    layout = LAYOUTS[layout_name]
    frame = pd.DataFrame({title: list(map(str, cells)) for title, cells in layout.columns.items()})
    return name, write(frame).encode(), layout


@pytest.mark.parametrize("data_set", FILES)
@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_published_file_has_the_columns_of_its_layout(data_set: str, codec: str) -> None:
    name, content, layout = file_of(data_set)
    found = read(name, content.decode().encode(codec), max_bytes=10**6)
    wanted = sheet(layout.columns).columns
    assert list(found.columns) == list(wanted)
    for title, cells in wanted.items():
        assert [(cell or "").strip() for cell in found.columns[title]] == [
            (cell or "").strip() for cell in cells
        ]


DOCS = Path(__file__).parents[2] / "docs" / "files.md"


def test_the_page_of_the_docs_says_what_is_read_of_each_file() -> None:
    """Its table names each data set, and the columns that are guessed in its file."""
    section = DOCS.read_text(encoding="utf-8").split("## What you can drop here")[1]
    lines = section.split("\n### ")[0].splitlines()
    rows = [list(map(str.strip, line.strip("|").split("|"))) for line in lines if line[:2] == "| "]
    wanted = []
    for data_set in FILES:
        name, content, _ = file_of(data_set)
        found = read(name, content, max_bytes=10**6)
        pair, marks = guess_columns(found), guess(found).marks
        texts = (pair.text1, pair.text2) if pair.text2 else (found.text_column,)
        labels = (pair.label,) if pair.text2 else label_columns(found)
        word = (marks.word, marks.start, marks.end, marks.span, marks.index)
        wanted.append([data_set, *map(quoted, ((name,), texts, word, labels))])
    assert [row[:5] for row in rows[1:]] == wanted


IDS = [{"id": f"training.en-en.{i}", "tag": TF[i]} for i in range(N)]


@pytest.mark.parametrize(
    ("data_set", "files", "labels"),
    [
        ("WiC", {"train.gold.txt": "\n".join(TF)}, TF),
        ("MCL-WiC", {"training.en-en.gold": json.dumps(IDS[::-1])}, TF),
        (
            "CoarseWSD-20",
            {"train.gold.txt": "\n".join(BITS), "classes_map.txt": '{"0": "river", "1": "money"}'},
            ["money" if bit == "1" else "river" for bit in BITS],
        ),
        (
            "AG News",
            {"classes.txt": "World\nSports\nBusiness\nSci/Tech\n"},
            ["Business", "Sports", "World", "Sci/Tech"],
        ),
        (
            "tweet_eval",
            {"train_labels.txt": "1\n0\n0\n1\n", "mapping.txt": "0\tanger\n1\tjoy"},
            ["joy", "anger", "anger", "joy"],
        ),
    ],
)
def test_the_second_files_of_the_docs_give_the_labels(
    data_set: str, files: Mapping[str, str], labels: Sequence[str]
) -> None:
    name, content, _ = file_of(data_set)
    found = read(name, content, max_bytes=10**6)
    for second, text in files.items():
        found = joined(found, second, text.encode(), max_bytes=10**6, max_held=10**7)
    assert list(labels) in [list(cells) for cells in found.columns.values()]
    chosen = guess(found)
    assert list(labels) in [list(found.columns[title]) for title in chosen.labels]
    if guess_columns(found).text2:
        assert list(found.columns[guess_columns(found).label]) == list(labels)


def quoted(titles: Sequence[str]) -> str:
    return ", ".join(f"`{title}`" for title in titles if title)


@pytest.fixture(scope="module")
def _app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with bundled_app(tmp_path_factory, MAX_UPLOAD_MB="1"):
        yield


OPENED: Mapping[str, Callable[[], AppTest]] = {
    "corpora": lambda: press(settled(framed(DEFAULT, "corpora")), "corpora_add"),
    "map": lambda: settled(framed(COLLECTION.put(DEFAULT, "file"), "map")),
    "pairs": lambda: settled(framed(COLLECTION.put(DEFAULT, "file"), "pairs")),
}


def upload(app: AppTest, page: str, name: str, content: bytes) -> AppTest:
    own = field_of(app.file_uploader, f"{page}_upload")
    app = settled(own.set_value((name, content, "application/octet-stream")).run())
    assert not app.exception
    assert not app.error
    assert not app.warning
    if any(button.key == f"{page}_change_file" for button in app.button):  # it was used at once
        app = settled(press(app, f"{page}_change_file"))
    return app


def menu(app: AppTest, role: str) -> str:
    """Return the column that a menu of the file shows."""
    found = next(w for w in app.selectbox if w.key and w.key.endswith(f"_{role}"))
    return str(found.options[found.value] if isinstance(found.value, int) else found.value)


def menu_of_labels(app: AppTest) -> list[str]:
    return next((w.value for w in app.multiselect if (w.key or "").endswith("_labels")), [])


@pytest.mark.usefixtures("_app")
@pytest.mark.slow
@pytest.mark.parametrize("page", OPENED)
def test_each_page_shows_the_guessed_columns_of_published_files(page: str) -> None:
    app = OPENED[page]()
    for data_set in FILES:
        name, content, layout = file_of(data_set)
        app = upload(app, page, name, content)
        if page == "pairs":
            roles = (
                "text1",
                "text2",
                "label",
                "split",
                *(("index1",) if data_set == "WiC" else ()),
            )
            assert [menu(app, role).replace("—", "") for role in roles] == [
                getattr(layout.pairs, role) for role in roles
            ]
        elif len(layout.columns) > 1:
            assert menu(app, "text") == layout.text
            assert menu_of_labels(app) == list(layout.labels)
        is_text = name.endswith((".txt", ".data")) and not content.startswith(b"[")
        form = "lines" if data_set == "tweet_eval" else "table"
        assert (say(f"files.form.{form}") in plainly_said(app)) == is_text
        cleanable = say("files.leftovers.clean") in [button.label for button in app.button]
        assert cleanable == (data_set == "IMDB")


@pytest.mark.usefixtures("_app")
@pytest.mark.parametrize("page", OPENED)
def test_what_a_file_was_taken_for_can_be_changed_with_a_click(page: str) -> None:
    app = OPENED[page]()
    texts = "text\tlabel\nFish &amp; chips<br />with #39;salt#39;\ta\nNothing more\tb\n"
    app = upload(app, page, "mine.txt", texts.encode())
    app = click(app, "lines")
    assert "TXT, UTF-8 · 3 rows" in plainly_said(app)
    assert say("files.form.lines") in plainly_said(app)
    app = click(app, "table")
    assert "TSV, UTF-8 · 2 rows" in plainly_said(app)
    app = click(app, "clean")
    assert "1 cell was cleaned of what another format had left" in plainly_said(app)
    assert any("Fish & chips with 'salt'" in frame.value.to_numpy() for frame in app.dataframe)
    assert not [b for b in app.button if (b.key or "").startswith(("files_clean", "files_lines"))]


def click(app: AppTest, change: str) -> AppTest:
    own = next(b for b in app.button if (b.key or "").startswith(f"files_{change}_"))
    return settled(own.click().run())


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

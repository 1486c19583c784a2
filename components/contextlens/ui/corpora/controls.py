"""What the text pages share in a view: the collection, its label and word, and a visitor's file."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from contextlens.corpus.bundled import ambiguous_corpus, sample_corpus, sentiment_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.ui.state.controls import TEXTS, choice, number, switch, text

READY_TEXTS: Mapping[str, Callable[[], Corpus]] = {
    "ambiguous": sample_corpus,
    "sentiment": sentiment_corpus,
}
"""The collections that ship with the app and need no indexing; of the first, a part."""
WHOLE_READY_TEXTS: Mapping[str, Callable[[], Corpus]] = {
    **READY_TEXTS,
    "ambiguous": ambiguous_corpus,
}
"""The same with all of their texts, for pages that need the vectors of a word's texts alone."""
SENTENCES, OWN_FILE = "sentences", "file"
NOT_STORED = (*READY_TEXTS, SENTENCES, OWN_FILE)
COLLECTION = choice(TEXTS, "collection", ("", *NOT_STORED))
"""One of `NOT_STORED`, or the name of a stored collection; "" for the page's own example."""
GUESSED, NO_LABEL = "guessed", "none"
LABEL = choice(TEXTS, "label", (GUESSED, NO_LABEL))
"""The title of a column, or its position where the title is too long for an address."""
WORD = text(TEXTS, "word")
"""Empty for the page's default word."""
ALL_WORDS = "*"
"""The value of `WORD` for all words at once."""
EXACT = switch(TEXTS, "exact")
"""Read a collection exactly, even where `maps.precision` would read it fast."""

POINT_LIMITS = (2_000, 1_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
"""Maximum numbers of points on Map; the first is the default."""

# A visitor's file

FILE = text(TEXTS, "file")
"""The digest of its chosen columns."""
FILE_NAME = text(TEXTS, "file_name", default="a file")
TEXT = number(TEXTS, "text", between=(-1, 100_000), default=-1)
"""The position of the column with the texts; -1 for the guessed one."""
LABELS = text(TEXTS, "labels", default=GUESSED)
"""The positions of the label columns, separated by commas, or `GUESSED`."""
VECTORS = text(TEXTS, "vectors")
"""The title of its vectors that pages show, or their position where it is too long; "" for those
of the model."""
PAIRS = text(TEXTS, "pairs")
"""The digest of its pairs of texts, if it has any and they were compared."""
PAIR_COLUMNS = text(TEXTS, "pair_columns", default=GUESSED)
"""The positions of their columns in the order of Pairs, separated by commas, or `GUESSED`."""

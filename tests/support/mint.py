"""A visitor's labelled file: "mint", a word without senses in the ready corpus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from contextlens.corpus.corpus import Corpus
from contextlens.ui.corpora.controls import COLLECTION, FILE, FILE_NAME, OWN_FILE
from contextlens.ui.files import uploads
from contextlens.ui.state.view import ViewState

__all__ = ["COINS", "HERBS", "corpus_of", "labelled", "with_file"]

HERBS = (
    "Chop the mint finely and stir it into the yoghurt.",
    "She drank tea with fresh mint and a slice of lemon.",
    "The lamb was served with peas and a sauce of mint.",
    "Plant the mint in a pot, or it will take over the garden.",
    "Basil, parsley and mint grow on the kitchen windowsill.",
    "Crush some leaves of mint with sugar for the cocktail.",
    "A sprig of mint on the ice cream gives it some colour.",
    "The salad needs more mint and a little olive oil.",
    "Dried mint loses most of its scent after a year.",
    "He rubbed the mint between his fingers and smelled it.",
)
COINS = (
    "The mint struck a million silver coins that year.",
    "Gold from the mines was sent to the mint under guard.",
    "The royal mint issued a new coin for the coronation.",
    "Workers at the mint check the weight of every coin.",
    "The government closed the mint and bought its money abroad.",
    "A mint in Philadelphia produced the first dollars.",
    "The mint stopped making pennies because copper was dear.",
    "Each coin bears a small letter for the mint that made it.",
    "The city had the right to run its own mint and stamp money.",
    "Thieves broke into the mint and stole gold blanks.",
)


def labelled(herb: str = "plant", coin: str = "money", n: int = 10) -> list[tuple[str, str]]:
    """Texts in turns, each with its label."""
    pairs = zip(HERBS[:n], COINS[:n], strict=True)
    return [row for h, c in pairs for row in ((h, herb), (c, coin))]


def corpus_of(rows: Sequence[tuple[str, str]], column: str = "sense") -> Corpus:
    """A file of these texts and labels, as it was read."""
    texts, labels = zip(*rows, strict=True)
    columns: Mapping[str, tuple[str, ...]] = {column: labels}
    return Corpus("mint.csv", texts, labels=columns)


def with_file(view: ViewState, corpus: Corpus) -> ViewState:
    """The view of a visitor who chose this file in the bar of the text pages."""
    digest = corpus.key[:32]
    uploads.keep_shared("a visitor", digest, corpus, corpus.n_bytes)
    view = FILE_NAME.put(FILE.put(view, digest), corpus.name)
    return COLLECTION.put(view, OWN_FILE)

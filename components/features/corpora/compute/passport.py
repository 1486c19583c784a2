"""What is behind a corpus's numbers: what it was indexed with, and its own checksum."""

from __future__ import annotations

from importlib.metadata import version

from components.core.schema import Passport
from components.features.corpora.compute.shown import Shown
from components.features.corpora.compute.words import Words

__all__ = ["caption_of", "passport_of"]

_NO_MODEL = "none: words are counted without one"


def passport_of(shown: Shown) -> Passport:
    """The passport of a corpus that is shown."""
    about = None if shown.kept is None else shown.kept.about
    if about is None:
        digest = "" if shown.corpus is None else shown.corpus.digest
        own = {"corpus": shown.title, "corpus_sha256": digest, "n_texts": shown.n_texts}
        return Passport(_NO_MODEL, "", "", "exact", {"regex": version("regex")}, own)
    indexing = about.indexing
    return Passport(
        indexing.model,
        indexing.revision,
        indexing.checksum,
        indexing.precision,
        {name: version(name) for name in ("regex", "lancedb", "pyarrow")},
        {
            "corpus": about.title,
            "corpus_sha256": about.digest,
            "n_texts": about.n_texts_done,
            "n_occurrences": about.n_occurrences,
            "n_cut": about.n_cut,
            "layers": list(indexing.layers),
            "pooling": indexing.pooling,
            "created": about.created,
        },
    )


def caption_of(shown: Shown) -> str:
    """What stands under a saved picture."""
    words: Words = shown.words
    passport = passport_of(shown)
    parts = [
        shown.title,
        f"{shown.n_texts:,} texts",
        f"{words.n:,} words",
        *(f"{name} {own}" for name, own in passport.versions.items()),
    ]
    return " · ".join(parts)

"""What is behind the numbers: the model that gave the vectors, and the corpus."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version

from components.core import EncoderService
from components.core.byte_cache import remembered
from components.core.schema import Passport
from components.corpus.searchable import SearchableCorpus
from components.corpus.store.stored_corpus import StoredCorpus
from components.features.senses.compute.senses import Senses

__all__ = ["passport_of"]


def passport_of(senses: Senses, corpus: SearchableCorpus, service: EncoderService) -> Passport:
    """The passport of a word's occurrences: of a stored corpus what it was indexed with.

    Raises:
        ContextlensError: a live corpus's model cannot be used.
    """
    found = senses.found
    if isinstance(corpus, StoredCorpus):
        own = _stored(corpus)
    else:
        text, layer = found.texts[0], corpus.layers[0]
        own = remembered(
            "senses: passport",
            found.key,
            compute=lambda: service.encode(corpus.model, [text], layers=[layer])[0].passport,
        )
    settings = {
        "pooling": "mean",
        "corpus": found.corpus,
        "word": found.word,
        "n_occurrences": found.n,
        "n_total": found.occurrences.n_total,
        "senses": found.column,
        "layer": senses.layer,
        "groups": senses.grouping.method,
    }
    versions = {**own.versions, "scikit-learn": version("scikit-learn")}
    return replace(own, settings=settings, versions=versions)


def _stored(corpus: StoredCorpus) -> Passport:
    indexing = corpus.about.indexing
    versions = {name: version(name) for name in ("lancedb", "pyarrow")}
    return Passport(
        indexing.model, indexing.revision, indexing.checksum, indexing.precision, versions
    )

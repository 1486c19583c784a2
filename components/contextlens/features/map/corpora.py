"""The texts that can be mapped: the view's sentences, the bundled corpus, files, stored corpora."""

from __future__ import annotations

from contextlens.corpus.bundled import ambiguous_corpus
from contextlens.corpus.corpus import Corpus
from contextlens.features.map.controls import FILE, KEPT, SOURCE
from contextlens.ui.corpora.texts import own_sentences, stored_texts
from contextlens.ui.files import uploads
from contextlens.ui.state.view import ViewState


def corpus_of(view: ViewState) -> Corpus | None:
    """The texts that a view names; None if a file or a corpus must be chosen first.

    Raises:
        CorpusError: the texts cannot be used.
    """
    source = SOURCE.of(view)
    if source == "sentences":
        return own_sentences(view.sentences)
    if source == "kept":
        name = KEPT.asked(view)
        return stored_texts(name) if name else None
    if source != "file":
        return ambiguous_corpus()
    upload = uploads.shared(FILE.of(view))
    return upload if isinstance(upload, Corpus) else None

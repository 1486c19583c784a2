"""Failures of a stored corpus's tables, in one sentence each.

LanceDB's errors have no types of their own: only their messages say what happened.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from contextlens.core.errors import ContextlensError, CorpusError
from contextlens.corpus.table import named

__all__ = ["AWAY", "reading", "sentence_for", "writing"]

_PANIC = "PanicException"  # of Rust: no importable module has it
AWAY = (
    "The storage of corpora does not answer just now. What was stored there stays: try again in a "
    "minute."
)
_SENTENCES: tuple[tuple[str, str], ...] = (
    (
        r"no space left|file too large|disk quota|storage ?full|not enough space|"
        r"os error (27|28|112|122)\b|<Code>(XMinioStorageFull|QuotaExceeded)",
        "The disk that corpora are stored on is full. What was stored stays and can be used; make "
        "room, for instance by deleting a corpus, and go on.",
    ),
    (
        r"NoSuchBucket|specified (bucket|container) does not exist",
        "The bucket that CONTEXTLENS_CORPORA_URI names does not exist. Whoever runs this server "
        "must make it, or name another.",
    ),
    (
        r"AWS credentials|CredentialsNotLoaded|Unauthenticated|status: 40[13]\b|\b40[13] (Forbidden"
        r"|Unauthorized)|AccessDenied|InvalidAccessKey|SignatureDoesNotMatch|ExpiredToken",
        "The storage of corpora refuses the credentials of this server. Whoever runs it must look "
        "at them (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role) and start it again.",
    ),
    (
        r"BadScheme",
        "The storage of corpora is at an address with http://, which is not encrypted. Whoever "
        "runs this server must name one with https://, or set AWS_ALLOW_HTTP=true.",
    ),
    (
        r"HttpError|error sending request|connection (refused|reset)|timed out|TimedOut|dns error|"
        r"status: (429|5\d\d)\b|HTTP status server error",
        AWAY,
    ),
)
"""The sentence for each pattern in an error's message; the first match counts."""

_log = logging.getLogger("contextlens")


@contextmanager
def reading(title: str) -> Iterator[None]:
    """Run a block that reads a corpus's tables, and turn its failures into sentences.

    Raises:
        CorpusError: a file of it is damaged or missing, or object storage is away.
    """
    with _translated(
        f"{named(title)} cannot be read: a file of this corpus is damaged or missing. Delete it "
        "here, and index its file again."
    ):
        yield


@contextmanager
def writing(title: str) -> Iterator[None]:
    """Run a block that writes a corpus's tables, and turn its failures into sentences.

    Raises:
        CorpusError: the disk is full, or another error prevents writing.
    """
    with _translated(
        f"{named(title)} cannot be stored: its folder cannot be written. Look at the server's log "
        "for the reason, and try again."
    ):
        yield


@contextmanager
def _translated(sentence: str) -> Iterator[None]:
    try:
        yield
    except ContextlensError:
        raise
    except BaseException as exc:
        if not isinstance(exc, Exception) and type(exc).__name__ != _PANIC:
            raise
        _log.warning("A stored corpus: %s", exc)
        raise CorpusError(sentence_for(exc) or sentence) from exc


def sentence_for(error: BaseException) -> str | None:
    """Return the sentence for an error that is not the corpus's fault; None if it may be."""
    matches = (
        sentence for signs, sentence in _SENTENCES if re.search(signs, str(error), re.IGNORECASE)
    )
    return next(matches, None)

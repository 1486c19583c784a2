"""Two revisions of a model behind one address: their results never meet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextlens.core.cache import ByteCache, CachedService
from contextlens.core.errors import RevisionError
from tests.support.revisions import MODEL, TwoRevisions, two_revisions

TEXTS = [f"The python slept {i} hours" for i in range(8)]


@pytest.fixture
def two(tmp_path: Path) -> Iterator[TwoRevisions]:
    with two_revisions(tmp_path) as own:
        yield own


@pytest.fixture
def cached(two: TwoRevisions) -> CachedService:
    return CachedService(two.remote, ByteCache(10**8))


def revision(two: TwoRevisions, method: str, text: str, found: Any) -> int:
    """Index of the service that gives this answer."""
    answers = [getattr(service, method)(MODEL, *argument(method, text)) for service in two.services]
    same = [np.allclose(numbers(found), numbers(own), atol=1e-5) for own in answers]
    assert sum(same) == 1
    return same.index(True)


def argument(method: str, text: str) -> tuple[Any, ...]:
    return ([text],) if method == "encode" else (text,)


def numbers(answer: Any) -> Any:
    return answer[0].hidden if isinstance(answer, list) else answer.output


@pytest.mark.parametrize("method", ["encode", "embedding_parts"])
def test_the_cache_holds_one_revision_only(
    two: TwoRevisions, cached: CachedService, method: str
) -> None:
    cached.load(MODEL)
    two.alternate(method)
    n_refused = 0
    for text in TEXTS:
        try:
            found = getattr(cached, method)(MODEL, *argument(method, text))
        except RevisionError as exc:
            assert "another revision" in str(exc)  # noqa: PT017
            assert "give all servers the same revision" in str(exc)  # noqa: PT017
            n_refused += 1
        else:
            assert revision(two, method, text, found) == 0
    assert n_refused == len(TEXTS) // 2


def test_one_call_that_is_asked_for_in_parts_has_one_revision(two: TwoRevisions) -> None:
    two.alternate("encode")
    with pytest.raises(RevisionError):
        two.remote.encode(MODEL, TEXTS * 40)


def test_a_model_that_is_replaced_is_told_once_and_then_used(
    two: TwoRevisions, cached: CachedService
) -> None:
    cached.encode(MODEL, TEXTS[:1])
    two.replace()
    with pytest.raises(RevisionError, match="Try again"):
        cached.encode(MODEL, TEXTS[1:2])
    for text in TEXTS[:2]:
        assert revision(two, "encode", text, cached.encode(MODEL, [text])) == 1


def test_a_service_refuses_a_call_that_expects_another_revision(two: TwoRevisions) -> None:
    first, second = (service.load(MODEL).checksum for service in two.services)
    local = two.services[1]
    questions: list[tuple[str, tuple[Any, ...]]] = [
        ("encode", (TEXTS,)),
        ("embedding_parts", (TEXTS[0],)),
        ("word_rows", ([5],)),
        ("nearest_rows", (np.ones(32, np.float32), 3)),
        ("parameters", ()),
        ("architecture", ()),
        ("matrix", ("embeddings.LayerNorm.bias",)),
    ]
    for method, given in questions:
        getattr(local, method)(MODEL, *given, checksum=second)
        with pytest.raises(RevisionError):
            getattr(local, method)(MODEL, *given, checksum=first)
    tokenizer = local.load_tokenizer(MODEL).checksum
    for method, given in [("tokenize", (TEXTS,)), ("vocabulary", ()), ("decode", ([5],))]:
        getattr(local, method)(MODEL, *given, checksum=tokenizer)
        with pytest.raises(RevisionError):
            getattr(local, method)(MODEL, *given, checksum=second)

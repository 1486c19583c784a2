"""A caching layer in front of a service: bounded in bytes, computes each result once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.core import meters
from components.core.byte_cache import ByteCache, CacheInfo
from components.core.calls import CARDS, Call, check_checksum
from components.core.errors import RevisionError
from components.core.protocol import EncoderService

__all__ = ["ByteCache", "CacheInfo", "CachedService"]

_LARGEST, _LARGEST_WHOLE = 8, 4
"""The fraction of the cache that one text's result may take, and that a whole call's may.

All attention heads of a long text would otherwise evict everything else.
"""


class CachedService(EncoderService):
    """An `EncoderService` that caches another one's answers. Callers see no difference."""

    def __init__(self, inner: EncoderService, cache: ByteCache) -> None:
        self._inner, self._cache = inner, cache
        self._cached = {"always", "far"} if inner._is_far else {"always"}
        self._checksums: dict[tuple[str, str], str] = {}

    @property
    def uncached(self) -> EncoderService:
        """The wrapped service, for work that reads each text once and would flush the cache."""
        return self._inner

    def cache_info(self) -> CacheInfo:
        """The cache's counters so far."""
        return self._cache.info()

    def _answer(self, call: Call) -> Any:
        if call.method.quick:  # a page asks these twenty times a run
            return self._inner._answer(call)
        return meters.measured(call.method.name, self._remembered, call)

    def _remembered(self, call: Call) -> Any:
        of = call.method.of
        if call.method.name == CARDS[of]:
            card = self._inner._answer(call)
            self._checksums[of, call.model] = card.checksum
            return card
        call = call.repeatable()
        checksum = call.checksum or self._checksum(call)
        try:
            if call.method.cached not in self._cached:
                return self._ask(call, checksum)
            return self._results(call, checksum)
        except RevisionError:
            self._checksums.pop((of, call.model), None)
            raise

    def _results(self, call: Call, checksum: str | None) -> Any:
        """The answer from the cache, with one entry for each text where possible."""
        columns = call.columns()

        def compute(missing: list[int]) -> Sequence[Any]:
            if columns is None:
                return [self._ask(call, checksum)]
            missing_part = call if len(missing) == len(keys) else call.at(missing)
            answers: Sequence[Any] = self._ask(missing_part, checksum)
            return answers

        keys = call.keys(checksum, columns)
        part = _LARGEST_WHOLE if columns is None else _LARGEST
        results = self._cache.get_many(keys, compute, patient=call.method.reports, part=part)
        if columns is not None:
            return results
        return (
            list(results[0]) if isinstance(results[0], list) else results[0]
        )  # a copy for the caller

    def _ask(self, call: Call, checksum: str | None) -> Any:
        """The answer of the wrapped service, checked to be for the expected weights."""
        answer = self._inner._answer(call.having(checksum=checksum))
        for one in answer if isinstance(answer, list) else [answer]:
            if (passport := getattr(one, "passport", None)) is not None:
                check_checksum(call.model, passport.checksum, checksum)
        return answer

    def _checksum(self, call: Call) -> str | None:
        """The checksum of the files that the answer depends on."""
        method, model = call.method, call.model
        if method.name == "architecture" and not self.spec(model).loaded:
            return None  # a preset's architecture is known without its weights
        known = self._checksums.get((method.of, model))
        return known or getattr(self, CARDS[method.of])(model).checksum

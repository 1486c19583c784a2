"""A caching layer in front of a service: bounded in bytes, computes each result once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from contextlens.core import meters
from contextlens.core.byte_cache import ByteCache, CacheInfo
from contextlens.core.calls import CARDS, Call, check_checksum
from contextlens.core.errors import RevisionError
from contextlens.core.protocol import EncoderService

__all__ = ["ByteCache", "CacheInfo", "CachedService"]

_LARGEST, _LARGEST_WHOLE = 8, 4
"""One text's result may take 1/8 of the cache, a whole call's 1/4.

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
        """The wrapped service: work that reads each text once would flush the cache."""
        return self._inner

    def cache_info(self) -> CacheInfo:
        """The cache's counters so far."""
        return self._cache.info()

    def _answer(self, call: Call) -> Any:
        if call.method.quick:  # a page asks these twenty times a run
            return self._inner._answer(call)
        with meters.measured(call.method.name):
            of = call.method.of
            if call.method.name == CARDS[of]:
                card = self._inner._answer(call)
                self._checksums[of, call.model] = card.checksum
                return card
            call = call.repeatable()
            checksum = call.checksum or self._checksum(call)
            columns = call.columns() if call.method.cached in self._cached else None
            compute = partial(self._ask, call, checksum, columns)
            try:
                if call.method.cached not in self._cached:
                    return compute([])[0]
                keys = call.keys(checksum, columns)
                part = _LARGEST_WHOLE if columns is None else _LARGEST
                patient = call.method.reports
                results = self._cache.get_many(keys, compute, patient=patient, part=part)
            except RevisionError:
                self._checksums.pop((of, call.model), None)
                raise
        if columns is not None:
            return results
        whole = results[0]
        return list(whole) if isinstance(whole, list) else whole  # a copy for the caller

    def _ask(
        self,
        call: Call,
        checksum: str | None,
        columns: dict[str, Sequence[Any]] | None,
        missing: list[int],
    ) -> Sequence[Any]:
        """The wrapped service's answer for each missing text, or its one answer in a list.

        Each answer's checksum is compared with the expected one.
        """
        is_whole = columns is None or len(missing) == len(columns["texts"])
        request = call if is_whole else call.at(missing)
        answer = self._inner._answer(request.having(checksum=checksum))
        for one in answer if isinstance(answer, list) else [answer]:
            if (passport := getattr(one, "passport", None)) is not None:
                check_checksum(call.model, passport.checksum, checksum)
        return [answer] if columns is None else answer

    def _checksum(self, call: Call) -> str | None:
        """The checksum of the files that the answer depends on."""
        method, model = call.method, call.model
        if method.name == "architecture" and not self.spec(model).loaded:
            return None  # a preset's architecture is known without its weights
        known = self._checksums.get((method.of, model))
        return known or getattr(self, CARDS[method.of])(model).checksum

"""The service whose models are on other machines: the same contract, over HTTP.

What the app asks at every run of a page (which models there are, whether one is loaded, its card)
is believed for some seconds. Everything else is remembered by the `CachedService` in front.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from components.core import registry
from components.core.calls import CARDS, Call
from components.core.errors import RevisionError, ServiceAwayError
from components.core.protocol import EncoderService
from components.core.remote.connection import Connection
from components.core.remote.sizes import parts_of
from components.core.schema import ModelSpec

__all__ = ["RemoteService"]

_N_BELIEVED = 512


class RemoteService(EncoderService):
    """Models behind an address. Thread-safe.

    Args:
        url: of the service.
        token: that it wants, if any.
        offered_only: ask only for what the service offers or an admin let in: others can reach
            this process.
    """

    _is_far = True

    def __init__(self, url: str, *, token: str | None = None, offered_only: bool = False) -> None:
        self._offered_only = offered_only
        self._connection = Connection(url, token)
        self._believed: dict[Hashable, tuple[float, Any]] = {}
        self._lock = threading.Lock()

    @property
    def away(self) -> str | None:
        """What to say as long as the service does not answer, or None."""
        return self._connection.away

    def close(self) -> None:
        """Let go of all connections."""
        self._connection.close()

    def _answer(self, call: Call) -> Any:
        method = call.method
        if self._offered_only and method.name not in {"models", "spec"}:
            registry.check_offered(call.model, self.models())
        if method.believed_seconds:
            return self._recent(call)
        call = call.repeatable()
        if call.checksum is None and method.name != "architecture":  # a preset's needs no card
            call = call.having(checksum=self._card(call).checksum)
        try:
            return self._in_parts(call)
        except RevisionError:
            self._believed.pop((CARDS[method.of], call.model), None)
            raise

    def _in_parts(self, call: Call) -> Any:
        """The answer, asked for in parts where the whole would be too large."""
        name, columns = call.method.name, call.columns()
        if name == "word_rows":
            ids = np.asarray(call.arguments["token_ids"]).reshape(-1)
            slices = parts_of(name, {"token_ids": ids}, self._card(call))
            rows = np.concatenate([self._request(call.having(token_ids=ids[s])) for s in slices])
            rows.flags.writeable = False
            return rows
        if columns is None:
            return self._request(call)
        n, answers = len(columns["texts"]), list[Any]()
        try:
            parts = list(parts_of(name, call.arguments, self._card(call)))
        except TypeError:  # a layer that is no number, say: the service says so best
            return self._request(call)
        for part in parts:
            answers += self._request(call.at(range(n)[part]), n_before=len(answers), n=n)
        return answers

    def _request(self, call: Call, *, n_before: int = 0, n: int | None = None) -> Any:
        """The service's answer; a part's progress is reported as that of all n texts."""
        arguments = dict(call.arguments)
        progress = arguments.pop("progress", None)

        def report(event: Any) -> None:
            if isinstance(event, tuple):
                progress(n_before + event[0], n or event[1])
            else:
                progress(event)

        return self._connection.request(
            call.method.name, arguments, on_progress=None if progress is None else report
        )

    def _recent(self, call: Call) -> Any:
        """The answer of some seconds ago, or a new one.

        While the service is away the last answer holds, however old it is.
        """
        name, model = key = call.method.name, call.arguments.get("model")
        if name == "load" and self._last(key) is not None and not self.spec(str(model)).loaded:
            self._believed.pop(key, None)
        then, answer = self._believed.get(key, (0.0, None))
        if answer is None or time.monotonic() >= then + call.method.believed_seconds:
            try:
                answer = self._request(call)
            except ServiceAwayError:
                if answer is None:
                    raise
            else:
                self._believe(key, answer)
                if name == "load":
                    self._believe(
                        ("spec", model), self._connection.request("spec", {"model": model})
                    )
        return tuple(map(self._as_last_seen, answer)) if name == "models" else answer

    def _as_last_seen(self, spec: ModelSpec) -> ModelSpec:
        """Of what is loaded, the machine that was asked for a model knows best."""
        own: ModelSpec | None = self._last(("spec", spec.id))
        return spec if own is None else replace(spec, loaded=own.loaded)

    def _card(self, call: Call) -> Any:
        """The card of the files that the answer depends on, as it was last."""
        method = CARDS[call.method.of]
        return self._last((method, call.model)) or getattr(self, method)(call.model)

    def _last(self, key: Hashable) -> Any | None:
        """The last answer, however old, or None."""
        return self._believed.get(key, (0.0, None))[1]

    def _believe(self, key: Hashable, answer: Any) -> None:
        with self._lock:
            self._believed.pop(key, None)  # the latest stands last
            self._believed[key] = (time.monotonic(), answer)
            if len(self._believed) > _N_BELIEVED:
                del self._believed[next(iter(self._believed))]

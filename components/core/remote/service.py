"""The service whose models are on other machines: the same contract, over HTTP.

What the app asks at every run of a page (which models there are, whether one is loaded, its card)
is believed for some seconds. Everything else is remembered by the `CachedService` in front.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from components.core import registry
from components.core.calls import CARDS, Call
from components.core.errors import RevisionError, ServiceAwayError
from components.core.protocol import EncoderService
from components.core.remote.connection import Connection
from components.core.remote.sizes import parts_of
from components.core.schema import Counted, FloatArray, ModelSpec

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
        self._believed = _Believed()

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
            self._believed.forget((CARDS[method.of], call.model))
            raise

    def _in_parts(self, call: Call) -> Any:
        """The answer, asked for in parts where the whole would be too large."""
        name, columns = call.method.name, call.columns()
        if name == "word_rows":
            ids = np.asarray(call.arguments["token_ids"]).reshape(-1)
            slices = parts_of(name, {"token_ids": ids}, self._card(call))
            rows = [self._ask(call.having(token_ids=ids[part])) for part in slices]
            return rows[0] if len(rows) == 1 else _joined(rows)
        if columns is None:
            return self._ask(call)
        found: list[Any] = []
        n = len(columns["texts"])
        try:
            parts = list(parts_of(name, call.arguments, self._card(call)))
        except TypeError:  # a layer that is no number, say: the service says so best
            return self._ask(call)
        for part in parts:
            some = call.at(range(n)[part])
            progress = call.arguments.get("progress")
            if progress is not None:
                some = some.having(progress=_beyond(len(found), n, progress))
            found += self._ask(some)
        return found

    def _ask(self, call: Call) -> Any:
        arguments = dict(call.arguments)
        told = _telling(arguments.pop("progress", None))
        return self._connection.ask(call.method.name, arguments, told=told, quick=call.method.quick)

    def _recent(self, call: Call) -> Any:
        """The answer of some seconds ago, or a new one."""
        name, model = key = call.method.name, call.arguments.get("model")
        is_known = self._believed.last(key) is not None
        if name == "load" and is_known and not self.spec(str(model)).loaded:
            self._believed.forget(key)
        found = self._believed.get(
            key,
            lambda: self._load(call) if name == "load" else self._ask(call),
            seconds=call.method.believed_seconds,
        )
        return tuple(map(self._as_last_seen, found)) if name == "models" else found

    def _load(self, call: Call) -> Any:
        card = self._ask(call)
        spec = self._connection.ask("spec", {"model": call.model}, quick=True)
        self._believed.keep(("spec", call.model), spec)
        return card

    def _as_last_seen(self, spec: ModelSpec) -> ModelSpec:
        """Of what is loaded, the machine that was asked for a model knows best."""
        own: ModelSpec | None = self._believed.last(("spec", spec.id))
        is_loaded = spec.loaded if own is None else own.loaded
        return spec if is_loaded == spec.loaded else replace(spec, loaded=is_loaded)

    def _card(self, call: Call) -> Any:
        """The card of the files that the answer depends on, as it was last."""
        method = CARDS[call.method.of]
        return self._believed.last((method, call.model)) or getattr(self, method)(call.model)


class _Believed:
    """The last answer to each question, asked again after some seconds. Thread-safe.

    While the service is away the last answer holds, however old it is.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, ask: Callable[[], Any], *, seconds: float) -> Any:
        """The answer to a question.

        Raises:
            ServiceAwayError: the service is away, and never answered this.
        """
        with self._lock:
            found = self._answers.get(key)
        if found is not None and time.monotonic() < found[0] + seconds:
            return found[1]
        try:
            answer = ask()
        except ServiceAwayError:
            if found is None:
                raise
            return found[1]
        self.keep(key, answer)
        return answer

    def keep(self, key: Hashable, answer: Any) -> None:
        """Believe an answer from now on."""
        with self._lock:
            self._answers[key] = (time.monotonic(), answer)
            self._answers.move_to_end(key)
            while len(self._answers) > _N_BELIEVED:
                self._answers.popitem(last=False)

    def forget(self, key: Hashable) -> None:
        """Ask anew next time, and have nothing to fall back on."""
        with self._lock:
            self._answers.pop(key, None)

    def last(self, key: Hashable) -> Any | None:
        """The last answer, however old, or None."""
        with self._lock:
            return self._answers.get(key, (0.0, None))[1]


def _joined(rows: list[FloatArray]) -> FloatArray:
    found = np.concatenate(rows)
    found.flags.writeable = False
    return found


def _beyond(n_before: int, n: int, progress: Counted) -> Counted:
    """What tells of a part's progress as of that of the whole."""
    return lambda n_done, _: progress(n_before + n_done, n)


def _telling(progress: Callable[..., None] | None) -> Callable[[Any], None] | None:
    """The same for what comes in one piece: an event, or a pair of numbers."""
    if progress is None:
        return None
    return lambda event: progress(*event) if isinstance(event, tuple) else progress(event)
